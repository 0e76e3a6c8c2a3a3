"""All random sources with fixed seeds: no test draws, and runs ask whether one needs luck.

``RANDOM_SOURCE=3`` seeds them with 3 instead of 1. With ``low`` and ``high``, the first byte
of the numbers of most draws is 0 or 255; each eighth draw is any number, since some loops wait for
a smaller one. Tests of uniform draws are left out.

The processes that a test starts have seeds that are drawn here, so they are the same in each run of
the test, and differ from one another.
"""

import os
import random
import subprocess
from pathlib import Path

SEED = "RANDOM_SEED"
"""The variable by which ``seeded/sitecustomize.py`` finds the seed of a process."""
_SEEDED = str(Path(__file__).with_name("seeded"))
_FIXED = {"low": b"\x00", "high": b"\xff"}
_WORD = 8
"""Bytes of each number, if a draw is for several."""
_FEWEST_BYTES = 4
"""Ids of one tick with fewer random bytes would repeat."""


class Source:
    """Replaces ``os.urandom``, which ``secrets`` and ``uuid4`` draw from, and seeds ``random``."""

    def __init__(self, name):
        self._name = name
        self.start("")

    def start(self, test):
        """The draws of one test are the same in every order of the tests."""
        self._draws = 0
        self._random = random.Random(f"{self._name} {test}")
        random.seed(f"{self._name} {test}")

    def __call__(self, size):
        self._draws += 1
        data = self._random.randbytes(size)
        if self._name not in _FIXED or size < _FEWEST_BYTES or self._draws % 8 == 0:
            return data
        fixed = _FIXED[self._name]
        if size % _WORD or size == _WORD:
            return fixed + data[1:]
        # Numbers of machine words: their first byte may have the highest bits or the lowest ones.
        words = [data[start : start + _WORD] for start in range(0, size, _WORD)]
        if self._draws % 2:
            return b"".join(word[:-1] + fixed for word in words)
        return b"".join(fixed + word[1:] for word in words)

    def seed(self):
        """One for another process."""
        return self._random.randbytes(8).hex()

    def install(self):
        """In this process, in those that it forks, and in those that it starts."""
        os.urandom = random._urandom = self
        seeds = []
        os.register_at_fork(
            before=lambda: seeds.append(self.seed()),
            after_in_parent=seeds.clear,
            after_in_child=lambda: self.start(seeds.pop()),
        )
        popen = subprocess.Popen.__init__

        def start(process, *args, env=None, **options):
            if os.urandom is self:  # or the source of a test, in a process that a test has started
                env = dict(os.environ if env is None else env)
                path = os.pathsep.join(filter(None, [_SEEDED, env.get("PYTHONPATH")]))
                env |= {SEED: f"{self._name} {self.seed()}", "PYTHONPATH": path}
            popen(process, *args, env=env, **options)

        subprocess.Popen.__init__ = start
