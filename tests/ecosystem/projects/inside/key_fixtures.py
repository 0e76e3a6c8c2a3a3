"""Numbers in the fixtures and tests of a project stand for ids."""

from collections.abc import Iterator

import pytest

from django_sortable_ids.testing import integer_fixtures


@pytest.fixture(scope="session", autouse=True)
def numbers() -> Iterator[None]:
    with integer_fixtures():
        yield
