"""The layout of a time-ordered id: how its number is composed of a payload and fixed bits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .support import ByArguments, ByFields, cached_property

_LOW_62 = (1 << 62) - 1
_LOW_12 = (1 << 12) - 1
_LOW_16 = (1 << 16) - 1
_LOW_32 = (1 << 32) - 1
_VARIANT = 0b10
_FIXED = 0xF << 14 | 0b11
"""Version and variant bits of a number without its lowest 62 bits."""


class BitTemplate(ByArguments):
    """Adds fixed bits to a payload, mostly the version and variant of a UUID.

    It turns a payload, which sorts by time, into the stored number, and back. Without fixed bits,
    as here, the number is the payload. A UUID, most significant bit first (RFC 9562, section 4)::

        48 payload | 4 version | 12 payload | 2 variant (binary 10) | 62 payload
    """

    version: int | None = None
    """The UUID version of the numbers; None if they are not UUIDs."""
    keeps_order = True
    """Whether numbers sort like their payloads."""

    def fits(self, number: int) -> bool:
        """Whether the fixed bits of a number match this template."""
        return self.unwrap(number) is not None

    def wrap(self, payload: int) -> int:
        return payload

    def wrap_all(self, payloads: list[int]) -> list[int]:
        return list(map(self.wrap, payloads))

    def unwrap(self, number: int) -> int | None:
        """The payload of a number; None if its fixed bits do not match this template."""
        return number

    def unwrap_all(self, numbers: Sequence[int]) -> list[int | None]:
        return list(map(self.unwrap, numbers))


PLAIN = BitTemplate()


class UUIDTemplate(BitTemplate):
    """122 payload bits, plus a version and the variant of RFC 9562."""

    version: int

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version

    def fits(self, number: int) -> bool:
        return number >> 62 & _FIXED == self.version << 14 | _VARIANT

    def wrap(self, payload: int) -> int:
        return (
            payload >> 74 << 80
            | self.version << 76
            | (payload >> 62 & _LOW_12) << 64
            | _VARIANT << 62
            | payload & _LOW_62
        )

    def wrap_all(self, payloads: list[int]) -> list[int]:
        # Inlined: half the time of one call per payload.
        fixed = self.version << 76 | _VARIANT << 62
        return [
            payload >> 74 << 80 | (payload >> 62 & _LOW_12) << 64 | payload & _LOW_62 | fixed
            for payload in payloads
        ]

    def unwrap(self, number: int) -> int | None:
        if not self.fits(number):
            return None
        return number >> 80 << 74 | (number >> 64 & _LOW_12) << 62 | number & _LOW_62

    def unwrap_all(self, numbers: Sequence[int]) -> list[int | None]:
        # Inlined, like wrap_all.
        mask, fixed = _FIXED << 62, self.version << 76 | _VARIANT << 62
        return [
            number >> 80 << 74 | (number >> 64 & _LOW_12) << 62 | number & _LOW_62
            if number & mask == fixed
            else None
            for number in numbers
        ]


class Version1Template(BitTemplate):
    """The payload of UUID version 6 with its time fields in reverse order (RFC 9562, section 5.1).

    Numbers don't sort by time.
    """

    version = 1
    keeps_order = False

    def wrap(self, payload: int) -> int:
        time = payload >> 62
        fields = (time & _LOW_32) << 32 | (time >> 32 & _LOW_16) << 16 | 1 << 12 | time >> 48
        return fields << 64 | _VARIANT << 62 | payload & _LOW_62

    def unwrap(self, number: int) -> int | None:
        if number >> 62 & _FIXED != self.version << 14 | _VARIANT:
            return None
        time = number >> 96 | (number >> 80 & _LOW_16) << 32 | (number >> 64 & _LOW_12) << 48
        return time << 62 | number & _LOW_62


VERSION_1 = Version1Template()


class SetBitTemplate(BitTemplate):
    """Another template's numbers in which one bit of the payload is 1, and is left out of that."""

    def __init__(self, template: BitTemplate, bit: int) -> None:
        super().__init__(template, bit)
        self.template = template
        self.version = template.version
        self.keeps_order = template.keeps_order
        self.bit = bit

    def wrap(self, payload: int) -> int:
        bit = self.bit
        return self.template.wrap((payload >> bit << 1 | 1) << bit | payload & (1 << bit) - 1)

    def unwrap(self, number: int) -> int | None:
        payload = self.template.unwrap(number)
        if payload is None or not payload >> self.bit & 1:
            return None
        return payload >> self.bit + 1 << self.bit | payload & (1 << self.bit) - 1


