"""All random sources with fixed seeds: no test draws, and runs ask whether one needs luck.

``RANDOM_SOURCE=3`` seeds them with 3 instead of 1. With ``low`` and ``high``, the first half of the
bits of most draws is zero or one; each eighth draw is any number, since some loops wait for a
smaller one. Tests of uniform draws are left out.
"""

import os
import random

_HALVES = {"low": b"\x00", "high": b"\xff"}
_FEWEST_BYTES = 4
"""Ids of one tick with fewer random bytes would repeat."""


class Source:
    """Replaces ``os.urandom``, which ``secrets`` and ``uuid4`` draw from, and seeds ``random``."""

    def __init__(self, name):
        self._name = name
        self.start("")

    def start(self, test):
        """The draws of one test are the same in every order of the tests."""
        self._pid, self._draws = os.getpid(), 0
        self._random = random.Random(f"{self._name} {test}")
        random.seed(f"{self._name} {test}")

    def __call__(self, size):
        if os.getpid() != self._pid:
            self.start(os.getpid())  # else two processes would draw the same
        self._draws += 1
        data = self._random.randbytes(size)
        if self._name not in _HALVES or size < _FEWEST_BYTES or self._draws % 8 == 0:
            return data
        half = (size + 1) // 2
        return _HALVES[self._name] * half + data[half:]

    def install(self):
        os.urandom = random._urandom = self
