"""The schemes of 64 bits, whose values are integers: the rows of one table.

The topmost bit is 0, because a ``bigint`` is signed. Where it is the first bit of the time, ids of
the second half of that time don't exist here.
"""

from dataclasses import dataclass, replace
from typing import Literal

from ..alphabets import BASE62, CROCKFORD
from ..layout import Layout
from ..text_forms import Base64URL, Decimal, Digits
from ..time_scheme import MILLISECOND, TimeScheme
from . import epoch, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """``time | worker | sequence``, each a number of digits in ``base``: bits, or decimal digits.

    The sequence has the digits that the other two leave.
    """

    name: str
    title: str
    specification: str
    base: Literal[2, 10] = 2
    digits: int = 63
    time: int
    worker: int = 0
    """0: the whole suffix is random, and there are no worker numbers."""
    workers: range = range(64)
    """Which widths a worker number may have."""
    worker_option: str = "worker_bits"
    """The option that sets its width."""
    worker_last: bool = False
    """``time | sequence | worker`` instead."""
    largest: int | None = None
    """The largest id, if it is less than the digits allow. Each id then has all the digits."""
    epoch_ms: int = 0
    """Unix time of tick 0."""
    tick_ns: int = MILLISECOND
    aliases: tuple[str, str] = ("", "")
    """Characters of the text in base 32, and what they are read as."""
    public_encoding: str | None = None
    """The encoding in which the ids are usually shown; None: decimal digits."""

    def scheme(self, **options: int | None) -> TimeScheme:
        """The scheme of this row, with other values of its fields; those of None stay as they are.

        Raises ``ValueError`` for widths that it can't have.
        """
        changed = {name: value for name, value in options.items() if value is not None}
        named = {"digits": "bits", "time": "time_bits", "worker": self.worker_option}
        for name, value in changed.items():
            if not isinstance(value, int):
                raise ValueError(f"{named.get(name, name)}={value!r}: expected a whole number")
        if changed:
            return replace(self, **changed).scheme()  # type: ignore[arg-type]
        most = 63 if self.base == 2 else 19
        if self.digits not in range(2, most + 1):
            raise ValueError(f"bits={self.digits}: expected 2 to {most}")
        epoch_ns = epoch(self.epoch_ms)
        sequence = self.digits - self.time - self.worker
        wrong_time = not 1 <= self.time < self.digits
        if wrong_time or sequence < 0 or self.worker not in self.workers:
            raise ValueError(
                f"time_bits={self.time}, {self.worker_option}={self.worker}, "
                f"sequence_bits={sequence}: expected 1 to {self.digits - 1}, {self.workers[0]} to "
                f"{self.workers[-1]}, 0 or more, together {self.digits}"
            )
        suffixes = self.base ** (self.digits - self.time)
        largest = self.largest or self.base**self.digits - 1
        return TimeScheme(
            name=self.name,
            title=self.title,
            specification=self.specification,
            bits=64,
            value_type=int,
            text_forms=(
                ("decimal", Decimal(len(str(largest)), keeps_order=self.largest is not None)),
                ("base62", Digits(BASE62, 11)),
                ("base32", Digits(CROCKFORD, 13, fold="upper", aliases=self.aliases)),
                ("base64url", Base64URL(8)),
            ),
            public_encoding=self.public_encoding,
            layout=Layout(
                ticks=largest // suffixes + 1,
                suffixes=suffixes,
                workers=self.base**self.worker if self.worker else None,
                worker_last=self.worker_last,
                smallest=self.base ** (self.digits - 1) if self.largest else 0,
                largest=self.largest,
            ),
            epoch_ns=epoch_ns,
            tick_ns=self.tick_ns,
        )


SNOWFLAKES = {
    "twitter": Integer(
        name="snowflake",
        title="snowflake",
        specification="https://github.com/twitter-archive/snowflake, tag snowflake-2010",
        time=41,
        worker=10,
        epoch_ms=1_288_834_974_657,  # 2010-11-04T01:42:54.657Z
    ),
    # worker 5 | process 5: together they are one worker number of 10 bits
    "discord": Integer(
        name="discord",
        title="Discord snowflake",
        specification="https://discord.com/developers/docs/reference#snowflakes",
        time=41,
        worker=10,
        epoch_ms=1_420_070_400_000,  # 2015-01-01
    ),
    # the worker number is the number of the shard
    "instagram": Integer(
        name="instagram",
        title="Instagram id",
        specification='Instagram Engineering, "Sharding & IDs at Instagram"',
        time=40,
        worker=13,
        epoch_ms=1_314_220_021_721,  # 2011-08-24T21:07:01.721Z
    ),
    "mastodon": Integer(
        name="mastodon",
        title="Mastodon id",
        specification="https://github.com/mastodon/mastodon, lib/mastodon/snowflake.rb",
        time=47,
    ),
    # one id per node and 10 us
    "unique_rowid": Integer(
        name="unique_rowid",
        title="unique_rowid",
        specification="CockroachDB, unique_rowid()",
        time=48,
        worker=15,
        epoch_ms=1_420_070_400_000,  # 2015-01-01
        tick_ns=MILLISECOND // 100,
    ),
}

