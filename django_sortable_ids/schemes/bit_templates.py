"""Bit templates add fixed bits to a payload, mostly the version and variant of a UUID.

A template turns a payload, which sorts by time, into the stored number, and back. All templates
except ``TimeLowFirstTemplate`` keep the order.

UUID, most significant bit first (RFC 9562, section 4)::

    48 payload | 4 version | 12 payload | 2 variant (binary 10) | 62 payload
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

_LOW_62 = (1 << 62) - 1
_LOW_12 = (1 << 12) - 1
_VARIANT = 0b10
_FIXED = 0xF << 14 | 0b11
"""Version and variant bits of a number without its lowest 62 bits."""


class BitTemplate(Protocol):
    @property
    def version(self) -> int | None:
        """The UUID version of the numbers; None if they are not UUIDs."""

    @property
    def keeps_order(self) -> bool:
        """Whether numbers sort like their payloads."""

    @property
    def run_bits(self) -> int | None:
        """Numbers are consecutive while only this many low payload bits change; None: always; 0:
        never."""

    def fits(self, number: int) -> bool:
        """Whether the fixed bits of a number match this template."""

    def wrap(self, payload: int) -> int:
        """The number of a payload."""

    def wrap_all(self, payloads: list[int]) -> list[int]:
        """``wrap`` for many payloads."""
        return list(map(self.wrap, payloads))

    def unwrap(self, number: int) -> int | None:
        """The payload of a number; None if its fixed bits do not match this template."""


@dataclass(frozen=True, slots=True)
class PlainTemplate(BitTemplate):
    """No fixed bits: the number is the payload."""

    version: ClassVar[None] = None
    keeps_order: ClassVar[bool] = True
    run_bits: ClassVar[None] = None

    def fits(self, number: int) -> bool:
        return True

    def wrap(self, payload: int) -> int:
        return payload

    def wrap_all(self, payloads: list[int]) -> list[int]:
        return payloads

    def unwrap(self, number: int) -> int | None:
        return number


PLAIN = PlainTemplate()


@dataclass(frozen=True, slots=True)
class UUIDTemplate(BitTemplate):
    """122 payload bits, plus a version and the variant of RFC 9562."""

    version: int
    keeps_order: ClassVar[bool] = True
    run_bits: ClassVar[int] = 62

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


@dataclass(frozen=True, slots=True)
class TimeLowFirstTemplate(BitTemplate):
    """UUID version 1: the payload of version 6, with its time fields in reverse order.

    RFC 9562, section 5.1: ``time_low 32 | time_mid 16 | version 4 | time_high 12``. The number does
    not sort by time.
    """

    version: ClassVar[int] = 1
    keeps_order: ClassVar[bool] = False
    run_bits: ClassVar[int] = 62

    def fits(self, number: int) -> bool:
        return number >> 62 & _FIXED == self.version << 14 | _VARIANT

    def wrap(self, payload: int) -> int:
        time = payload >> 62
        return (
            (time & 0xFFFFFFFF) << 96
            | (time >> 32 & 0xFFFF) << 80
            | 1 << 76
            | time >> 48 << 64
            | _VARIANT << 62
            | payload & _LOW_62
        )

    def unwrap(self, number: int) -> int | None:
        if not self.fits(number):
            return None
        time = (number >> 64 & _LOW_12) << 48 | (number >> 80 & 0xFFFF) << 32 | number >> 96
        return time << 62 | number & _LOW_62


@dataclass(frozen=True, slots=True)
class PlacedTemplate(BitTemplate):
    """Runs of payload bits, each at a place of its own, and fixed bits between them."""

    places: tuple[tuple[int, int, int], ...]
    """How many bits, their lowest one in the payload, and their lowest one in the number."""
    fixed: int
    """The fixed bits of a number."""
    fixed_mask: int
    """A mask of the places of all fixed bits."""
    version: int
    keeps_order: bool
    run_bits: int

    def fits(self, number: int) -> bool:
        return number & self.fixed_mask == self.fixed

    def wrap(self, payload: int) -> int:
        number = self.fixed
        for bits, low, at in self.places:
            number |= (payload >> low & ((1 << bits) - 1)) << at
        return number

    def unwrap(self, number: int) -> int | None:
        if not self.fits(number):
            return None
        payload = 0
        for bits, low, at in self.places:
            payload |= (number >> at & ((1 << bits) - 1)) << low
        return payload


@dataclass(frozen=True, slots=True)
class SetBitTemplate(BitTemplate):
    """The numbers of another template in which one bit of the payload is 1; that bit is left out of
    the payload."""

    template: BitTemplate
    bit: int

    @property
    def version(self) -> int | None:
        return self.template.version

    @property
    def keeps_order(self) -> bool:
        return self.template.keeps_order

    @property
    def run_bits(self) -> int:
        return self.bit

    def fits(self, number: int) -> bool:
        return self.unwrap(number) is not None

    def wrap(self, payload: int) -> int:
        bit = self.bit
        return self.template.wrap((payload >> bit << 1 | 1) << bit | payload & (1 << bit) - 1)

    def wrap_all(self, payloads: list[int]) -> list[int]:
        bit, low = self.bit, (1 << self.bit) - 1
        return self.template.wrap_all(
            [(payload >> bit << 1 | 1) << bit | payload & low for payload in payloads]
        )

    def unwrap(self, number: int) -> int | None:
        payload = self.template.unwrap(number)
        if payload is None or not payload >> self.bit & 1:
            return None
        return payload >> self.bit + 1 << self.bit | payload & (1 << self.bit) - 1


@dataclass(frozen=True, slots=True)
class ByteFractionTemplate(BitTemplate):
    """Seconds and a byte for their fraction, which has only ``fractions`` valid values::

    second | fraction 8, from 0 to fractions - 1 | suffix
    """

    fractions: int
    suffix_bits: int
    version: ClassVar[None] = None
    keeps_order: ClassVar[bool] = True

    @property
    def run_bits(self) -> int:
        return self.suffix_bits

    def fits(self, number: int) -> bool:
        return number >> self.suffix_bits & 0xFF < self.fractions

    def wrap(self, payload: int) -> int:
        second, fraction = divmod(payload >> self.suffix_bits, self.fractions)
        return (second << 8 | fraction) << self.suffix_bits | payload & self._suffix

    def unwrap(self, number: int) -> int | None:
        if not self.fits(number):
            return None
        time = number >> self.suffix_bits
        tick = (time >> 8) * self.fractions + (time & 0xFF)
        return tick << self.suffix_bits | number & self._suffix

    @property
    def _suffix(self) -> int:
        return (1 << self.suffix_bits) - 1
