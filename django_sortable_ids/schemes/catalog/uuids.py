"""The schemes of UUIDs, each a function from its options to the scheme.

Bit layouts are written most significant bit first.
"""

from functools import lru_cache
from typing import Any, Literal

from ..encodings.alphabets import BASE36_LOWER, BASE58, BASE62, CROCKFORD_LOWER, SHORTUUID
from ..encodings.text_forms import Digits, SQLServerText, TextForm, UUIDText
from ..generation.generator import Node
from ..layout import VERSION_1, ReorderedTemplate, SuffixPart, UUIDTemplate
from ..time_scheme import SECOND, TimeScheme
from .rows import one_of, row

_YEAR_1_NS = -62_135_596_800 * SECOND
"""The epoch of .NET: 0001-01-01."""

_GREGORIAN: Any = {
    "time": 60,
    "suffix": 62,
    "set_bit": 40,
    "suffix_parts": (
        SuffixPart("clock sequence", 1 << 14, "sequence"),
        SuffixPart("node", 1 << 48, "worker"),
    ),
    "epoch_ns": -12_219_292_800 * SECOND,
    "tick_ns": 100,
}
"""UUID versions 1 and 6 count 100 ns ticks from 1582-10-15 (RFC 9562, section 5.1). A random node
has the multicast bit, which no MAC address has (section 6.10)."""

_HEXADECIMAL = (("canonical", UUIDText()), ("hex", UUIDText(hyphens=False)))
_FORMS: tuple[tuple[str, TextForm], ...] = (
    *_HEXADECIMAL,
    ("base32", Digits(CROCKFORD_LOWER, 26)),
    ("base36", Digits(BASE36_LOWER, 25, fold="lower")),
    ("base58", Digits(BASE58, 22)),
    ("base62", Digits(BASE62, 22)),
    ("shortuuid", Digits(SHORTUUID, 22)),
)


@lru_cache
def uuid1() -> TimeScheme:
    """``time_low 32 | time_mid 16 | version 4 | time_high 12 | variant 2 | clock sequence 14 |
    node 48``."""
    return row(
        "uuid1",
        "UUIDv1",
        "RFC 9562, section 5.1",
        _HEXADECIMAL,
        **_GREGORIAN,
        template=VERSION_1,
    )


def uuid6(*, node: Node | None = None) -> TimeScheme:
    """``time 48 | version 4 | time 12 | variant 2 | clock sequence 14 | node 48``; the last two are
    random without ``node``."""
    return _gregorian("uuid6", "UUIDv6", "RFC 9562, section 5.6", 6, _checked_node(node))


@lru_cache
def uuid7() -> TimeScheme:
    """``time 48 | version 4 | random 12 | variant 2 | random 62``, in ms."""
    return row(
        "uuid7",
        "UUIDv7",
        "RFC 9562, section 5.7",
        _FORMS,
        time=48,
        suffix=74,
        template=UUIDTemplate(7),
    )


def comb13(*, node: Node | None = None) -> TimeScheme:
    """Like UUIDv6, but with version 13, which RFC 9562 reserves for future use."""
    specification = 'Michael Lambert, "Custom UUID as primary key"'
    return _gregorian("comb13", "COMB UUID (version 13)", specification, 13, _checked_node(node))


@lru_cache(typed=True)
def _gregorian(
    name: str, title: str, specification: str, version: int, node: Node | None
) -> TimeScheme:
    forms = (*_FORMS, ("sqlserver", SQLServerText(13))) if version == 13 else _FORMS
    template = UUIDTemplate(version)
    return row(name, title, specification, forms, **_GREGORIAN, template=template, node=node)


@lru_cache(typed=True)
def comb4(*, layout: Literal["laravel", "pomelo", "efcore"] = "laravel") -> TimeScheme:
    """A UUID of version 4 that begins or ends with its time; ``layout`` says who generates it.

    Those of ``"efcore"`` sort in SQL Server only.
    """
    return one_of({"laravel": _laravel, "pomelo": _pomelo, "efcore": _efcore}, layout=layout)()


def _laravel() -> TimeScheme:
    """``time 48 | version 4 | random 12 | variant 2 | random 62``, in units of 10 us."""
    return row(
        "comb4",
        "COMB UUID (version 4)",
        "Laravel, Str::orderedUuid(): ramsey/uuid, CombGenerator and TimestampFirstCombCodec",
        _FORMS,
        time=48,
        suffix=74,
        template=UUIDTemplate(4),
        tick_ns=10_000,
    )


def _pomelo() -> TimeScheme:
    """``00 | time 46 | version 4 | time 12 | 1000 | time 4 | random 56``, in units of 100 ns."""
    return row(
        "comb4_pomelo",
        "COMB UUID of Pomelo",
        "Pomelo.EntityFrameworkCore.MySql, MySqlSequentialGuidValueGenerator",
        _FORMS,
        time=62,
        suffix=56,
        template=ReorderedTemplate(
            version=4,
            runs=((46, 72, 80), (12, 60, 64), (4, 56, 56), (56, 0, 0)),
            fixed=4 << 76 | 0b1000 << 60,
            fixed_mask=0b11 << 126 | 0xF << 76 | 0xF << 60,
            keeps_order=True,
        ),
        epoch_ns=_YEAR_1_NS,
        tick_ns=100,
    )


def _efcore() -> TimeScheme:
    """``random 48 | version 4 | random 12 | low time 16 | 00 | high time 46``: SQL Server sorts by
    the last six bytes first."""
    return row(
        "comb4_efcore",
        "sequential GUID of EF Core",
        "Entity Framework Core, SequentialGuidValueGenerator",
        _HEXADECIMAL,
        time=62,
        suffix=60,
        template=ReorderedTemplate(
            version=4,
            runs=((46, 76, 0), (16, 60, 48), (48, 12, 80), (12, 0, 64)),
            fixed=4 << 76,
            fixed_mask=0xF << 76 | 0b11 << 46,
        ),
        epoch_ns=_YEAR_1_NS,
        tick_ns=100,
    )


def _checked_node(node: Any) -> Any:
    """The node; ``ValueError`` for anything but 48 bits, ``"random"`` or None."""
    is_number = isinstance(node, int) and not isinstance(node, bool)
    if node not in (None, "random") and not (is_number and node in range(1 << 48)):
        raise ValueError(
            f"node={node!r}: expected a whole number of 48 bits, such as 0x0123456789AB, or "
            f"'random' for one of each process"
        )
    return node