_SONYFLAKE = Integer(
    name="sonyflake",
    title="Sonyflake",
    specification="https://github.com/sony/sonyflake",
    time=39,
    worker=16,
    workers=range(1, 63),
    worker_last=True,
    tick_ns=10 * MILLISECOND,
)
_SONYFLAKES = {
    1: replace(_SONYFLAKE, epoch_ms=1_409_529_600_000),  # 2014-09-01
    2: replace(_SONYFLAKE, epoch_ms=1_735_689_600_000),  # 2025-01-01
}

_TSID = Integer(
    name="tsid",
    title="TSID",
    specification="https://github.com/f4b6a3/tsid-creator",
    time=41,
    worker=10,
    workers=range(21),
    worker_option="node_bits",
    epoch_ms=1_577_836_800_000,  # 2020-01-01
    aliases=("ILO", "110"),
    public_encoding="base32",
)

_TENTHS = Integer(
    name="time64",
    title="64-bit decimal time id",
    specification="https://gist.github.com/gnat/774bc540c0b300146cdedb0744bad081",
    base=10,
    digits=19,
    time=14,
    largest=2**63 - 1,
    tick_ns=MILLISECOND // 10,
)
_TIME64 = {"4+5": _TENTHS, "3+6": replace(_TENTHS, time=13, tick_ns=MILLISECOND)}


def snowflake(
    *,
    layout: Literal["twitter", "discord", "instagram", "mastodon", "unique_rowid"] = "twitter",
    epoch_ms: int | None = None,
    time_bits: int | None = None,
    worker_bits: int | None = None,
    bits: int | None = None,
) -> TimeScheme:
    """A row of ``SNOWFLAKES``: ``layout`` sets the bits and the epoch.

    ``epoch_ms`` is another epoch, Unix time in ms. ``time_bits`` and ``worker_bits`` set a split,
    ``bits`` how many there are together: 53 are safe in JavaScript.
    """
    row = one_of(SNOWFLAKES, layout=layout)
    return row.scheme(epoch_ms=epoch_ms, time=time_bits, worker=worker_bits, digits=bits)


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
    row = one_of(_SONYFLAKES, version=version)
    time = row.digits - sequence_bits - worker_bits
    return row.scheme(epoch_ms=epoch_ms, time=time, worker=worker_bits)


def tsid(*, node_bits: int = 10, epoch_ms: int = _TSID.epoch_ms) -> TimeScheme:
    """``time 41 | node 10 | counter 12``, in ms from 2020-01-01. Its usual text is ``base32``.

    ``node_bits`` is 0 to 20 of the 22 bits after the time. The default is 10, as in tsid-creator;
    with 0, all 22 bits are random. ``epoch_ms`` is another epoch, as Unix time in ms.
    """
    return _TSID.scheme(epoch_ms=epoch_ms, worker=node_bits)


def time64(*, layout: Literal["4+5", "3+6"] = "4+5", workers: int | None = None) -> TimeScheme:
    """A 19-digit decimal number: 10 digits of Unix seconds, then the digits of ``layout``.

    ``"4+5"``: 4 digits of 0.1 ms and 5 of suffix. ``"3+6"``: 3 digits of ms and 6 of suffix. The
    suffix is random. With ``workers``, a power of ten, its first digits are a worker number and the
    rest a sequence. From 2001-09-09T01:46:40Z, when seconds reach 10 digits, to 2262-04-11.
    """
    row = one_of(_TIME64, layout=layout)
    widths = {10**digits: digits for digits in range(1, row.digits - row.time)}
    if workers not in (None, *widths):
        raise ValueError(f"workers={workers!r}: expected a power of 10 from 10 to {max(widths)}")
    return row.scheme(worker=None if workers is None else widths[workers])
