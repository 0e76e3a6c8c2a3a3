"""A pytest fixture; ``pytest_plugins = ["django_sortable_ids.pytest_plugin"]`` in the root
``conftest.py`` makes it known.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from . import testing


@pytest.fixture
def deterministic_ids() -> Iterator[testing.IDClock]:
    """New ids are of 2026-01-01T00:00:00Z, with the same random parts in every run.

    Gives the clock, which can be set; see ``testing.deterministic_ids``.
    """
    with testing.deterministic_ids(datetime(2026, 1, 1, tzinfo=UTC)) as clock:
        yield clock
