"""The schemes whose values are texts, each a function from its options to the scheme.

Bit layouts are written most significant bit first. ``epoch_ms`` is another epoch, Unix time in ms.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from ..encodings.alphabets import (
    BASE32_HEX_LOWER,
    BASE36_LOWER,
    BASE62,
    CROCKFORD,
    HEX_LOWER,
    HEX_UPPER,
    PUSH_ID,
)
from ..encodings.text_forms import Digits, Groups, Prefixed, TextForm
from ..layout import ByteFractionTemplate, Layout, SuffixPart
from ..time_scheme import MILLISECOND, SECOND, TimeScheme
from .rows import epoch, exponent, one_of, row

_PREFIX = re.compile("[A-Za-z0-9._~:-]{1,60}")
_MOST_WORKERS = 1 << 40
"""The bits of machine and process together, in an xid and an ObjectId."""


@lru_cache(typed=True)
def ulid(*, epoch_ms: int | None = None) -> TimeScheme:
    """``time 48 | random 80``, in ms."""
    form = Digits(CROCKFORD, 26, fold="upper")
    return _milliseconds("ulid", "ULID", "https://github.com/ulid/spec", form, epoch_ms)


def _milliseconds(
    name: str,
    title: str,
    specification: str,
    form: TextForm,
    epoch_ms: int | None,
    suffix: int = 80,
    **others: Any,
) -> TimeScheme:
    """48 bits of ms, and a suffix."""
    options: Any = {"time": 48, "suffix": suffix, "epoch_ms": epoch_ms, **others}
    return row(name, title, specification, form, **options)


@lru_cache(typed=True)
def hexulid(*, epoch_ms: int | None = None) -> TimeScheme:
    """A ULID of 12 and 20 hexadecimal digits, which SQLite can generate itself."""
    specification = 'Stephen Margheim, "SQLite Hex-ULIDs"'
    form = Digits(HEX_UPPER, 32, fold="upper")
    return _milliseconds("hexulid", "hex ULID", specification, form, epoch_ms, stored_as_text=True)


@lru_cache(typed=True)
def timeflake(*, epoch_ms: int | None = None) -> TimeScheme:
    """``time 48 | random 80``, in ms."""
    specification = "https://github.com/anthonynsimon/timeflake"
    return _milliseconds("timeflake", "Timeflake", specification, Digits(BASE62, 22), epoch_ms)


@lru_cache(typed=True)
def scru128(*, epoch_ms: int | None = None) -> TimeScheme:
    """``time 48 | counter 24 | counter 24 | entropy 32``, in ms; all but the time are random here.

    The specification reserves the first and the last time, which no clock shows. Ids with these
    times are valid here.
    """
    specification = "https://github.com/scru128/spec, version 2"
    form = Digits(BASE36_LOWER, 25, fold="lower")
    parts = (
        SuffixPart("high counter", 1 << 24, "sequence"),
        SuffixPart("low counter", 1 << 24, "sequence"),
        SuffixPart("entropy", 1 << 32),
    )
    return _milliseconds("scru128", "SCRU128", specification, form, epoch_ms, suffix_parts=parts)


@lru_cache(typed=True)
def pushid(*, epoch_ms: int | None = None) -> TimeScheme:
    """``time 48 | random 72``, in ms."""
    specification = 'Firebase, "The 2^120 Ways to Ensure Unique Identifiers"'
    form = Digits(PUSH_ID, 20)
    return _milliseconds(
        "pushid", "push id", specification, form, epoch_ms, 72, stored_as_text=True
    )


@lru_cache(typed=True)
def flake(*, epoch_ms: int | None = None) -> TimeScheme:
    """``time 64 | node 48 | sequence 16``, in ms; all but the time are random here.

    The ids of the years 1975 to 2284 have 18 digits; flake writes no zeros before them.
    """
    return TimeScheme(
        name="flake",
        title="Flake",
        specification="https://github.com/boundary/flake",
        bits=128,
        value_type=str,
        text_forms=(("canonical", Digits(BASE62, 18)),),
        layout=Layout(
            ticks=(62**18 >> 64) + 1,
            suffixes=1 << 64,
            smallest=(62**17 >> 64) + 1 << 64,
            largest=62**18 - 1,
        ),
        suffix_parts=(
            SuffixPart("node", 1 << 48, "worker"),
            SuffixPart("sequence", 1 << 16, "sequence"),
        ),
        epoch_ns=epoch(0, epoch_ms),
        tick_ns=MILLISECOND,
    )


@lru_cache(typed=True)
def cuid(*, epoch_ms: int | None = None) -> TimeScheme:
    """``c | time 8 | counter 4 | fingerprint 4 | random 8``, digits of base 36, in ms; all but the
    time are random here."""
    return TimeScheme(
        name="cuid",
        title="CUID (version 1)",
        specification="https://github.com/paralleldrive/cuid",
        bits=(36**24 - 1).bit_length(),
        value_type=str,
        text_forms=(("canonical", Prefixed("c", Digits(BASE36_LOWER, 24))),),
        stored_as_text=True,
        layout=Layout(ticks=36**8, suffixes=36**16),
        suffix_parts=(
            SuffixPart("counter", 36**4, "sequence"),
            SuffixPart("fingerprint", 36**4, "worker"),
            SuffixPart("random", 36**8),
        ),
        epoch_ns=epoch(0, epoch_ms),
        tick_ns=MILLISECOND,
    )


@lru_cache(typed=True)
def xid(*, workers: int | None = None, epoch_ms: int | None = None) -> TimeScheme:
    """``time 32 | random 64``, in seconds; with ``workers``, ``time 32 | worker | sequence``.

    ``workers`` is a power of two. With 2 ** 40, the worker number has the bits of machine and
    process, and the sequence the bits of the counter. The sequence starts at 0 in every second. So
    a process with a fixed number must not start in the second in which its predecessor ended; a
    leased number rules this out.
    """
    form = Digits(BASE32_HEX_LOWER, 20, padding=4)
    parts = (
        SuffixPart("machine", 1 << 24, "worker"),
        SuffixPart("process", 1 << 16, "worker"),
        SuffixPart("counter", 1 << 24, "sequence"),
    )
    return _seconds("xid", "xid", "https://github.com/rs/xid", form, parts, workers, epoch_ms)


@lru_cache(typed=True)
def objectid(*, workers: int | None = None, epoch_ms: int | None = None) -> TimeScheme:
    """Like ``xid``: ``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``."""
    specification = "MongoDB specifications, bson-objectid"
    form = Digits(HEX_LOWER, 24, fold="lower")
    parts = (SuffixPart("random", 1 << 40), SuffixPart("counter", 1 << 24, "sequence"))
    return _seconds("objectid", "ObjectId", specification, form, parts, workers, epoch_ms)


def _seconds(
    name: str,
    title: str,
    specification: str,
    form: TextForm,
    parts: tuple[SuffixPart, ...],
    workers: int | None,
    epoch_ms: int | None,
) -> TimeScheme:
    """32 bits of seconds, and a suffix of 64, which may contain a worker number."""
    exponent(2, _MOST_WORKERS, workers=workers)
    options: Any = {"tick_ns": SECOND, "suffix_parts": parts, "workers": workers}
    return row(name, title, specification, form, time=32, suffix=64, epoch_ms=epoch_ms, **options)


@lru_cache(typed=True)
def ksuid(*, precision: Literal["s", "ms"] = "s", epoch_ms: int | None = None) -> TimeScheme:
    """``time 32 | random 128``, seconds from 2014-05-13T16:53:20Z, or from ``epoch_ms``.

    ``precision="ms"`` uses 8 of the random bits to count units of 4 ms, like svix-ksuid for Rust:
    ``time 32 | fraction 8, from 0 to 249 | random 120``. (svix-ksuid for Python counts 1/256 s in
    this byte; its values above 249 are invalid here.)
    """
    in_seconds = row(
        "ksuid",
        "KSUID",
        "https://github.com/segmentio/ksuid",
        Digits(BASE62, 27),
        time=32,
        suffix=128,
        epoch_ns=1_400_000_000 * SECOND,
        epoch_ms=epoch_ms,
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


@lru_cache(typed=True)
def kuuid(
    *,
    precision: Literal["s", "ms"] = "s",
    reverse: bool = False,
    short: bool = False,
    groups: int | None = None,
    epoch_ms: int | None = None,
    stored_prefix: str = "",
) -> TimeScheme:
    """8 characters of time, then groups of 6 characters with 32 random bits each.

    ``precision`` is the unit of the time. ``groups`` is 1 to 4, by default 4; ``short`` means 2.
    ``reverse`` sorts the newest first: it writes 62 ** 8 - 1 minus the time. ``epoch_ms`` is
    1,514,764,800,000 (2018) for ids of kuuid 0.1. ``stored_prefix``, such as ``"user:"``, is the
    beginning of every id.
    """
    tick_ns = one_of({"s": SECOND, "ms": MILLISECOND}, precision=precision)
    if groups not in (None, 1, 2, 3, 4) or (short and groups not in (None, 2)):
        raise ValueError(f"groups={groups!r}, short={short}: expected 1 to 4, and 2 if short")
    count = groups or (2 if short else 4)
    form: TextForm = Groups(BASE62, ((8, 48), *[(6, 32)] * count))
    if stored_prefix:
        if not isinstance(stored_prefix, str) or not _PREFIX.fullmatch(stored_prefix):
            raise ValueError(
                f"stored_prefix={stored_prefix!r}: expected 1 to 60 of A-Z, a-z, 0-9 and -._~:"
            )
        form = Prefixed(stored_prefix, form)
    return TimeScheme(
        name="kuuid" if precision == "s" else "kuuid_ms",
        title="kuuid",
        specification="https://github.com/glynnbird/kuuid",
        # 62 ** 8 - 1 fits into 48 bits
        bits=48 + 32 * count,
        value_type=str,
        text_forms=(("canonical", form),),
        stored_as_text=True,
        layout=Layout(ticks=62**8, suffixes=1 << 32 * count, descending=reverse),
        epoch_ns=epoch(0, epoch_ms),
        tick_ns=tick_ns,
    )
