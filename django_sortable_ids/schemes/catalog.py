"""The table of schemes: a row each. What a row does not say is derived from what it says.

Bits are drawn most significant first.
"""

import uuid
from collections.abc import Callable
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from .alphabets import BASE58, BASE62, CROCKFORD, CROCKFORD_LOWER, HEX_UPPER, SHORTUUID
from .frames import TimeLowFirstFrame, UUIDFrame
from .layout import Layout
from .scheme import Scheme
from .sequence import lexical_sequence
from .text_forms import Base64URL, Decimal, Digits, Groups, SQLServerText, TextForm, UUIDText
from .time_scheme import TimeScheme

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
GREGORIAN_EPOCH_NS = -12_219_292_800 * SECOND
"""1582-10-15, from which UUID versions 1 and 6 count 100 ns ticks (RFC 9562, section 5.1)."""

_UUID_FORMS: tuple[tuple[str, TextForm], ...] = (
    ("canonical", UUIDText()),
    ("hex", UUIDText(hyphens=False)),
    ("base32", Digits(CROCKFORD_LOWER, 26)),
    ("base58", Digits(BASE58, 22)),
    ("base62", Digits(BASE62, 22)),
    ("shortuuid", Digits(SHORTUUID, 22)),
)


def _int64_forms(decimal: Decimal) -> tuple[tuple[str, TextForm], ...]:
    return (
        ("decimal", decimal),
        ("base62", Digits(BASE62, 11)),
        ("base32", Digits(CROCKFORD, 13, fold="upper")),
        ("base64url", Base64URL(8)),
    )


# time 48 | version 4 | random 12 | variant 2 | random 62
UUID7 = TimeScheme(
    name="uuid7",
    title="UUIDv7",
    specification="RFC 9562, section 5.7",
    bits=128,
    value_type=uuid.UUID,
    text_forms=_UUID_FORMS,
    layout=Layout(ticks=1 << 48, tails=1 << 74, frame=UUIDFrame(7)),
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
    layout=Layout(ticks=1 << 60, tails=1 << 62, frame=UUIDFrame(6)),
    epoch_ns=GREGORIAN_EPOCH_NS,
    tick_ns=100,
)

# As UUIDv6, with the version nibble 13, which RFC 9562 reserves for the future.
COMB13 = TimeScheme(
    name="comb13",
    title="COMB UUID (version 13)",
    specification='Michael Lambert, "Custom UUID as primary key"',
    bits=128,
    value_type=uuid.UUID,
    text_forms=(*_UUID_FORMS, ("sqlserver", SQLServerText(13))),
    layout=Layout(ticks=1 << 60, tails=1 << 62, frame=UUIDFrame(13)),
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
    layout=Layout(ticks=1 << 60, tails=1 << 62, frame=TimeLowFirstFrame()),
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
    layout=Layout(ticks=1 << 48, tails=1 << 80),
    tick_ns=MILLISECOND,
)

# time 48 | random 80, as 12 and 20 hexadecimal digits, which SQLite can make by itself
HEXULID = TimeScheme(
    name="hexulid",
    title="hex ULID",
    specification='Stephen Margheim, "SQLite Hex-ULIDs"',
    bits=128,
    value_type=str,
    text_forms=(("canonical", Digits(HEX_UPPER, 32)),),
    stored_as_text=True,
    layout=Layout(ticks=1 << 48, tails=1 << 80),
    tick_ns=MILLISECOND,
)


