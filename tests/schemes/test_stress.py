"""The stress command, in short: it finds nothing in the schemes, and what is wrong elsewhere."""

from datetime import UTC, datetime
from itertools import count

import pytest

from tests.patience import PATIENCE
from tests.stress.__main__ import SCHEMES
from tests.stress.clock import ROUND
from tests.stress.processes import Load, numbered, stress

from .generators import fresh
from .test_processes import needs_fork

pytestmark = needs_fork
SHORT = Load(ids=20_000, processes=3, threads=4, seconds=PATIENCE)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES.keys())
def test_no_id_is_repeated_and_none_goes_back(scheme):
    result = stress(fresh(scheme), SHORT)
    assert result.failures == []
    assert (result.repeats, result.steps_back) == (0, 0)
    assert (result.ids, result.forks) == (20_016, 3)
    assert result.clock_steps > 6 * len(ROUND)


class Faulty:
    """A scheme whose ids go through ``change``."""

    def __init__(self, scheme, change):
        self._scheme = scheme
        self._change = change

    def __getattr__(self, name):
        return getattr(self._scheme, name)

    def generate(self):
        return self._change(self._scheme.generate())


def faulty(change_of):
    """A load whose processes have schemes with a fault of their own, made of their number."""

    def scheme_of(scheme, process):
        return Faulty(numbered(scheme, process), change_of(process))

    return Load(ids=4000, processes=2, threads=2, seconds=PATIENCE, scheme_of=scheme_of)


def at_call(number, then):
    calls = count()
    return lambda value: then(value) if next(calls) == number else value


ONE = SCHEMES["uuid7"].generate(datetime(2020, 1, 1, tzinfo=UTC))


def test_an_id_of_two_processes_is_a_repeat():
    result = stress(SCHEMES["uuid7"], faulty(lambda process: at_call(0, lambda value: ONE)))
    assert (result.repeats, result.steps_back, result.failures) == (3, 0, [])


def test_an_id_that_is_less_than_the_one_before_is_a_step_back():
    def earlier(process):
        return at_call(700, lambda value: ONE) if process == 3 else lambda value: value

    result = stress(SCHEMES["uuid7"], faulty(earlier))
    assert (result.repeats, result.steps_back, result.failures) == (0, 1, [])
