"""What an id says, read from its specification and from the raw column. Imports nothing of ours."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PUSH = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_YEAR_10000 = 253_402_300_800 * SECOND
_BIGINT = 2**63


def unix(year: int, month: int = 1, day: int = 1, *time: int) -> int:
    """Nanoseconds since 1970."""
    return round(datetime(year, month, day, *time, tzinfo=UTC).timestamp()) * SECOND


@dataclass(frozen=True)
class Format:
    """One row of the specifications."""

    ticks: Callable[[int], int]
    """The tick in the number, or in the text's number."""
    tick: int
    """Nanoseconds."""
    epoch: int = 0
    """Nanoseconds from 1970."""
    end: int = _YEAR_10000
    """The first time that it can't hold."""
    start: int | None = None
    """The first time that it can hold, where that isn't the epoch."""
    bits: int = 128
    text: str | None = None
    """The digits of what is stored as text."""
    version: int | None = None
    reverse: bool = False

    def number(self, raw: Any) -> int:
        """What a driver returned for the column, as one big-endian number."""
        if isinstance(raw, uuid.UUID):
            return raw.int
        if isinstance(raw, bytes | bytearray | memoryview):
            assert len(bytes(raw)) * 8 == self.bits
            return int.from_bytes(bytes(raw), "big")
        if isinstance(raw, str):
            return self._of_text(raw)
        assert isinstance(raw, int)
        assert 0 <= raw < _BIGINT
        return raw

    def _of_text(self, raw: str) -> int:
        if self.text is None:
            digits = raw.replace("-", "")
            assert len(digits) == 32
            return int(digits, 16)
        number = 0
        for character in raw:
            number = number * len(self.text) + self.text.index(character)
        return number

    def time(self, raw: Any) -> int:
        """Nanoseconds since 1970."""
        return self.epoch + self.ticks(self.number(raw)) * self.tick

    def floor(self, moment: datetime) -> int:
        """The tick of a time, in nanoseconds since 1970."""
        since = nanoseconds(moment) - self.epoch
        return self.epoch + since // self.tick * self.tick

    def last(self) -> datetime:
        """The last second that it can hold."""
        return datetime.fromtimestamp((self.end - 1) // SECOND, UTC)

    def holds(self, moment: datetime) -> bool:
        first = self.epoch if self.start is None else self.start
        return first <= nanoseconds(moment) < self.end


def nanoseconds(moment: datetime) -> int:
    since = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * SECOND + since.microseconds * 1000


def _gregorian(number: int) -> int:
    """The 60 bits of RFC 9562, figure 2, in version 6: 32 and 16, then 12 after the version."""
    return number >> 80 << 12 | number >> 64 & 0xFFF


def _of_last_characters(count: int, base: int, limit: int = 0) -> Callable[[int], int]:
    def ticks(number: int) -> int:
        ticks = number // base**count
        return limit - 1 - ticks if limit else ticks

    return ticks


_GREGORIAN_EPOCH = unix(1582, 10, 15)
_GREGORIAN_END = min(_GREGORIAN_EPOCH + 2**60 * 100, _YEAR_10000)

FORMATS: dict[str, Format] = {
    "comb4": Format(lambda n: n >> 80, 10_000, end=2**48 * 10_000, version=4),
    "cuid": Format(
        lambda n: n // 36**16 % 36**8,
        MILLISECOND,
        end=36**8 * MILLISECOND,
        text="0123456789abcdefghijklmnopqrstuvwxyz",
    ),
    "uuid7": Format(lambda n: n >> 80, MILLISECOND, version=7),
    "uuid6": Format(_gregorian, 100, _GREGORIAN_EPOCH, _GREGORIAN_END, version=6),
    "comb13": Format(_gregorian, 100, _GREGORIAN_EPOCH, _GREGORIAN_END, version=13),
    "ulid": Format(lambda n: n >> 80, MILLISECOND),
    "hexulid": Format(lambda n: n >> 80, MILLISECOND, text="0123456789ABCDEF"),
    "timeflake": Format(lambda n: n >> 80, MILLISECOND),
    "scru128": Format(lambda n: n >> 80, MILLISECOND),
    "pushid": Format(_of_last_characters(12, 64), MILLISECOND, text=_PUSH),
    "ksuid": Format(
        lambda n: n >> 128,
        SECOND,
        1_400_000_000 * SECOND,
        (1_400_000_000 + 2**32) * SECOND,
        bits=160,
    ),
    "ksuid_ms": Format(
        # 32 bits of seconds and 8 of 1/256, of which 250 are used.
        lambda n: (n >> 128) * 250 + (n >> 120 & 0xFF),
        4 * MILLISECOND,
        1_400_000_000 * SECOND,
        (1_400_000_000 + 2**32) * SECOND,
        bits=160,
    ),
    "kuuid": Format(_of_last_characters(24, 62), SECOND, text=_BASE62),
    "kuuid_ms": Format(
        _of_last_characters(12, 62), MILLISECOND, end=62**8 * MILLISECOND, text=_BASE62
    ),
    "reversed_kuuid": Format(
        _of_last_characters(24, 62, 62**8), SECOND, text=_BASE62, reverse=True
    ),
    "xid": Format(lambda n: n >> 64, SECOND, end=2**32 * SECOND, bits=96),
    "objectid": Format(lambda n: n >> 64, SECOND, end=2**32 * SECOND, bits=96),
    "snowflake": Format(
        lambda n: n >> 22,
        MILLISECOND,
        1_288_834_974_657 * MILLISECOND,
        (1_288_834_974_657 + 2**41) * MILLISECOND,
    ),
    "discord": Format(lambda n: n >> 22, MILLISECOND, unix(2015), unix(2015) + 2**41 * MILLISECOND),
    "instagram": Format(
        lambda n: n >> 23,
        MILLISECOND,
        1_314_220_021_721 * MILLISECOND,
        (1_314_220_021_721 + 2**40) * MILLISECOND,
    ),
    "mastodon": Format(lambda n: n >> 16, MILLISECOND, end=2**47 * MILLISECOND),
    "unique_rowid": Format(lambda n: n >> 15, 10_000, unix(2015), unix(2015) + 2**48 * 10_000),
    "sonyflake_1": Format(
        lambda n: n >> 24, 10 * MILLISECOND, unix(2014, 9, 1), unix(2014, 9, 1) + 2**39 * 10_000_000
    ),
    "sonyflake_2": Format(
        lambda n: n >> 24, 10 * MILLISECOND, unix(2025), unix(2025) + 2**39 * 10_000_000
    ),
    "tsid": Format(lambda n: n >> 22, MILLISECOND, unix(2020), unix(2020) + 2**41 * MILLISECOND),
    "time64": Format(
        lambda n: n // 10**5, 100_000, start=10**9 * SECOND, end=(_BIGINT // 10**5 + 1) * 100_000
    ),
    "time64_ms": Format(
        lambda n: n // 10**6,
        MILLISECOND,
        start=10**9 * SECOND,
        end=(_BIGINT // 10**6 + 1) * MILLISECOND,
    ),
}
