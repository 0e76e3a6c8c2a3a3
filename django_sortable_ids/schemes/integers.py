"""The schemes of 64 bits, whose values are integers.

If the time uses the topmost of the 64 bits, the numbers are unsigned. In the last half of the range
they are above 2 ** 63 - 1, more than a signed ``bigint`` holds.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from .encodings.alphabets import BASE62, CROCKFORD
from .encodings.text_forms import Base64URL, Decimal, Digits, TextForm
from .layout import Layout
from .time_scheme import MILLISECOND, TimeScheme

_BASE32 = Digits(CROCKFORD, 13, fold="upper")


def _forms(decimal: Decimal, base32: Digits = _BASE32) -> tuple[tuple[str, TextForm], ...]:
    return (
        ("decimal", decimal),
        ("base62", Digits(BASE62, 11)),
        ("base32", base32),
        ("base64url", Base64URL(8)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snowflake:
    """A layout of ``snowflake``: ``time | worker | sequence``, with its default bits and epoch."""

    title: str
    specification: str
    bits: int
    time_bits: int
    worker_bits: int = 0
    """0: the whole suffix is random, and there are no worker numbers."""
    epoch_ms: int
    tick_ns: int = MILLISECOND


SNOWFLAKES = MappingProxyType(
    {
        "twitter": _Snowflake(
            title="snowflake",
            specification="https://github.com/twitter-archive/snowflake, tag snowflake-2010",
            bits=63,
            time_bits=41,
            worker_bits=10,
            epoch_ms=1_288_834_974_657,  # 2010-11-04T01:42:54.657Z
        ),
        # worker 5 | process 5: together they are one worker number of 10 bits
        "discord": _Snowflake(
            title="Discord snowflake",
            specification="https://discord.com/developers/docs/reference#snowflakes",
            bits=64,
            time_bits=42,
            worker_bits=10,
            epoch_ms=1_420_070_400_000,  # 2015-01-01
        ),
        # the worker number is the number of the shard
        "instagram": _Snowflake(
            title="Instagram id",
            specification='Instagram Engineering, "Sharding & IDs at Instagram"',
            bits=64,
            time_bits=41,
            worker_bits=13,
            epoch_ms=1_314_220_021_721,  # 2011-08-24T21:07:01.721Z
        ),
        # the format has 48 bits of time; a signed column leaves 47
        "mastodon": _Snowflake(
            title="Mastodon id",
            specification="https://github.com/mastodon/mastodon, lib/mastodon/snowflake.rb",
            bits=63,
            time_bits=47,
            epoch_ms=0,
        ),
        # one id per node and 10 us
        "unique_rowid": _Snowflake(
            title="unique_rowid",
            specification="CockroachDB, unique_rowid()",
            bits=63,
            time_bits=48,
            worker_bits=15,
            epoch_ms=1_420_070_400_000,  # 2015-01-01
            tick_ns=MILLISECOND // 100,
        ),
    }
)


@lru_cache
def snowflake(
    *,
    layout: Literal["twitter", "discord", "instagram", "mastodon", "unique_rowid"] = "twitter",
    epoch_ms: int | None = None,
    time_bits: int | None = None,
    worker_bits: int | None = None,
) -> TimeScheme:
    """``time | worker | sequence``, 63 or 64 bits in all; ``layout`` sets the bits and the epoch.

    ``twitter`` is ``41 | 10 | 12``, ``discord`` is ``42 | 10 | 12`` and ``instagram`` is
    ``41 | 13 | 10``, all in ms. ``mastodon`` is ``47 | random 16`` in ms. ``unique_rowid`` is
    ``48 | 15`` in units of 10 us, like CockroachDB's.

    ``epoch_ms`` is another epoch, Unix time in ms. ``time_bits`` and ``worker_bits`` set a split.
    """
    if layout not in SNOWFLAKES:
        raise ValueError(f"layout={layout!r}: expected {', '.join(SNOWFLAKES)}")
    usual = SNOWFLAKES[layout]
    time_bits = usual.time_bits if time_bits is None else time_bits
    worker_bits = usual.worker_bits if worker_bits is None else worker_bits
    suffix_bits = usual.bits - time_bits
    if not 1 <= time_bits < usual.bits or not 0 <= worker_bits <= suffix_bits:
        raise ValueError(
            f"time_bits={time_bits}, worker_bits={worker_bits}: "
            f"expected time_bits from 1 to {usual.bits - 1} and worker_bits from 0, "
            f"together at most {usual.bits}"
        )
    return TimeScheme(
        name="snowflake" if layout == "twitter" else layout,
        title=usual.title,
        specification=usual.specification,
        bits=64,
        value_type=int,
        text_forms=_forms(Decimal(len(str(2**usual.bits - 1)))),
        layout=Layout(
            ticks=1 << time_bits,
            suffixes=1 << suffix_bits,
            workers=1 << worker_bits if worker_bits else None,
        ),
        epoch_ns=(usual.epoch_ms if epoch_ms is None else epoch_ms) * MILLISECOND,
        tick_ns=usual.tick_ns,
    )


_SONYFLAKE_EPOCHS_MS = {1: 1_409_529_600_000, 2: 1_735_689_600_000}


@lru_cache
def sonyflake(
    *,
    version: Literal[1, 2] = 2,
    epoch_ms: int | None = None,
    sequence_bits: int = 8,
    worker_bits: int = 16,
) -> TimeScheme:
    """``time 39 | sequence 8 | machine 16`` in units of 10 ms: 256 ids per machine in each unit.

    ``version`` is the release of sony/sonyflake that defines the epoch: 1 counts from 2014-09-01,
    2 from 2025-01-01. The default is 2, for new tables: this release is maintained, and its ids
    last ten years longer, until 2199. An id does not contain its version, and the wrong version
    gives a time that is ten years off. So existing ids need the version that generated them.
    ``epoch_ms`` is another ``StartTime``, Unix time in ms. ``sequence_bits`` and ``worker_bits``
    set another split.
    """
    if version not in _SONYFLAKE_EPOCHS_MS:
        raise ValueError(f"version={version!r}: expected 1 or 2")
    suffix_bits = sequence_bits + worker_bits
    if sequence_bits < 0 or worker_bits < 1 or suffix_bits > 62:
        raise ValueError(
            f"sequence_bits={sequence_bits}, worker_bits={worker_bits}: "
            f"expected sequence_bits from 0 and worker_bits from 1, together at most 62"
        )
    return TimeScheme(
        name="sonyflake",
        title="Sonyflake",
        specification="https://github.com/sony/sonyflake",
        bits=64,
        value_type=int,
        text_forms=_forms(Decimal(19)),
        layout=Layout(
            ticks=1 << 63 - suffix_bits,
            suffixes=1 << suffix_bits,
            workers=1 << worker_bits,
            worker_last=True,
        ),
        epoch_ns=(_SONYFLAKE_EPOCHS_MS[version] if epoch_ms is None else epoch_ms) * MILLISECOND,
        tick_ns=10 * MILLISECOND,
    )


@lru_cache
def tsid(*, node_bits: int = 10, epoch_ms: int = 1_577_836_800_000) -> TimeScheme:
    """``time 42 | node 10 | counter 12``, in ms from 2020-01-01. Its usual text is ``base32``.

    ``node_bits`` is 0 to 20 of the 22 bits after the time. The default is 10, as in tsid-creator;
    with 0, all 22 bits are random. ``epoch_ms`` is another epoch, as Unix time in ms. From
    2089-09-06 on, ids are above 2 ** 63 - 1.
    """
    if not 0 <= node_bits <= 20:
        raise ValueError(f"node_bits={node_bits}: expected 0 to 20")
    return TimeScheme(
        name="tsid",
        title="TSID",
        specification="https://github.com/f4b6a3/tsid-creator",
        bits=64,
        value_type=int,
        text_forms=_forms(Decimal(20), replace(_BASE32, aliases=("ILO", "110"))),
        layout=Layout(
            ticks=1 << 42, suffixes=1 << 22, workers=1 << node_bits if node_bits else None
        ),
        epoch_ns=epoch_ms * MILLISECOND,
        tick_ns=MILLISECOND,
    )


@lru_cache
def time64(*, layout: Literal["4+5", "3+6"] = "4+5", workers: int | None = None) -> TimeScheme:
    """A 19-digit decimal number: 10 digits of Unix seconds, then the digits of ``layout``.

    ``"4+5"``: 4 digits of 0.1 ms and 5 of suffix. ``"3+6"``: 3 digits of ms and 6 of suffix. The
    suffix is random. With ``workers``, a power of ten, its first digits are a worker number and the
    rest a sequence. From 2001-09-09T01:46:40Z, when seconds reach 10 digits, to 2262-04-11.
    """
    if layout not in ("4+5", "3+6"):
        raise ValueError(f"layout={layout!r}: expected '4+5' or '3+6'")
    suffixes, tick_ns = (10**5, MILLISECOND // 10) if layout == "4+5" else (10**6, MILLISECOND)
    if workers not in (None, *(10**n for n in range(1, len(str(suffixes)) - 1))):
        raise ValueError(f"workers={workers}: expected a power of ten from 10 to {suffixes // 10}")
    return TimeScheme(
        name="time64",
        title="64-bit decimal time id",
        specification="https://gist.github.com/gnat/774bc540c0b300146cdedb0744bad081",
        bits=64,
        value_type=int,
        text_forms=_forms(Decimal(19, keeps_order=True)),
        layout=Layout(
            ticks=(2**63 - 1) // suffixes + 1,
            suffixes=suffixes,
            workers=workers,
            smallest=10**18,
            largest=2**63 - 1,
        ),
        tick_ns=tick_ns,
    )
