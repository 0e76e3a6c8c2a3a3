"""Killed at any moment and run again, the demo finishes."""

import re

import pytest

from . import data
from .support import Demo, assert_finished, ended

pytestmark = pytest.mark.long

STEPS = [
    "flights:",
    "migrate flights 0002",
    "backfill_ids flights.Flight.public_id --created-from",
    "backfill_ids flights.Flight.public_id --verify",
    "backfill_ids flights.Weather.public_id --created-from",
    "migrate flights$",
]

LAST_MIGRATION = "SELECT 1 FROM django_migrations WHERE name = '0003_public_id_unique'"


def test_finishes_after_a_kill_at_each_step(demo: Demo) -> None:
    """Each run goes on where the one before it was killed, and comes to the next step."""
    for step in STEPS:
        with ended(demo.start()) as process:
            assert process.stdout is not None
            is_reached = any(re.search(step, line) for line in process.stdout)
            process.kill()
        # Beside a load, the one before it may have come to the end before it was killed.
        assert is_reached or demo.query(LAST_MIGRATION), step
    demo.run()
    assert_finished(demo, data.FLIGHTS, data.WEATHER)
