"""The catalogue of schemes. All other properties of a scheme are derived from its entry here.

Bit layouts are written most significant bit first.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from .bit_templates import ByteFractionTemplate, TimeLowFirstTemplate, UUIDTemplate
from .encodings.alphabets import (
    BASE36_LOWER,
    BASE58,
    BASE62,
    CROCKFORD,
    CROCKFORD_LOWER,
    HEX_UPPER,
    PUSH_ID,
    SHORTUUID,
)
from .encodings.sql_server import SQLServerText
from .encodings.text_forms import Digits, Groups, TextForm, UUIDText
from .integers import SNOWFLAKES, snowflake, sonyflake, time64, tsid
from .layout import Layout
from .object_ids import objectid, xid
from .scheme import Scheme
from .sequence import lexical_sequence
from .time_scheme import MILLISECOND, SECOND, TimeScheme

GREGORIAN_EPOCH_NS = -12_219_292_800 * SECOND
"""1582-10-15: UUID versions 1 and 6 count 100 ns ticks from here (RFC 9562, section 5.1)."""

_UUID_FORMS: tuple[tuple[str, TextForm], ...] = (
    ("canonical", UUIDText()),
    ("hex", UUIDText(hyphens=False)),
    ("base32", Digits(CROCKFORD_LOWER, 26)),
    ("base36", Digits(BASE36_LOWER, 25, fold="lower")),
    ("base58", Digits(BASE58, 22)),
    ("base62", Digits(BASE62, 22)),
    ("shortuuid", Digits(SHORTUUID, 22)),
)


# time 48 | version 4 | random 12 | variant 2 | random 62
UUID7 = TimeScheme(
    name="uuid7",
    title="UUIDv7",
    specification="RFC 9562, section 5.7",
    bits=128,
    value_type=uuid.UUID,
    text_forms=_UUID_FORMS,
    layout=Layout(ticks=1 << 48, suffixes=1 << 74, template=UUIDTemplate(7)),
    tick_ns=MILLISECOND,
)

# time 48 | version 4 | time 12 | variant 2 | clock sequence 14 | node 48, both random here
UUID6 = TimeScheme(
    name="uuid6",
    title="UUIDv6",
    specification="RFC 9562, section 5.6",
    bits=128,
    value_type=uuid.UUID,
    text_forms=_UUID_FORMS,
    layout=Layout(ticks=1 << 60, suffixes=1 << 62, template=UUIDTemplate(6)),
    epoch_ns=GREGORIAN_EPOCH_NS,
    tick_ns=100,
)

# Like UUIDv6, but with version 13, which RFC 9562 reserves for future use.
COMB13 = TimeScheme(
    name="comb13",
    title="COMB UUID (version 13)",
    specification='Michael Lambert, "Custom UUID as primary key"',
    bits=128,
    value_type=uuid.UUID,
    text_forms=(*_UUID_FORMS, ("sqlserver", SQLServerText(13))),
    layout=Layout(ticks=1 << 60, suffixes=1 << 62, template=UUIDTemplate(13)),
    epoch_ns=GREGORIAN_EPOCH_NS,
    tick_ns=100,
)

# time_low 32 | time_mid 16 | version 4 | time_high 12 | variant 2 | clock sequence 14 | node 48
UUID1 = TimeScheme(
    name="uuid1",
    title="UUIDv1",
    specification="RFC 9562, section 5.1",
    bits=128,
    value_type=uuid.UUID,
    text_forms=_UUID_FORMS[:2],
    layout=Layout(ticks=1 << 60, suffixes=1 << 62, template=TimeLowFirstTemplate()),
    epoch_ns=GREGORIAN_EPOCH_NS,
    tick_ns=100,
)

# time 48 | random 80
ULID = TimeScheme(
    name="ulid",
    title="ULID",
    specification="https://github.com/ulid/spec",
    bits=128,
    value_type=str,
    text_forms=(("canonical", Digits(CROCKFORD, 26, fold="upper")),),
    layout=Layout(ticks=1 << 48, suffixes=1 << 80),
    tick_ns=MILLISECOND,
)

# time 48 | random 80, as 12 and 20 hexadecimal digits, which SQLite can generate itself
HEXULID = TimeScheme(
    name="hexulid",
    title="hex ULID",
    specification='Stephen Margheim, "SQLite Hex-ULIDs"',
    bits=128,
    value_type=str,
    text_forms=(("canonical", Digits(HEX_UPPER, 32)),),
    stored_as_text=True,
    layout=Layout(ticks=1 << 48, suffixes=1 << 80),
    tick_ns=MILLISECOND,
)


# time 48 | random 80
TIMEFLAKE = TimeScheme(
    name="timeflake",
    title="Timeflake",
    specification="https://github.com/anthonynsimon/timeflake",
    bits=128,
    value_type=str,
    text_forms=(("canonical", Digits(BASE62, 22)),),
    layout=Layout(ticks=1 << 48, suffixes=1 << 80),
    tick_ns=MILLISECOND,
)

# time 48 | counter 24 | counter 24 | entropy 32; the last three are random here. The specification
# reserves the first and the last time, which no clock shows. Ids with these times are valid here.
SCRU128 = TimeScheme(
    name="scru128",
    title="SCRU128",
    specification="https://github.com/scru128/spec, version 2",
    bits=128,
    value_type=str,
    text_forms=(("canonical", Digits(BASE36_LOWER, 25, fold="lower")),),
    layout=Layout(ticks=1 << 48, suffixes=1 << 80),
    tick_ns=MILLISECOND,
)

# time 48 | random 72
PUSHID = TimeScheme(
    name="pushid",
    title="push id",
    specification='Firebase, "The 2^120 Ways to Ensure Unique Identifiers"',
    bits=120,
    value_type=str,
    text_forms=(("canonical", Digits(PUSH_ID, 20)),),
    stored_as_text=True,
    layout=Layout(ticks=1 << 48, suffixes=1 << 72),
    tick_ns=MILLISECOND,
)


# time 32 | random 128
KSUID = TimeScheme(
    name="ksuid",
    title="KSUID",
    specification="https://github.com/segmentio/ksuid",
    bits=160,
    value_type=str,
    text_forms=(("canonical", Digits(BASE62, 27)),),
    layout=Layout(ticks=1 << 32, suffixes=1 << 128),
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


def ksuid(*, precision: Literal["s", "ms"] = "s") -> TimeScheme:
    """``time 32 | random 128``, seconds from 2014-05-13T16:53:20Z.

    ``precision="ms"`` uses 8 of the random bits to count units of 4 ms, like svix-ksuid for Rust.
    (svix-ksuid for Python counts 1/256 s in this byte; its values above 249 are invalid here.)
    """
    if precision not in ("s", "ms"):
        raise ValueError(f"precision={precision!r}: expected 's' or 'ms'")
    return KSUID if precision == "s" else KSUID_MS


@lru_cache
def kuuid(
    *, precision: Literal["s", "ms"] = "s", reverse: bool = False, short: bool = False
) -> TimeScheme:
    """8 characters of time, then 4 groups of 6 characters with 32 random bits each.

    ``precision`` is the unit of the time. ``short`` leaves only 2 groups. ``reverse`` sorts the
    newest first: it writes 62 ** 8 - 1 minus the time.
    """
    if precision not in ("s", "ms"):
        raise ValueError(f"precision={precision!r}: expected 's' or 'ms'")
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
        tick_ns=SECOND if precision == "s" else MILLISECOND,
    )


_WITHOUT_OPTIONS = (
    *(UUID1, UUID6, UUID7, COMB13),
    *(ULID, HEXULID, TIMEFLAKE, SCRU128, PUSHID),
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
    {scheme.name: scheme for scheme in _WITHOUT_OPTIONS}
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