class ByteFractionTemplate(BitTemplate):
    """Seconds and a byte for their fraction, which has only ``fractions`` valid values::

    second | fraction 8, from 0 to fractions - 1 | suffix
    """

    def __init__(self, fractions: int, suffix_bits: int) -> None:
        super().__init__(fractions, suffix_bits)
        self.fractions = fractions
        self.suffix_bits = suffix_bits

    def fits(self, number: int) -> bool:
        return number >> self.suffix_bits & 0xFF < self.fractions

    def wrap(self, payload: int) -> int:
        second, fraction = divmod(payload >> self.suffix_bits, self.fractions)
        suffix = payload & (1 << self.suffix_bits) - 1
        return (second << 8 | fraction) << self.suffix_bits | suffix

    def unwrap(self, number: int) -> int | None:
        if not self.fits(number):
            return None
        time = number >> self.suffix_bits
        tick = (time >> 8) * self.fractions + (time & 0xFF)
        return tick << self.suffix_bits | number & (1 << self.suffix_bits) - 1


class SuffixPart(NamedTuple):
    """What the definition of a format calls a part of the suffix, for people who read an id."""

    name: str
    """Such as ``"node"``."""
    size: int
    """How many values it has; the product of all sizes is ``Layout.suffixes``."""
    role: Literal["worker", "sequence", "random"] = "random"
    """What it is for: it tells machines apart, it counts, or neither."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout(ByFields):
    """Ticks since the epoch, then a suffix; a bit template adds the fixed bits last::

        number = template.wrap(tick * suffixes + suffix)

    The parts are bit fields if ``suffixes`` is a power of two, and groups of decimal digits if it
    is a power of ten. Nothing else differs between the two. The suffix is random, or a worker
    number followed by a sequence number::

        suffix = worker * (suffixes // workers) + sequence

    or, with ``worker_last``, the reverse::

        suffix = sequence * workers + worker
    """

    ticks: int
    """How many ticks there are, numbered from 0 to ``ticks - 1``."""
    suffixes: int
    """How many ids fit into one tick."""
    template: BitTemplate = PLAIN
    workers: int | None = None
    """How many worker numbers there are; None: the whole suffix is random."""
    worker_last: bool = False
    """The worker number comes after the sequence number."""
    descending: bool = False
    """The newest id is the smallest: the payload is subtracted from the largest one."""
    smallest: int = 0
    """The smallest payload; above 0 if ids need a fixed number of digits."""
    largest: int | None = None
    """The largest payload, if it is less than ticks and suffixes allow."""

    set_bit: int | None = None
    """This bit of the suffix is 1 in new ids; ids without it are valid, too."""

    @cached_property
    def new(self) -> "Layout":
        """The layout of new ids: this one without the suffixes that lack ``set_bit``."""
        if self.set_bit is None:
            return self
        template = SetBitTemplate(self.template, self.set_bit)
        return replace(self, suffixes=self.suffixes // 2, template=template, set_bit=None)

    def new_below(self, suffix: int) -> int:
        """How many suffixes of new ids are below ``suffix``."""
        if self.set_bit is None:
            return suffix
        half = 1 << self.set_bit
        above, below = divmod(suffix, 2 * half)
        return above * half + max(below - half, 0)

    @cached_property
    def last(self) -> int:
        return self.ticks * self.suffixes - 1 if self.largest is None else self.largest

    @cached_property
    def first_tick(self) -> int:
        return -(-self.smallest // self.suffixes)

    @cached_property
    def last_tick(self) -> int:
        return self.last // self.suffixes

    def capacity(self, tick: int) -> int:
        """How many ids fit into the tick: ``suffixes``, or fewer if ``largest`` cuts the tick."""
        return min(self.suffixes, self.last + 1 - tick * self.suffixes)

    def suffixes_of(self, worker: int) -> range:
        """The suffixes of a worker, in the order of their sequence numbers.

        Raises ``ValueError`` if the layout has no such worker number.
        """
        if self.workers is None:
            raise ValueError(f"worker number {worker}: this layout has no worker numbers")
        if not 0 <= worker < self.workers:
            raise ValueError(f"worker number {worker}: expected 0 to {self.workers - 1}")
        if self.worker_last:
            return range(worker, self.suffixes, self.workers)
        size = self.suffixes // self.workers
        return range(worker * size, (worker + 1) * size)

    def join(self, tick: int, suffix: int) -> int:
        """The number of a tick and a suffix, which must be within their bounds."""
        payload = tick * self.suffixes + suffix
        return self.template.wrap(self.last - payload if self.descending else payload)

    @cached_property
    def joiner(self) -> "Joiner":
        return Joiner(self)

    def join_payloads(self, payloads: list[int]) -> list[int]:
        """``join`` for pairs of a tick and a suffix, each given as tick * suffixes + suffix."""
        if self.descending:
            last = self.last
            payloads = [last - payload for payload in payloads]
        return payloads if self.template is PLAIN else self.template.wrap_all(payloads)

    def split(self, number: int) -> tuple[int, int] | None:
        """Tick and suffix of a number; None if it does not belong to this layout."""
        payload = self.template.unwrap(number)
        if payload is None or not self.smallest <= payload <= self.last:
            return None
        return divmod(self.last - payload if self.descending else payload, self.suffixes)

    def split_all(self, numbers: Sequence[int]) -> list[tuple[int, int] | None]:
        payloads = [
            payload
            for payload in self.template.unwrap_all(numbers)
            if payload is not None and self.smallest <= payload
        ]
        last, size = self.last, self.suffixes
        if len(payloads) < len(numbers) or max(payloads, default=0) > last:
            return list(map(self.split, numbers))
        if self.descending:
            payloads = [last - payload for payload in payloads]
        return [divmod(payload, size) for payload in payloads]

    def between(self, first_tick: int, last_tick: int) -> tuple[int, int]:
        """The smallest and the largest number from the first to the last tick, both included."""
        oldest = self.join(first_tick, 0)
        newest = self.join(last_tick, self.capacity(last_tick) - 1)
        return (newest, oldest) if self.descending else (oldest, newest)


class Joiner:
    """``Layout.join`` for many calls: faster, because most bits are known.

    The numbers of the ticks from a multiple of ``_run`` on are at equal distances. So are those of
    the suffixes of a tick, with a gap after each ``1 << _bits`` of them.
    """

    def __init__(self, layout: "Layout") -> None:
        self._join = join = layout.join
        zero = join(0, 0)
        self._at = 0, zero
        """The first tick of the last run, and its first number."""
        self._distance, self._run = join(1, 0) - zero, 1
        if layout.template is PLAIN:
            self._run = layout.ticks
        elif layout.template.version is not None:
            while self._run < layout.ticks:
                if join(self._run, 0) - zero != self._run * self._distance:
                    break
                self._run *= 2
        step, self._bits, self._gap = join(0, 1) - zero, 0, 0
        while not self._gap and 1 << self._bits < layout.suffixes:
            self._gap = join(0, 1 << self._bits) - zero - (step << self._bits)
            self._bits += not self._gap
        last = layout.suffixes - 1
        self._is_even = step == 1 and self.join(0, last) == join(0, last)
        """Whether suffixes count by ones, and there are no other gaps."""
        if not self._is_even:
            self._run = 0

    def join(self, tick: int, suffix: int) -> int:
        """The number of a tick and a suffix, which must be within their bounds."""
        start, first = self._at
        if not 0 <= (ticks := tick - start) < self._run:
            if not self._run:
                return self._join(tick, suffix)
            ticks = tick % self._run
            self._at = _, first = tick - ticks, self._join(tick - ticks, 0)
        number = first + ticks * self._distance + suffix
        return number + (suffix >> self._bits) * self._gap if self._gap else number

    def join_all(self, tick: int, suffixes: Sequence[int]) -> list[int]:
        if not self._is_even:
            return [self._join(tick, suffix) for suffix in suffixes]
        first, bits, gap = self.join(tick, 0), self._bits, self._gap
        if gap:
            return [first + suffix + (suffix >> bits) * gap for suffix in suffixes]
        if isinstance(suffixes, range):
            return list(range(first + suffixes.start, first + suffixes.stop, suffixes.step))
        return [first + suffix for suffix in suffixes]
