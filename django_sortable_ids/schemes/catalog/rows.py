"""The schemes without options. All other properties of a scheme are derived from its row here.

Bit layouts are written most significant bit first.
"""

import uuid
from typing import Any

from ..encodings.alphabets import (
    BASE36_LOWER,
    BASE58,
    BASE62,
    CROCKFORD,
    CROCKFORD_LOWER,
    HEX_UPPER,
    PUSH_ID,
    SHORTUUID,
)
from ..encodings.text_forms import Digits, Prefixed, SQLServerText, TextForm, UUIDText
from ..layout import (
    PLAIN,
    BitTemplate,
    Layout,
    PlacedTemplate,
    SuffixPart,
    TimeLowFirstTemplate,
    UUIDTemplate,
)
from ..time_scheme import MILLISECOND, SECOND, TimeScheme

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

UUID_FORMS: tuple[tuple[str, TextForm], ...] = (
    ("canonical", UUIDText()),
    ("hex", UUIDText(hyphens=False)),
    ("base32", Digits(CROCKFORD_LOWER, 26)),
    ("base36", Digits(BASE36_LOWER, 25, fold="lower")),
    ("base58", Digits(BASE58, 22)),
    ("base62", Digits(BASE62, 22)),
    ("shortuuid", Digits(SHORTUUID, 22)),
)


def row(
    name: str,
    title: str,
    specification: str,
    forms: TextForm | tuple[tuple[str, TextForm], ...],
    *,
    time: int,
    suffix: int,
    worker: int = 0,
    set_bit: int | None = None,
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
            set_bit=set_bit,
        ),
        tick_ns=tick_ns,
        **others,
    )


ROWS = (
    # time_low 32 | time_mid 16 | version 4 | time_high 12 | variant 2 | clock sequence 14 | node 48
    row(
        "uuid1",
        "UUIDv1",
        "RFC 9562, section 5.1",
        UUID_FORMS[:2],
        **_GREGORIAN,
        template=TimeLowFirstTemplate(),
    ),
    # time 48 | version 4 | time 12 | variant 2 | clock sequence 14 | node 48, both random here
    row(
        "uuid6",
        "UUIDv6",
        "RFC 9562, section 5.6",
        UUID_FORMS,
        **_GREGORIAN,
        template=UUIDTemplate(6),
    ),
    # time 48 | version 4 | random 12 | variant 2 | random 62
    row(
        "uuid7",
        "UUIDv7",
        "RFC 9562, section 5.7",
        UUID_FORMS,
        time=48,
        suffix=74,
        template=UUIDTemplate(7),
    ),
    # Like UUIDv6, but with version 13, which RFC 9562 reserves for future use.
    row(
        "comb13",
        "COMB UUID (version 13)",
        'Michael Lambert, "Custom UUID as primary key"',
        (*UUID_FORMS, ("sqlserver", SQLServerText(13))),
        **_GREGORIAN,
        template=UUIDTemplate(13),
    ),
    row(
        "ulid",
        "ULID",
        "https://github.com/ulid/spec",
        Digits(CROCKFORD, 26, fold="upper"),
        time=48,
        suffix=80,
    ),
    # 12 and 20 hexadecimal digits, which SQLite can generate itself
    row(
        "hexulid",
        "hex ULID",
        'Stephen Margheim, "SQLite Hex-ULIDs"',
        Digits(HEX_UPPER, 32, fold="upper"),
        time=48,
        suffix=80,
        stored_as_text=True,
    ),
    row(
        "timeflake",
        "Timeflake",
        "https://github.com/anthonynsimon/timeflake",
        Digits(BASE62, 22),
        time=48,
        suffix=80,
    ),
    # counter 24 | counter 24 | entropy 32 are random here. The specification reserves the first and
    # the last time, which no clock shows. Ids with these times are valid here.
    row(
        "scru128",
        "SCRU128",
        "https://github.com/scru128/spec, version 2",
        Digits(BASE36_LOWER, 25, fold="lower"),
        time=48,
        suffix=80,
        suffix_parts=(
            SuffixPart("high counter", 1 << 24, "sequence"),
            SuffixPart("low counter", 1 << 24, "sequence"),
            SuffixPart("entropy", 1 << 32),
        ),
    ),
    row(
        "pushid",
        "push id",
        'Firebase, "The 2^120 Ways to Ensure Unique Identifiers"',
        Digits(PUSH_ID, 20),
        time=48,
        suffix=72,
        stored_as_text=True,
    ),
    # time 64 | node 48 | sequence 16, both random here. The ids of the years 1975 to 2284 have 18
    # digits; flake writes no zeros before them.
    TimeScheme(
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
        tick_ns=MILLISECOND,
    ),
    # c | time 8 | counter 4 | fingerprint 4 | random 8, digits of base 36; all but the time are
    # random here
    TimeScheme(
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
        tick_ns=MILLISECOND,
    ),
)
"""The schemes without options."""

COMB4 = {
    # time 48 | version 4 | random 12 | variant 2 | random 62, in units of 10 us
    "laravel": row(
        "comb4",
        "COMB UUID (version 4)",
        "Laravel, Str::orderedUuid(): ramsey/uuid, CombGenerator and TimestampFirstCombCodec",
        UUID_FORMS,
        time=48,
        suffix=74,
        template=UUIDTemplate(4),
        tick_ns=10_000,
    ),
    # 00 | time 46 | version 4 | time 12 | 1000 | time 4 | random 56, in units of 100 ns
    "pomelo": row(
        "comb4_pomelo",
        "COMB UUID of Pomelo",
        "Pomelo.EntityFrameworkCore.MySql, MySqlSequentialGuidValueGenerator",
        UUID_FORMS,
        time=62,
        suffix=56,
        template=PlacedTemplate(
            places=((46, 72, 80), (12, 60, 64), (4, 56, 56), (56, 0, 0)),
            fixed=4 << 76 | 0b1000 << 60,
            fixed_mask=0b11 << 126 | 0xF << 76 | 0xF << 60,
            keeps_order=True,
            run_bits=56,
        ),
        epoch_ns=_YEAR_1_NS,
        tick_ns=100,
    ),
    # random 48 | version 4 | random 12 | low time 16 | 00 | high time 46: SQL Server sorts by the
    # last six bytes first
    "efcore": row(
        "comb4_efcore",
        "sequential GUID of EF Core",
        "Entity Framework Core, SequentialGuidValueGenerator",
        UUID_FORMS[:2],
        time=62,
        suffix=60,
        template=PlacedTemplate(
            places=((46, 76, 0), (16, 60, 48), (48, 12, 80), (12, 0, 64)),
            fixed=4 << 76,
            fixed_mask=0xF << 76 | 0b11 << 46,
            keeps_order=False,
            run_bits=0,
        ),
        epoch_ns=_YEAR_1_NS,
        tick_ns=100,
    ),
}
"""Version 4 UUIDs that begin or end with their time, by who generates them."""
