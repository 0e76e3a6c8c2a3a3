"""What the tests of the schemes share: the schemes under test, their vectors, values to try."""

import json
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import settings

from django_sortable_ids.schemes import InvalidID, TimeScheme, all_schemes, get
from tests.combinations import each_with

VECTORS = Path(__file__).parent / "vectors"

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NOW_NS = 1_767_225_600_123_456_789
"""2026-01-01T00:00:00.123456789Z"""
NOW = datetime(2026, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC)

examples = settings(max_examples=12)

_VARIANTS = (
    ("snowflake", {"epoch_ms": 1_420_070_400_000, "time_bits": 42}),
    ("snowflake", {"epoch_ms": 0, "time_bits": 48, "worker_bits": 0}),
    ("time64", {"layout": "3+6"}),
    ("time64", {"workers": 100}),
    ("time64", {"layout": "3+6", "workers": 1000}),
    ("sonyflake", {"version": 1}),
    ("sonyflake", {"epoch_ms": 1_700_000_000_000, "sequence_bits": 12, "worker_bits": 4}),
    ("tsid", {"node_bits": 0}),
    ("tsid", {"node_bits": 20, "epoch_ms": 0}),
    ("kuuid", {"reverse": True}),
    ("kuuid", {"epoch_ms": 1_514_764_800_000}),
    ("hexulid", {"epoch_ms": -1}),
    ("snowflake", {"bits": 53}),
    ("kuuid", {"short": True}),
    ("kuuid_ms", {"reverse": True, "short": True}),
    ("lexical_sequence", {"charset": "numeric", "width": 6}),
    ("lexical_sequence", {"charset": "alpha", "width": 5}),
    ("lexical_sequence", {"charset": "alpha", "width": 5, "ignore_case": True}),
    ("lexical_sequence", {"charset": "alnum_lower", "max_length": 8, "start": "abc"}),
    ("lexical_sequence", {"charset": "numeric", "width": 5, "template": "INV-{year}-{number}"}),
    (
        "lexical_sequence",
        {
            "charset": "alpha",
            "width": 4,
            "ignore_case": True,
            "template": "{year}_{month}~{number}-Ab",
        },
    ),
)


def _param(name, options):
    label = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
    return pytest.param(get(name, **options), id=label)


def _encoding_params(scheme_param):
    scheme = scheme_param.values[0]
    return [
        pytest.param(scheme, encoding, id=f"{scheme_param.id} {encoding}")
        for encoding in scheme.encodings
    ]


ROWS = [_param(scheme.name, {}) for scheme in all_schemes()]
"""Every row and family of the catalogue with its default options."""

SCHEMES = [*ROWS, *(_param(name, options) for name, options in _VARIANTS)]
TIME_SCHEMES = [param for param in SCHEMES if isinstance(param.values[0], TimeScheme)]
SORTING_SCHEMES = [param for param in TIME_SCHEMES if param.values[0].sorts]
_KINDS = (
    ("uuid7", {}),
    ("uuid6", {}),
    ("uuid1", {}),
    ("ulid", {}),
    ("cuid", {}),
    ("kuuid", {"reverse": True}),
    ("kuuid_ms", {"reverse": True, "short": True}),
    ("ksuid_ms", {}),
    ("xid", {}),
    ("snowflake", {}),
    ("sonyflake", {}),
    ("tsid", {"node_bits": 20, "epoch_ms": 0}),
    ("time64", {"layout": "3+6", "workers": 1000}),
    ("unique_rowid", {}),
)
KINDS = [_param(name, options) for name, options in _KINDS]
"""One scheme for each kind of layout: fixed bits, a bit that is set, groups, descending, fractions,
workers, 64 bits of several ticks, first and last ticks that are cut. Clocks and bounds depend on no
more."""
SORTING_KINDS = [param for param in KINDS if param.values[0].sorts]
SEQUENCES = [param for param in SCHEMES if not isinstance(param.values[0], TimeScheme)]
ENCODINGS = [param for row in ROWS for param in _encoding_params(row)] + [
    param
    for variant in SCHEMES[len(ROWS) :]
    if variant.values[0].text_forms != get(variant.values[0].name).text_forms
    for param in _encoding_params(variant)
]
"""Every text form once, with a scheme that has it."""


