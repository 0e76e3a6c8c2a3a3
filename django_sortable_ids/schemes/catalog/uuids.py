"""The schemes of UUIDs, each a function from its options to the scheme.

Bit layouts are written most significant bit first.
"""

from typing import Any

from ..alphabets import BASE36_LOWER, BASE58, BASE62, CROCKFORD_LOWER, SHORTUUID
from ..layout import VERSION_1, SuffixPart, UUIDTemplate
from ..text_forms import Digits, SQLServerText, TextForm, UUIDText
from ..time_scheme import SECOND, TimeScheme
from . import entry

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


def uuid1() -> TimeScheme:
    """``time_low 32 | time_mid 16 | version 4 | time_high 12 | variant 2 | clock sequence 14 |
    node 48``."""
    return entry("uuid1", "UUIDv1", "RFC 9562, section 5.1", _HEXADECIMAL, VERSION_1, **_GREGORIAN)


def uuid6() -> TimeScheme:
    """``time 48 | version 4 | time 12 | variant 2 | clock sequence 14 | node 48``; the last two are
    random."""
    template = UUIDTemplate(6)
    return entry("uuid6", "UUIDv6", "RFC 9562, section 5.6", _FORMS, template, **_GREGORIAN)


def uuid7() -> TimeScheme:
    """``time 48 | version 4 | random 12 | variant 2 | random 62``, in ms."""
    template = UUIDTemplate(7)
    return entry("uuid7", "UUIDv7", "RFC 9562, section 5.7", _FORMS, template, time=48, suffix=74)


def comb13() -> TimeScheme:
    """Like UUIDv6, but with version 13, which RFC 9562 reserves for future use."""
    specification = 'Michael Lambert, "Custom UUID as primary key"'
    forms, template = (*_FORMS, ("sqlserver", SQLServerText(13))), UUIDTemplate(13)
    return entry("comb13", "COMB UUID (version 13)", specification, forms, template, **_GREGORIAN)


def comb4() -> TimeScheme:
    """``time 48 | version 4 | random 12 | variant 2 | random 62``, in units of 10 us."""
    return entry(
        "comb4",
        "COMB UUID (version 4)",
        "Laravel, Str::orderedUuid(): ramsey/uuid, CombGenerator and TimestampFirstCombCodec",
        _FORMS,
        UUIDTemplate(4),
        time=48,
        suffix=74,
        tick_ns=10_000,
    )
