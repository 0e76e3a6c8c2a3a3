"""How the first ids of a tick are spread, and how often two processes generate the same one.

``python -m tests.schemes.odds`` measures the table of docs/reasons/collisions.md, in a minute.
"""

from collections import Counter, defaultdict
from math import isqrt, log, log2, sqrt

from django_sortable_ids import fields
from django_sortable_ids.schemes import TimeScheme
from tests.field_classes import CLASSES

from .generators import generator_of
from .support import NOW_NS

MEASURED_PAIRS = 10_000
"""So many equal pairs are expected where they are counted: the count is right to 1 %."""
MOST_PROCESSES = 1_000_000


def first_suffixes(scheme, count):
    """The suffix of the first id of each of ``count`` processes, all in one tick."""
    return [generator_of(scheme, lambda: NOW_NS).next()[1] for _ in range(count)]


def equal_pairs(items):
    """How many pairs of the items are equal."""
    return sum(count * (count - 1) // 2 for count in Counter(items).values())


def uneven_bits(suffixes, bits):
    """The bits that are not 1 in half of the suffixes.

    By Hoeffding's inequality a fair bit is one of them with a chance below 2 * exp(-40).
    """
    ones = [sum(suffix >> bit & 1 for suffix in suffixes) for bit in range(bits)]
    return [bit for bit, count in enumerate(ones) if is_far(count, 0.5, len(suffixes))]


def is_far(count, share, of):
    """Whether a count isn't the share that chance gives, but for 2 * exp(-40)."""
    return abs(count - share * of) > sqrt(20 * of)


def first_values(scheme):
    """How many suffixes a first id is drawn from."""
    sizes = []
    generator_of(scheme, lambda: NOW_NS, below=lambda size: sizes.append(size) or 0).next()
    return sizes[0]


def guesses(scheme):
    """How many steps may lead from an id to the next one of the same process and tick."""
    return 1 << generator_of(scheme, lambda: NOW_NS).step_bits


def by_values():
    """The names of the fields by how many suffixes their first ids are drawn from, and by the
    guesses for the next one."""
    found = defaultdict(list)
    for field_class in CLASSES:
        scheme = field_class().scheme
        if isinstance(scheme, TimeScheme):
            found[first_values(scheme), guesses(scheme)].append(field_class.__name__)
    return dict(sorted(found.items()))


def as_likely_as_not(values):
    """How many processes of one tick have a collision with a chance of a half."""
    return round(sqrt(2 * log(2) * values))


def written(number):
    if number < 10**9:
        return f"{number:,}"
    digits, _, exponent = f"{number:.1e}".partition("e")
    return f"{digits}e{int(exponent)}"


def line(names, values, guesses, measured):
    return (
        f"| {', '.join(f'`{name}`' for name in names)} | {log2(values):.1f} "
        f"| 1 in {written(values)} | {measured} | {written(as_likely_as_not(values))} "
        f"| {guesses if guesses < 1000 else f'2^{log2(guesses):.0f}'} |"
    )


def measured(scheme, values):
    """One in how many pairs of first ids is equal; none of those with many random bits are."""
    processes = min(isqrt(2 * MEASURED_PAIRS * values), MOST_PROCESSES)
    found = equal_pairs(first_suffixes(scheme, processes))
    pairs = processes * (processes - 1) // 2
    return f"1 in {pairs // found:,}" if found else f"0 of {written(pairs)}"


if __name__ == "__main__":
    for (values, steps), names in by_values().items():
        scheme = getattr(fields, names[0])().scheme
        print(line(names, values, steps, measured(scheme, values)), flush=True)
