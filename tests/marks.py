"""Marks that several modules use."""

import os

import pytest
from django.db import connection

# For tests that make tables of their own and drop them. Only those of our app are emptied after
# each, because emptying the many of the test app takes seconds on PostgreSQL.
own_tables = pytest.mark.django_db(transaction=True, available_apps=["django_sortable_ids"])

uniform = pytest.mark.skipif(
    os.environ.get("RANDOM_SOURCE") in ("low", "high"), reason="draws that are not uniform"
)


def skip_where_uuids_are_refused(definition: str) -> None:
    """MariaDB's ``uuid`` refuses about half of all ULIDs, as the check E005 says."""
    is_mariadb = connection.vendor == "mysql" and connection.mysql_is_mariadb
    if is_mariadb and 'storage="uuid"' in definition:
        pytest.skip("MariaDB's uuid refuses half of these ids")
