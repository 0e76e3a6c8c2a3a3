"""Killed again and again while others write; ``python -m tests.crashes`` does it 100 times."""

import pytest

from tests.crashes.crash import crash


@pytest.mark.crashes
@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("name", ["uuid7", "ulid", "snowflake"])
def test_killed_under_live_writers(name):
    found = crash(name, f"test {name}")
    assert found.problems == []
    assert found.kills > 0
