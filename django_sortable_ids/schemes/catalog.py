"""The catalogue of schemes. All other properties of a scheme are derived from its entry here.

Bit layouts are written most significant bit first.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from .bit_templates import (
    PLAIN,
    BitTemplate,
    ByteFractionTemplate,
    TimeLowFirstTemplate,
    UUIDTemplate,
)
from .encodings.alphabets import (
    BASE32_HEX_LOWER,
    BASE36_LOWER,
    BASE58,
    BASE62,
    CROCKFORD,
    CROCKFORD_LOWER,
    HEX_LOWER,
    HEX_UPPER,
    PUSH_ID,
    SHORTUUID,
)
from .encodings.sql_server import SQLServerText
from .encodings.text_forms import Digits, Groups, TextForm, UUIDText
from .integers import SNOWFLAKES, snowflake, sonyflake, time64, tsid
from .layout import Layout
from .scheme import Scheme
from .sequence import lexical_sequence
from .support import exponent, one_of
from .time_scheme import MILLISECOND, SECOND, TimeScheme

_GREGORIAN: Any = {"time": 60, "suffix": 62, "epoch_ns": -12_219_292_800 * SECOND, "tick_ns": 100}
"""UUID versions 1 and 6 count 100 ns ticks from 1582-10-15 (RFC 9562, section 5.1)."""

_UUID_FORMS: tuple[tuple[str, TextForm], ...] = (
    ("canonical", UUIDText()),
    ("hex", UUIDText(hyphens=False)),
    ("base32", Digits(CROCKFORD_LOWER, 26)),
    ("base36", Digits(BASE36_LOWER, 25, fold="lower")),
    ("base58", Digits(BASE58, 22)),
    ("base62", Digits(BASE62, 22)),
    ("shortuuid", Digits(SHORTUUID, 22)),
)


def _row(
    name: str,
    title: str,
    specification: str,
    forms: TextForm | tuple[tuple[str, TextForm], ...],
    *,
    time: int,
    suffix: int,
    worker: int = 0,
    template: BitTemplate = PLAIN,
    tick_ns: int = MILLISECOND,
    **others: Any,
) -> TimeScheme:
    """``time | suffix`` bits; the suffix is random, or starts with a worker number."""
    is_uuid = template.version is not None
    return TimeScheme(
        name=name,
        title=title,
        specification=specification,
        bits=128 if is_uuid else time + suffix,
        value_type=uuid.UUID if is_uuid else str,
        text_forms=forms if isinstance(forms, tuple) else (("canonical", forms),),
        layout=Layout(
            ticks=1 << time,
            suffixes=1 << suffix,
            template=template,
            workers=1 << worker if worker else None,
        ),
        tick_ns=tick_ns,
        **others,
    )


_FIXED = (
    # time_low 32 | time_mid 16 | version 4 | time_high 12 | variant 2 | clock sequence 14 | node 48
    _row(
        "uuid1",
        "UUIDv1",
        "RFC 9562, section 5.1",
        _UUID_FORMS[:2],
        **_GREGORIAN,
        template=TimeLowFirstTemplate(),
    ),
    # time 48 | version 4 | time 12 | variant 2 | clock sequence 14 | node 48, both random here
    _row(
        "uuid6",
        "UUIDv6",
        "RFC 9562, section 5.6",
        _UUID_FORMS,
        **_GREGORIAN,
        template=UUIDTemplate(6),
    ),
    # time 48 | version 4 | random 12 | variant 2 | random 62
    _row(
        "uuid7",
        "UUIDv7",
        "RFC 9562, section 5.7",
        _UUID_FORMS,
        time=48,
        suffix=74,
        template=UUIDTemplate(7),
    ),
    # Like UUIDv6, but with version 13, which RFC 9562 reserves for future use.
    _row(
        "comb13",
        "COMB UUID (version 13)",
        'Michael Lambert, "Custom UUID as primary key"',
        (*_UUID_FORMS, ("sqlserver", SQLServerText(13))),
        **_GREGORIAN,
        template=UUIDTemplate(13),
    ),
    _row(
        "ulid",
        "ULID",
        "https://github.com/ulid/spec",
        Digits(CROCKFORD, 26, fold="upper"),
        time=48,
        suffix=80,
    ),
    # 12 and 20 hexadecimal digits, which SQLite can generate itself
    _row(
        "hexulid",
        "hex ULID",
        'Stephen Margheim, "SQLite Hex-ULIDs"',
        Digits(HEX_UPPER, 32),
        time=48,
        suffix=80,
        stored_as_text=True,
    ),
    _row(
        "timeflake",
        "Timeflake",
        "https://github.com/anthonynsimon/timeflake",
        Digits(BASE62, 22),
        time=48,
        suffix=80,
    ),
    # counter 24 | counter 24 | entropy 32 are random here. The specification reserves the first and
    # the last time, which no clock shows. Ids with these times are valid here.
    _row(
        "scru128",
        "SCRU128",
        "https://github.com/scru128/spec, version 2",
        Digits(BASE36_LOWER, 25, fold="lower"),
        time=48,
        suffix=80,
    ),
    _row(
        "pushid",
        "push id",
        'Firebase, "The 2^120 Ways to Ensure Unique Identifiers"',
        Digits(PUSH_ID, 20),
        time=48,
        suffix=72,
        stored_as_text=True,
    ),
)
"""The schemes without options."""

_MOST_WORKERS = 1 << 40
"""The bits of machine and process together, in an xid and an ObjectId."""

# machine 24 | process 16 | counter 24 are random here
_XID = _row(
    "xid",
    "xid",
    "https://github.com/rs/xid",
    Digits(BASE32_HEX_LOWER, 20, padding=4),
    time=32,
    suffix=64,
    tick_ns=SECOND,
)

# random 40 | counter 24, which is random, too, here
_OBJECTID = _row(
    "objectid",
    "ObjectId",
    "MongoDB specifications, bson-objectid",
    Digits(HEX_LOWER, 24, fold="lower"),
    time=32,
    suffix=64,
    tick_ns=SECOND,
)

KSUID = _row(
    "ksuid",
    "KSUID",
    "https://github.com/segmentio/ksuid",
    Digits(BASE62, 27),
    time=32,
    suffix=128,
    epoch_ns=1_400_000_000 * SECOND,
    tick_ns=SECOND,
)

# time 32 | fraction 8, steps of 4 ms from 0 to 249 | random 120
KSUID_MS = replace(
    KSUID,
    name="ksuid_ms",
    title="KSUID (4 ms)",
    specification="https://github.com/svix/rust-ksuid",
    layout=Layout(
        ticks=250 << 32, suffixes=1 << 120, template=ByteFractionTemplate(250, suffix_bits=120)
    ),
    tick_ns=4 * MILLISECOND,
)


@lru_cache
def xid(*, workers: int | None = None) -> TimeScheme:
    """``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``.

    ``workers`` is a power of two. With 2 ** 40, the worker number has the bits of machine and
    process, and the sequence the bits of the counter. The sequence starts at 0 in every second. So
    a process with a fixed number must not start in the second in which its predecessor ended; a
    leased number rules this out.
    """
    return _with_workers(_XID, workers)


@lru_cache
def objectid(*, workers: int | None = None) -> TimeScheme:
    """Like ``xid``: ``time 32 | random 64``; with ``workers``, ``time 32 | worker | sequence``."""
    return _with_workers(_OBJECTID, workers)


def _with_workers(scheme: TimeScheme, workers: int | None) -> TimeScheme:
    if exponent(2, _MOST_WORKERS, workers=workers) is None:
        return scheme
    return replace(scheme, layout=replace(scheme.layout, workers=workers))


def ksuid(*, precision: Literal["s", "ms"] = "s") -> TimeScheme:
    """``time 32 | random 128``, seconds from 2014-05-13T16:53:20Z.

    ``precision="ms"`` uses 8 of the random bits to count units of 4 ms, like svix-ksuid for Rust.
    (svix-ksuid for Python counts 1/256 s in this byte; its values above 249 are invalid here.)
    """
    return one_of({"s": KSUID, "ms": KSUID_MS}, precision=precision)


@lru_cache
def kuuid(
    *, precision: Literal["s", "ms"] = "s", reverse: bool = False, short: bool = False
) -> TimeScheme:
    """8 characters of time, then 4 groups of 6 characters with 32 random bits each.

    ``precision`` is the unit of the time. ``short`` leaves only 2 groups. ``reverse`` sorts the
    newest first: it writes 62 ** 8 - 1 minus the time.
    """
    tick_ns = one_of({"s": SECOND, "ms": MILLISECOND}, precision=precision)
    groups = 2 if short else 4
    return TimeScheme(
        name="kuuid" if precision == "s" else "kuuid_ms",
        title="kuuid",
        specification="https://github.com/glynnbird/kuuid",
        # 62 ** 8 - 1 fits into 48 bits
        bits=48 + 32 * groups,
        value_type=str,
        text_forms=(("canonical", Groups(BASE62, ((8, 48), *[(6, 32)] * groups))),),
        stored_as_text=True,
        layout=Layout(ticks=62**8, suffixes=1 << 32 * groups, descending=reverse),
        tick_ns=tick_ns,
    )


def _preset(family: Callable[..., Scheme], **fixed: Any) -> Callable[..., Scheme]:
    return lambda **options: family(**fixed, **options)


_FAMILIES: dict[str, Callable[..., Scheme]] = {
    "xid": xid,
    "objectid": objectid,
    "ksuid": ksuid,
    "ksuid_ms": _preset(ksuid, precision="ms"),
    "kuuid": kuuid,
    "kuuid_ms": _preset(kuuid, precision="ms"),
    "snowflake": snowflake,
    **{name: _preset(snowflake, layout=name) for name in SNOWFLAKES if name != "twitter"},
    "sonyflake": sonyflake,
    "tsid": tsid,
    "time64": time64,
    "lexical_sequence": lru_cache(lexical_sequence),
}

_CATALOG = MappingProxyType(
    {scheme.name: scheme for scheme in _FIXED}
    | {name: family() for name, family in _FAMILIES.items()}
)


def get(name: str, **options: Any) -> Scheme:
    """The scheme with this name; ``options`` are those of its family, such as ``layout="3+6"``.

    Raises ``LookupError`` for an unknown name, ``TypeError`` for an unknown option.
    """
    if name not in _CATALOG:
        raise LookupError(f"unknown scheme {name!r}; expected one of {', '.join(sorted(_CATALOG))}")
    if not options:
        return _CATALOG[name]
    if name not in _FAMILIES:
        raise TypeError(f"scheme {name!r} takes no options; remove {', '.join(options)}")
    return _FAMILIES[name](**options)


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme of the catalogue, with its default options."""
    return tuple(_CATALOG.values())