def each_scheme_with(schemes, *others):
    """As ``each_with``; a case has the name of its scheme."""
    pairs = zip(schemes, each_with(schemes, *others), strict=True)
    return [pytest.param(*param.values, *rest, id=param.id) for param, (_, *rest) in pairs]


def vectors(name):
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def unix_ns(at):
    return (at - EPOCH) // MICROSECOND * 1000


def from_unix_ns(ns):
    """The time, floored to the microsecond."""
    return EPOCH + timedelta(microseconds=ns // 1000)


def floored(scheme, at):
    """The beginning of the scheme's tick that ``at`` falls into, floored to the microsecond."""
    tick = (unix_ns(at) - scheme.epoch_ns) // scheme.tick_ns
    return from_unix_ns(scheme.epoch_ns + tick * scheme.tick_ns)


def is_refused(scheme, entry):
    """Whether the text of the vector is."""
    try:
        scheme.parse(entry["text"], entry.get("encoding"))
    except InvalidID:
        return True
    return False


def value_of(scheme, tick, suffix):
    return scheme.from_int(scheme.layout.join(tick, suffix))


def ids_at(scheme, moments):
    """An id of each moment, in their order. No two are alike: two random ones of 64 bits may be."""
    waiting = Counter(map(scheme.tick, moments))
    made = {}
    for moment in moments:
        tick = scheme.tick(moment)
        if tick not in made:
            made[tick] = iter(scheme.generate_many(waiting[tick], moment))
    return [next(made[scheme.tick(moment)]) for moment in moments]


def last_shown_tick(scheme):
    """The last tick that a ``datetime`` can show."""
    return scheme.tick(scheme.latest)


def number_limits(sequence):
    """The least and the greatest number of a lexical sequence."""
    digits = sequence.numeration.digits("upper")
    template, shortest = sequence.template, sequence.digits.shortest
    return (
        sequence.to_int(template.filled(template.periods[0], digits[0] * shortest)),
        sequence.to_int(template.filled(template.periods[-1], digits[-1] * sequence.digits.length)),
    )


def some_values(scheme, *, shown=False):
    """Values in order of time: of the first ticks, of now and of the last ones, from both ends of
    the tick and from within; of a sequence in order of number. With ``shown``, a ``datetime`` can
    show the time of each.
    """
    if not isinstance(scheme, TimeScheme):
        first, last = number_limits(scheme)
        middle = (first + last) // 2
        numbers = {first, first + 1, middle, middle + 1, last - 1, last}
        return [scheme.from_int(number) for number in sorted(numbers)]
    layout, now = scheme.layout, scheme.tick(NOW)
    first, last = layout.first_tick, last_shown_tick(scheme) if shown else layout.last_tick
    made = []
    for tick in sorted({first, first + 1, now, now + 1, last - 1, last}):
        most = layout.capacity(tick) - 1
        suffixes = {0, min(1, most), most // 7 * 5, max(0, most - 1), most}
        made += [value_of(scheme, tick, suffix) for suffix in sorted(suffixes)]
    return made


def times_about(scheme, value):
    """Times next to that of ``value``, and next to the ends of the scheme's range, in order."""
    tick, found = timedelta(microseconds=max(1, scheme.tick_ns // 1000)), set()
    anchors = (scheme.created_at(value), scheme.earliest, scheme.latest)
    for anchor, ticks, microseconds in product(anchors, (-1, 0, 1), (-1, 0, 1)):
        with suppress(OverflowError):
            found.add(anchor + ticks * tick + microseconds * MICROSECOND)
    return sorted(found)
