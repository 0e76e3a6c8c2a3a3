"""Marks that several modules use."""

import pytest

# For tests that make tables of their own and drop them. Only those of our app are emptied behind
# each, because emptying the many of the test app takes seconds on PostgreSQL.
own_tables = pytest.mark.django_db(transaction=True, available_apps=["django_sortable_ids"])
