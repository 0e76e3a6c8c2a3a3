"""How long tests wait for what happens at once, on the slowest machine too."""

import time
from collections.abc import Callable

from django_sortable_ids.backfill import pace

LOG_SECONDS = pace.LOG_SECONDS
"""Between two lines of a backfill, where no test runs."""
# One that takes ten seconds, on a slow machine, prints no more than on a fast one.
pace.LOG_SECONDS = 86_400
PATIENCE = 180
"""Seconds after which it is given up: nothing waits so long but what hangs."""


def wait_until(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, f"not within {PATIENCE} s: {what}"
        time.sleep(0.01)
