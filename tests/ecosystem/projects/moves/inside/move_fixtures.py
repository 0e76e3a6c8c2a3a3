"""Numbers in the tests of a project stand for ids, and its URLs accept ids.

Numbers in its migrations stay numbers: they are keys of the tables as they were.
"""

from collections.abc import Iterator

import pytest
from key_urls import accept_keys_in_urls

from django_sortable_ids.testing import integer_fixtures

# Before Django is set up, because apps import their URLs.
accept_keys_in_urls()


@pytest.fixture(scope="session", autouse=True)
def numbers(django_db_setup: None) -> Iterator[None]:
    with integer_fixtures():
        yield
