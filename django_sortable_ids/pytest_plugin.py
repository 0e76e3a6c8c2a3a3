"""A pytest fixture. To use it, add ``pytest_plugins = ["django_sortable_ids.pytest_plugin"]`` to
the root ``conftest.py``.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from . import testing


@pytest.fixture
def deterministic_ids() -> Iterator[testing.IDClock]:
    """New ids carry 2026-01-01T00:00:00Z and have the same random bits in every run.

    Yields the clock, which can be set; see ``testing.deterministic_ids``.
    """
    with testing.deterministic_ids(datetime(2026, 1, 1, tzinfo=UTC)) as clock:
        yield clock


@pytest.fixture(scope="module")
def integer_fixtures() -> Iterator[None]:
    """Numbers stand for ids until the end of the module; see ``testing.integer_fixtures``.

    It begins before the ``fixtures`` of a ``TestCase`` are loaded.
    """
    with testing.integer_fixtures():
        yield
