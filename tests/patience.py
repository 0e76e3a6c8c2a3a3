"""How long tests wait for what happens at once, on the slowest machine too."""

import time
from collections.abc import Callable

PATIENCE = 180
"""Seconds after which it is given up: nothing waits so long but what hangs."""


def wait_until(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, f"not within {PATIENCE} s: {what}"
        time.sleep(0.01)
