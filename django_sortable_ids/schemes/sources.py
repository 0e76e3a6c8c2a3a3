"""Where ids get their time and chance from."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from .clock import is_travelling, now_ns


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a generator takes time and chance from."""

    clock: Callable[[], int] = now_ns
    """Unix time in ns."""
    below: Callable[[int], int] | None = None
    """``below(n)`` is in ``range(n)``. None: ``Randomness``, each generator with its own."""
    sleep: Callable[[float], None] = time.sleep
    travels: Callable[[], bool] = is_travelling
    """Whether the clock is one of a test."""
