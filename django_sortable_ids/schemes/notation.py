"""Fixed-width positional notation: numbers to digits and back, one by one or many at once.

A few operations on one long integer are faster than a Python loop over digits. The long integer
consists of bit fields of equal width, which hold the digits of one or many numbers. To write,
fields are halved until each is a digit; to read, they are joined in pairs until one is the number.
``bytes.translate`` turns digits into characters.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import add
from uuid import UUID, SafeUUID

from .support import cached_property, ones

AT_ONCE = 256
"""How many numbers are written at once."""

_FEW = 16
"""Fewer numbers than this are written one by one."""

_BLOCK = 16
"""How many digits are written at once."""

_CHANGING_BITS = 68
"""Successive ids nearly always differ only in this many low bits."""

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
        digit_bits = (self.base - 1).bit_length()
        if self.base == 16:
            return f"{{:0{self.length}{'x' if 'a' in self.alphabet else 'X'}}}".format
        if 1 << digit_bits == self.base and self.length <= 32:
            return _by_bits(digit_bits, self.length, self._characters)
        if self.length <= _BLOCK:
            return _by_pairs(self.alphabet, self.length)
        last = 12 if self.base**12 >> _CHANGING_BITS else _BLOCK
        leading, block = (Notation(self.alphabet, n) for n in (self.length - last, last))
        return _by_blocks(leading.format, block.format, self.base**last)

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        """``format`` for many numbers; fastest if they are close together."""
        texts: list[str] = []
        for start in range(0, len(numbers), AT_ONCE):
            some = numbers[start : start + AT_ONCE]
            if len(some) < _FEW:
                texts += map(self.format, some)
            elif self.length <= _BLOCK:
                texts += self._halve(some)
            else:
                texts += map(add, *self._blocks(some))
        return texts

    def _blocks(self, numbers: Sequence[int]) -> tuple[Iterable[str], list[str]]:
        """The leading digits of each number, and its last block of digits."""
        unit = self.base**_BLOCK
        leading = min(numbers) // unit
        if leading == max(numbers) // unit:
            last = [number - leading * unit for number in numbers]
            return repeat(self._leading.format(leading)), self._block.format_all(last)
        last = [number % unit for number in numbers]
        all_leading = [number // unit for number in numbers]
        return self._leading.format_all(all_leading), self._block.format_all(last)

    @cached_property
    def _leading(self) -> "Notation":
        return Notation(self.alphabet, self.length - _BLOCK)

    @cached_property
    def _block(self) -> "Notation":
        return Notation(self.alphabet, _BLOCK)

    @cached_property
    def _characters(self) -> bytes:
        return self.alphabet.encode("ascii").ljust(256, b"\0")

    def _halve(self, numbers: Sequence[int]) -> list[str]:
        """Writes numbers of one block. Each is a bit field with 16 bits per digit, which is divided
        by ``base**8``, its halves by ``base**4``, and so on.

        A division is a multiplication by the reciprocal, rounded up. It is exact if the reciprocal
        has as many bits as the dividend and the divisor together.
        """
        count, size = len(numbers), 2 * _BLOCK
        fields = int.from_bytes(
            b"".join([number.to_bytes(size, "big") for number in numbers]), "big"
        )
        for reciprocal, shift, mask, weight in self._divisions:
            fields += (fields * reciprocal >> shift & mask) * weight
        digits = fields.to_bytes(count * size, "big")[1::2]
        text = digits.translate(self._characters).decode("ascii")
        unused = _BLOCK - self.length
        return [text[end - _BLOCK + unused : end] for end in range(_BLOCK, len(text) + 1, _BLOCK)]

    @cached_property
    def _divisions(self) -> Sequence[tuple[int, int, int, int]]:
        """Per division: reciprocal, shift, mask of the quotients, and weight of a quotient.

        The weight adds the quotient to the upper half of its field, and subtracts its product with
        the divisor from the lower half.
        """
        divisions = []
        for digits in (8, 4, 2, 1):
            divisor, field_bits = self.base**digits, 2 * digits * 16
            shift = (divisor**2 - 1).bit_length() + divisor.bit_length()
            reciprocal = -((-1 << shift) // divisor)
            zeros = (reciprocal & -reciprocal).bit_length() - 1  # many if the base is 2 ** n
            reciprocal, shift = reciprocal >> zeros, shift - zeros
            quotient = (1 << divisor.bit_length()) - 1
            mask = quotient * ones(AT_ONCE * _BLOCK // (2 * digits), field_bits)
            divisions.append((reciprocal, shift, mask, (1 << field_bits // 2) - divisor))
        return divisions

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
        wrong = next(each for each in text if self._spellings.get(each, "\n") not in self.alphabet)
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
            number = (number & mask) + (number >> shift & mask) * weight
        return number

    @cached_property
    def _sums(self) -> Sequence[tuple[int, int, int]]:
        """Per level: the bits of a field, the mask of the lower fields, the upper ones' weight."""
        count, bits, weight = self.length, 8, self.base
        sums = []
        while count > 1:
            count = -(-count // 2)
            sums.append((bits, ((1 << bits) - 1) * ones(count, 2 * bits), weight))
            bits, weight = 2 * bits, weight**2
        return sums


def _by_bits(digit_bits: int, length: int, characters: bytes) -> Callable[[int], str]:
    """Writes numbers with ``digit_bits`` per digit: moves every digit to a byte of its own."""
    moves = []
    for digits in (16, 8, 4, 2, 1):
        bits = digits * digit_bits
        low = ((1 << bits) - 1) * ones(16 // digits, 16 * digits)
        moves.append((low, low << bits, 8 * digits - bits))
    (low16, high16, by16), (low8, high8, by8), (low4, high4, by4), *others = moves
    (low2, high2, by2), (low1, high1, by1) = others
    unused = 32 - length

    def write(number: int) -> str:
        number = number & low16 | (number & high16) << by16
        number = number & low8 | (number & high8) << by8
        number = number & low4 | (number & high4) << by4
        number = number & low2 | (number & high2) << by2
        number = number & low1 | (number & high1) << by1
        return number.to_bytes(32, "big")[unused:].translate(characters).decode("ascii")

    return write


def _by_pairs(alphabet: str, length: int) -> Callable[[int], str]:
    """Writes numbers in any base, two digits at a time, at most 16 digits."""
    pairs = [high + low for high in alphabet for low in alphabet]
    square, fourth, eighth = (len(alphabet) ** power for power in (2, 4, 8))

    def eight(number: int) -> str:
        high = number // fourth
        low = number % fourth
        return (
            f"{pairs[high // square]}{pairs[high % square]}"
            f"{pairs[low // square]}{pairs[low % square]}"
        )

    if length <= 8:
        return lambda number: eight(number)[8 - length :]
    if length > 12:
        return lambda number: (eight(number // eighth) + eight(number % eighth))[16 - length :]

    def up_to_twelve(number: int) -> str:
        high = number // eighth
        return f"{pairs[high // square]}{pairs[high % square]}{eight(number % eighth)}"[
            12 - length :
        ]

    return up_to_twelve


def _by_blocks(
    leading: Callable[[int], str], block: Callable[[int], str], unit: int
) -> Callable[[int], str]:
    """Writes numbers whose leading digits often equal those of the previous number."""
    last = (0, leading(0))

    def write(number: int) -> str:
        nonlocal last
        cached = last
        high, low = divmod(number, unit)
        if high != cached[0]:
            last = cached = (high, leading(high))
        return cached[1] + block(low)

    return write


_new = UUID.__new__
_set_int = UUID.__dict__["int"].__set__
_set_is_safe = UUID.__dict__["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


def uuid_of(number: int) -> UUID:
    """``UUID(int=number)`` for a number that is known to fit 128 bits."""
    value = _new(UUID)
    _set_int(value, number)
    _set_is_safe(value, _UNKNOWN)
    return value


def uuids_of(numbers: Sequence[int]) -> list[UUID]:
    values = list(map(_new, repeat(UUID, len(numbers))))
    deque(map(_set_int, values, numbers), maxlen=0)
    deque(map(_set_is_safe, values, repeat(_UNKNOWN)), maxlen=0)
    return values
