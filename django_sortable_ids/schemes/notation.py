"""Fixed-width positional notation: numbers to digits and back, one by one or many at once.

A few operations on one long integer are faster than a Python loop over digits. The long integer
consists of bit fields of equal width, which hold the digits of one or many numbers. To write,
fields are halved until each is a digit; to read, they are joined in pairs until one is the number.
``bytes.translate`` turns digits into characters.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID, SafeUUID

from .support import cached_property, ones

AT_ONCE = 256
"""How many numbers are written at once."""

_FEW = 16
"""Fewer numbers than this are written one by one."""

_MOVED = 32
"""The bytes to which the digits of a number are moved."""

_DIGITS_OF_INT = "0123456789abcdefghijklmnopqrstuvwxyz"
_WRONG = 0xFF


class Notation:
    """Numbers of ``length`` digits, with leading zeros.

    ``alphabet`` lists the digits in order, at most 64 ASCII characters. ``spellings`` maps other
    characters to the digits that they are read as.
    """

    def __init__(
        self, alphabet: str, length: int, spellings: Mapping[str, str] | None = None
    ) -> None:
        self.alphabet = alphabet
        self.length = length
        self._spellings = {**(spellings or {}), **{digit: digit for digit in alphabet}}
        self.base = len(alphabet)

    # From numbers

    @cached_property
    def format(self) -> Callable[[int], str]:
        """A function from a number to its digits. The number must fit into ``length`` digits."""
        if self.base == 16:
            return f"{{:0{self.length}{'x' if 'a' in self.alphabet else 'X'}}}".format
        if self._digits_are_bits:
            return _by_moves(self.base, self.length, self._characters)
        return _by_pairs(self.alphabet, self.length)

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        """``format`` for many numbers."""
        if self.base == 16 or not self._digits_are_bits:
            return list(map(self.format, numbers))
        texts: list[str] = []
        for start in range(0, len(numbers), AT_ONCE):
            batch = numbers[start : start + AT_ONCE]
            texts += map(self.format, batch) if len(batch) < _FEW else self._move(batch)
        return texts

    @property
    def _digits_are_bits(self) -> bool:
        return self.base.bit_count() == 1 and self.length <= _MOVED

    def _move(self, numbers: Sequence[int]) -> list[str]:
        fields = int.from_bytes(b"".join([number.to_bytes(_MOVED) for number in numbers]))
        for high, weight in _moves(self.base, AT_ONCE):
            fields += (fields & high) * weight
        text = fields.to_bytes(_MOVED * len(numbers)).translate(self._characters).decode()
        return [text[end - self.length : end] for end in range(_MOVED, len(text) + 1, _MOVED)]

    @cached_property
    def _characters(self) -> bytes:
        return self.alphabet.encode("ascii").ljust(256, b"\0")

    # To numbers

    def parse(self, text: str) -> int:
        """The number that ``text`` spells; ``ValueError`` with the first wrong character."""
        try:
            digits = text.encode("ascii").translate(self._values)
            if self.base <= 36:
                return int(digits, self.base)
            if _WRONG not in digits:
                return self._join(digits)
        except ValueError:
            pass
        wrong = next(char for char in text if self._spellings.get(char, "\n") not in self.alphabet)
        raise ValueError(f"{wrong!r} is not one of its characters")

    @cached_property
    def _values(self) -> bytes:
        """The value of each character: a digit for ``int()``, or a number; else ``_WRONG``."""
        values = bytearray([_WRONG] * 256)
        for character, digit in self._spellings.items():
            value = self.alphabet.find(digit)
            if value >= 0:
                values[ord(character)] = ord(_DIGITS_OF_INT[value]) if self.base <= 36 else value
        return bytes(values)

    def _join(self, digits: bytes) -> int:
        """Joins pairs of bit fields: first two digits, then two such pairs, and so on."""
        number = int.from_bytes(digits, "big")
        for shift, mask, weight in self._sums:
            number -= (number >> shift & mask) * weight
        return number

    @cached_property
    def _sums(self) -> Sequence[tuple[int, int, int]]:
        """Per level: the bits of a field, the mask of the lower fields, and by how much a unit of
        an upper field is too large."""
        count, bits, weight = self.length, 8, self.base
        sums = []
        while count > 1:
            count = -(-count // 2)
            sums.append((bits, ((1 << bits) - 1) * ones(count, 2 * bits), (1 << bits) - weight))
            bits, weight = 2 * bits, weight**2
        return sums


@lru_cache(maxsize=64)
def _moves(base: int, count: int) -> list[tuple[int, int]]:
    """How the digits of ``count`` numbers, if each is some bits, get to bytes of their own: by
    steps that move the upper half of each field. A step multiplies by 1 less than the move, since
    it adds to what is there."""
    steps, bits = [], base.bit_length() - 1
    for digits in (16, 8, 4, 2, 1):
        low = ((1 << digits * bits) - 1) * ones(count * 16 // digits, 16 * digits)
        steps.append((low << digits * bits, (1 << digits * (8 - bits)) - 1))
    return steps


def _by_moves(base: int, length: int, characters: bytes) -> Callable[[int], str]:
    """Writes numbers whose digits are bits."""
    (half, by16), (quarter, by8), (eighth, by4), (pair, by2), (digit, by1) = _moves(base, 1)

    def write(number: int) -> str:
        number += (number & half) * by16
        number += (number & quarter) * by8
        number += (number & eighth) * by4
        number += (number & pair) * by2
        number += (number & digit) * by1
        return number.to_bytes(length).translate(characters).decode()

    return write


@lru_cache(maxsize=8)
def _pairs(alphabet: str) -> list[str]:
    return [high + low for high in alphabet for low in alphabet]


def _by_pairs(alphabet: str, length: int) -> Callable[[int], str]:
    """Writes numbers in any base, two digits at a time.

    Four digits are divided off at a time: Python divides fastest by numbers below ``2**30``. The
    digits before the last 12 are remembered: close numbers, such as the KSUIDs that a process
    generates in one second, mostly share them, and are written in half the time.
    """
    pairs = _pairs(alphabet)
    square, fourth, unit = (len(alphabet) ** power for power in (2, 4, 12))
    unused = -length % 12
    if length <= 4:
        return lambda number: f"{pairs[number // square]}{pairs[number % square]}"[-length:]

    def up_to_12(number: int) -> str:
        number, c = divmod(number, fourth)
        a, b = divmod(number, fourth)
        return (
            f"{pairs[a // square]}{pairs[a % square]}{pairs[b // square]}{pairs[b % square]}"
            f"{pairs[c // square]}{pairs[c % square]}"
        )[unused:]

    if length <= 12:
        return up_to_12
    write_leading = _by_pairs(alphabet, length - 12)
    # The first number with the remembered digits, and these: always replaced together, because
    # threads share them.
    known = 0, alphabet[0] * (length - 12)

    def longer(number: int) -> str:
        nonlocal known
        start, leading = known
        if not 0 <= (rest := number - start) < unit:
            before, rest = divmod(number, unit)
            leading = write_leading(before)
            known = number - rest, leading
        number, c = divmod(rest, fourth)
        a, b = divmod(number, fourth)
        return (
            f"{leading}{pairs[a // square]}{pairs[a % square]}{pairs[b // square]}"
            f"{pairs[b % square]}{pairs[c // square]}{pairs[c % square]}"
        )

    return longer


_UNKNOWN = SafeUUID.unknown


class _Draft(UUID):
    """A UUID whose attributes can be set; then its class becomes ``UUID``. ``UUID(int=...)`` checks
    its arguments, and takes several times as long."""

    __slots__ = ()
    __init__ = object.__init__
    __setattr__ = object.__setattr__  # type: ignore[assignment]


def uuid_of(number: int) -> UUID:
    """``UUID(int=number)`` for a number that is known to fit 128 bits."""
    value: Any = _Draft()
    value.int = number
    value.is_safe = _UNKNOWN
    value.__class__ = UUID
    return value  # type: ignore[no-any-return]


def uuids_of(numbers: Sequence[int]) -> list[UUID]:
    values = []
    for number in numbers:  # uuid_of, inlined
        value: Any = _Draft()
        value.int = number
        value.is_safe = _UNKNOWN
        value.__class__ = UUID
        values.append(value)
    return values