@lru_cache
def snowflake(
    *, epoch_ms: int = 1_288_834_974_657, time_bits: int = 41, worker_bits: int = 10
) -> TimeScheme:
    """Twitter's 63 bits: ``time 41 | worker 10 | sequence 12``, from 2010-11-04T01:42:54.657Z.

    ``epoch_ms`` is the Unix time in ms that another epoch starts at; ``time_bits`` and
    ``worker_bits`` split the 63 bits otherwise.
    """
    tail_bits = 63 - time_bits
    if not 1 <= time_bits <= 62 or not 0 <= worker_bits <= tail_bits:
        raise ValueError(
            f"time_bits={time_bits}, worker_bits={worker_bits}: together they have 63 bits at most"
        )
    return TimeScheme(
        name="snowflake",
        title="snowflake",
        specification="https://github.com/twitter-archive/snowflake, tag snowflake-2010",
        bits=64,
        value_type=int,
        text_forms=_int64_forms(Decimal(19)),
        layout=Layout(ticks=1 << time_bits, tails=1 << tail_bits, workers=1 << worker_bits),
        epoch_ns=epoch_ms * MILLISECOND,
        tick_ns=MILLISECOND,
    )


@lru_cache
def time64(*, layout: Literal["4+5", "3+6"] = "4+5", workers: int | None = None) -> TimeScheme:
    """A 19-digit decimal number: 10 digits of Unix seconds, then those of ``layout``.

    ``"4+5"``: 4 digits of 0.1 ms and 5 of tail; ``"3+6"``: 3 digits of ms and 6 of tail. The tail
    is random; with ``workers``, a power of ten, its first digits are a worker number and the rest
    a sequence. From 2001-09-09T01:46:40Z, where seconds get their tenth digit, to 2262-04-11.
    """
    if layout not in ("4+5", "3+6"):
        raise ValueError(f"layout={layout!r}: expected '4+5' or '3+6'")
    tails, tick_ns = (10**5, MILLISECOND // 10) if layout == "4+5" else (10**6, MILLISECOND)
    if workers not in (None, *(10**n for n in range(1, len(str(tails)) - 1))):
        raise ValueError(f"workers={workers}: expected a power of ten from 10 to {tails // 10}")
    return TimeScheme(
        name="time64",
        title="64-bit decimal time id",
        specification="https://gist.github.com/gnat/774bc540c0b300146cdedb0744bad081",
        bits=64,
        value_type=int,
        text_forms=_int64_forms(Decimal(19, keeps_order=True)),
        layout=Layout(
            ticks=(2**63 - 1) // tails + 1,
            tails=tails,
            workers=workers,
            smallest=10**18,
            largest=2**63 - 1,
        ),
        tick_ns=tick_ns,
    )


@lru_cache
def kuuid(
    *, precision: Literal["s", "ms"] = "s", reverse: bool = False, short: bool = False
) -> TimeScheme:
    """8 characters of time and 4 groups of 6, 32 random bits each; 2 groups where ``short``.

    ``reverse`` puts the newest first: the time is written as 62 ** 8 - 1 less itself.
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
        layout=Layout(ticks=62**8, tails=1 << 32 * groups, descending=reverse),
        tick_ns=SECOND if precision == "s" else MILLISECOND,
    )


_ROWS = (UUID1, UUID6, UUID7, COMB13, ULID, HEXULID)

_FAMILIES: dict[str, Callable[..., Scheme]] = {
    "snowflake": snowflake,
    "time64": time64,
    "kuuid": kuuid,
    "kuuid_ms": lambda **options: kuuid(precision="ms", **options),
    "lexical_sequence": lru_cache(lexical_sequence),
}

_CATALOG = MappingProxyType(
    {row.name: row for row in _ROWS} | {name: make() for name, make in _FAMILIES.items()}
)


def get(name: str, **options: Any) -> Scheme:
    """The scheme with that name; ``options`` are those of its family, such as ``layout="3+6"``.

    Raises ``LookupError`` for an unknown name, ``TypeError`` for an option that it hasn't.
    """
    if name not in _CATALOG:
        raise LookupError(f"no scheme {name!r}; there are {', '.join(sorted(_CATALOG))}")
    if not options:
        return _CATALOG[name]
    if name not in _FAMILIES:
        raise TypeError(f"scheme {name!r} has no options, found {', '.join(options)}")
    return _FAMILIES[name](**options)


def all_schemes() -> tuple[Scheme, ...]:
    """Every scheme of the catalogue, with its default options."""
    return tuple(_CATALOG.values())
