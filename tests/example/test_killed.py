"""Killed at any moment and run again, the demo finishes."""

import re
from subprocess import TimeoutExpired

import pytest

from . import data
from .support import Demo, assert_finished

STEPS = [
    "migrate flights 0001",
    "weather:",
    "flights:",
    "migrate flights 0002",
    "backfill_ids flights.Flight.public_id --created-from",
    "backfill_ids flights.Flight.public_id --verify",
    "backfill_ids flights.Weather.public_id --created-from",
    "migrate flights$",
    "What changed",
]


@pytest.mark.parametrize("step", STEPS)
def test_finishes_after_a_kill_at_each_step(demo: Demo, step: str) -> None:
    with demo.start() as process:
        assert process.stdout is not None
        assert any(re.search(step, line) for line in process.stdout)
        process.kill()
    demo.run()
    assert_finished(demo, data.FLIGHTS, data.WEATHER)


@pytest.mark.parametrize("app", ["auth", "admin", "sessions", "flights"])
def test_finishes_after_a_kill_before_a_migration_is_recorded(demo: Demo, app: str) -> None:
    demo.kill_before_record(app)
    demo.run()
    assert_finished(demo, data.FLIGHTS, data.WEATHER)


def test_finishes_after_kills_at_arbitrary_moments(demo: Demo) -> None:
    """Each run gets a little more time than the one before it, until one comes to its end."""
    for number in range(100):
        with demo.start() as process:
            try:
                output, _ = process.communicate(timeout=0.1 * 1.1**number)
            except TimeoutExpired:
                process.kill()
            else:
                break
    assert process.returncode == 0, output
    assert_finished(demo, data.FLIGHTS, data.WEATHER)
