"""No hostile value ends in a crash: only the documented errors, and no answer of 500.

A failure names its seed, its way in and its number; to repeat it alone:
``FUZZ_SEED=... FUZZ_NUMBER=... pytest tests/fuzz -n 0 -k ...``. ``FUZZ_VALUES`` is how many values
there are, 5,000 or more without it; ``.ci/long`` tries 200,000 on each engine.
"""

import os
import traceback

import pytest

from .surfaces import SURFACES, make_rows
from .values import Hostile

pytestmark = pytest.mark.django_db

SEED = os.environ.get("FUZZ_SEED", "2026")
USUAL = sum(SURFACES.values())
VALUES = int(os.environ.get("FUZZ_VALUES", USUAL))
ALONE = os.environ.get("FUZZ_NUMBER")
SHOWN = 10


def numbers(surface):
    """The numbers of the values of one way in."""
    if ALONE is not None:
        return [int(ALONE)]
    return range(-(-SURFACES[surface] * VALUES // USUAL))


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.__name__)
def test_nothing_crashes(surface, settings):
    settings.LOGGING_CONFIG = None
    make_rows()
    faults, used = [], 0
    for number in numbers(surface):
        hostile = Hostile(f"{SEED}:{surface.__name__}:{number}")
        used += 1
        try:
            surface(hostile)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            faults.append(
                f"FUZZ_SEED={SEED} FUZZ_NUMBER={number} -k {surface.__name__}: "
                f"{type(error).__name__}: {ascii(str(error))[:200]} "
                f"({last.filename}:{last.lineno})"
            )
    assert used == len(numbers(surface))
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:SHOWN])
