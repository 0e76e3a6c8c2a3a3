"""The schemes whose values are texts, each a function from its options to the scheme.

Bit layouts are written most significant bit first. ``epoch_ms`` is another epoch, Unix time in ms.
"""

from dataclasses import replace
from typing import Literal

from .. import alphabets
from ..layout import ByteFractionTemplate, Layout, SuffixPart
from ..text_forms import Digits, Groups
from ..time_scheme import MILLISECOND, SECOND, TimeScheme
from . import entry, epoch, one_of


def ulid() -> TimeScheme:
    """``time 48 | random 80``, in ms."""
    form = Digits(alphabets.CROCKFORD, 26, fold="upper")
    return entry("ulid", "ULID", "https://github.com/ulid/spec", form, time=48, suffix=80)


def hexulid(*, epoch_ms: int | None = None) -> TimeScheme:
    """A ULID of 12 and 20 hexadecimal digits, which SQLite can generate itself."""
    return entry(
        "hexulid",
        "hex ULID",
        'Stephen Margheim, "SQLite Hex-ULIDs"',
        Digits(alphabets.HEX_UPPER, 32, fold="upper"),
        time=48,
        suffix=80,
        epoch_ns=epoch(epoch_ms),
        stored_as_text=True,
    )


def timeflake() -> TimeScheme:
    """``time 48 | random 80``, in ms."""
    specification, form = "https://github.com/anthonynsimon/timeflake", Digits(alphabets.BASE62, 22)
    return entry("timeflake", "Timeflake", specification, form, time=48, suffix=80)


def scru128() -> TimeScheme:
    """``time 48 | counter 24 | counter 24 | entropy 32``, in ms; all but the time are random here.

    The specification reserves the first and the last time, which no clock shows. Ids with these
    times are valid here.
    """
    return entry(
        "scru128",
        "SCRU128",
        "https://github.com/scru128/spec, version 2",
        Digits(alphabets.BASE36_LOWER, 25, fold="lower"),
        time=48,
        suffix=80,
        suffix_parts=(
            SuffixPart("high counter", 1 << 24, "sequence"),
            SuffixPart("low counter", 1 << 24, "sequence"),
            SuffixPart("entropy", 1 << 32),
        ),
    )


def pushid() -> TimeScheme:
    """``time 48 | random 72``, in ms."""
    specification = 'Firebase, "The 2^120 Ways to Ensure Unique Identifiers"'
    form = Digits(alphabets.PUSH_ID, 20)
    return entry("pushid", "push id", specification, form, time=48, suffix=72, stored_as_text=True)


def cuid() -> TimeScheme:
    """``c | time 8 | counter 4 | fingerprint 4 | random 8``, digits of base 36, in ms; all but the
    time are random here.

    The ``c`` is the first digit of the tick: ticks count from 12 * 36 ** 8 ms before 1970.
    """
    before_1970 = alphabets.BASE36_LOWER.index("c") * 36**8
    return TimeScheme(
        name="cuid",
        title="CUID (version 1)",
        specification="https://github.com/paralleldrive/cuid",
        bits=(36**25 - 1).bit_length(),
        value_type=str,
        text_forms=(("canonical", Digits(alphabets.BASE36_LOWER, 25)),),
        stored_as_text=True,
        layout=Layout(ticks=before_1970 + 36**8, suffixes=36**16, smallest=before_1970 * 36**16),
        suffix_parts=(
            SuffixPart("counter", 36**4, "sequence"),
            SuffixPart("fingerprint", 36**4, "worker"),
            SuffixPart("random", 36**8),
        ),
        epoch_ns=-before_1970 * MILLISECOND,
        tick_ns=MILLISECOND,
    )


def xid() -> TimeScheme:
    """``time 32 | machine 24 | process 16 | counter 24``, in seconds; the others are random."""
    return entry(
        "xid",
        "xid",
        "https://github.com/rs/xid",
        Digits(alphabets.BASE32_HEX_LOWER, 20, padding=4),
        time=32,
        suffix=64,
        tick_ns=SECOND,
        suffix_parts=(
            SuffixPart("machine", 1 << 24, "worker"),
            SuffixPart("process", 1 << 16, "worker"),
            SuffixPart("counter", 1 << 24, "sequence"),
        ),
    )


def objectid() -> TimeScheme:
    """``time 32 | random 40 | counter 24``, in seconds; all but the time are random here."""
    return entry(
        "objectid",
        "ObjectId",
        "MongoDB specifications, bson-objectid",
        Digits(alphabets.HEX_LOWER, 24, fold="lower"),
        time=32,
        suffix=64,
        tick_ns=SECOND,
        suffix_parts=(SuffixPart("random", 1 << 40), SuffixPart("counter", 1 << 24, "sequence")),
    )


def ksuid(*, precision: Literal["s", "ms"] = "s") -> TimeScheme:
    """``time 32 | random 128``, seconds from 2014-05-13T16:53:20Z.

    ``precision="ms"`` uses 8 of the random bits to count units of 4 ms, like svix-ksuid for Rust:
    ``time 32 | fraction 8, from 0 to 249 | random 120``. (svix-ksuid for Python counts 1/256 s in
    this byte; its values above 249 are invalid here.)
    """
    in_seconds = entry(
        "ksuid",
        "KSUID",
        "https://github.com/segmentio/ksuid",
        Digits(alphabets.BASE62, 27),
        time=32,
        suffix=128,
        epoch_ns=1_400_000_000 * SECOND,
        tick_ns=SECOND,
    )
    if one_of({"s": True, "ms": False}, precision=precision):
        return in_seconds
    return replace(
        in_seconds,
        name="ksuid_ms",
        title="KSUID (4 ms)",
        specification="https://github.com/svix/rust-ksuid",
        layout=Layout(
            ticks=250 << 32, suffixes=1 << 120, template=ByteFractionTemplate(250, suffix_bits=120)
        ),
        tick_ns=4 * MILLISECOND,
    )


def kuuid(
    *,
    precision: Literal["s", "ms"] = "s",
    reverse: bool = False,
    short: bool = False,
    epoch_ms: int | None = None,
) -> TimeScheme:
    """8 characters of time, then groups of 6 characters with 32 random bits each: 4, or 2 if it is
    ``short``.

    ``precision`` is the unit of the time. ``reverse`` sorts the newest first: it writes 62 ** 8 - 1
    minus the time. ``epoch_ms`` is 1,514,764,800,000 (2018) for ids of kuuid 0.1.
    """
    tick_ns = one_of({"s": SECOND, "ms": MILLISECOND}, precision=precision)
    groups = 2 if short else 4
    return TimeScheme(
        name="kuuid" if precision == "s" else "kuuid_ms",
        title="kuuid" if precision == "s" else "kuuid (ms)",
        specification="https://github.com/glynnbird/kuuid",
        # 62 ** 8 - 1 fits into 48 bits
        bits=48 + 32 * groups,
        value_type=str,
        text_forms=(("canonical", Groups(alphabets.BASE62, ((8, 48), *[(6, 32)] * groups))),),
        stored_as_text=True,
        layout=Layout(ticks=62**8, suffixes=1 << 32 * groups, descending=reverse),
        epoch_ns=epoch(epoch_ms),
        tick_ns=tick_ns,
    )
