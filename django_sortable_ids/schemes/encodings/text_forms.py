"""Text forms: how the number of an id is written as text, and strictly read back.

``parse`` raises ``ValueError`` with the reason. Every form except ``Decimal`` has a fixed width.
Patterns are not anchored: match them with ``fullmatch``, because ``$`` accepts a trailing newline.
``int`` and ``uuid.UUID`` would accept digits of other scripts, signs, blanks and underscores.
"""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from ..support import CopiedByFields, cached_property
from .notation import Notation

_EXTRA_BITS = "its last character has bits beyond the last byte"


class TextForm(Protocol):
    @property
    def keeps_order(self) -> bool:
        """Whether texts sort, byte by byte, like the numbers."""

    @property
    def shows_all(self) -> bool:
        """Whether it shows any number of that size, and not only those of one UUID version."""

    @property
    def length(self) -> int:
        """The maximum number of characters of an id."""

    @property
    def shortest(self) -> int:
        """The minimum number of characters of an id."""

    @property
    def pattern(self) -> str:
        """A regular expression of the canonical spelling, not anchored."""

    @property
    def expected(self) -> str:
        """A description of valid texts in words, for error messages."""

    def format(self, number: int) -> str:
        """The canonical spelling."""

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        """``format`` for many numbers."""

    def parse(self, text: str) -> int:
        """The number; ``ValueError`` with the reason if the text does not have this form."""

    def is_canonical(self, text: str) -> bool:
        """Cheap check for a canonical spelling, even of too large a number; False: unknown."""


class OneByOne:
    """A text form of one width, without fast batches and without a cheap check."""

    shows_all: ClassVar[bool] = True

    @property
    def shortest(self: TextForm) -> int:
        return self.length

    def format_all(self: TextForm, numbers: Sequence[int]) -> list[str]:
        return list(map(self.format, numbers))

    def is_canonical(self, text: str) -> bool:
        return False


@dataclass(frozen=True)
class Digits(CopiedByFields):
    """Fixed-width digits of one alphabet."""

    alphabet: str
    length: int
    fold: Literal["upper", "lower"] | None = None
    """The case that input is converted to; None: only the alphabet's own case is valid."""
    aliases: tuple[str, str] = ("", "")
    """Characters in the case of ``fold``, and what they are read as: ``("ILO", "110")``."""
    padding: int = 0
    """Zero bits after the number, for digits that are aligned to the left end of the text."""
    shows_all: ClassVar[bool] = True

    @property
    def shortest(self) -> int:
        return self.length

    @property
    def keeps_order(self) -> bool:
        return list(self.alphabet) == sorted(self.alphabet)

    @property
    def pattern(self) -> str:
        return f"[{_character_class(self.alphabet)}]{{{self.length}}}"

    @property
    def expected(self) -> str:
        return _characters(self.length, self.alphabet) + (", in any case" if self.fold else "")

    @cached_property
    def format(self) -> Callable[[int], str]:
        write = self._notation.format
        return (lambda number: write(number << self.padding)) if self.padding else write

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        if self.padding:
            numbers = [number << self.padding for number in numbers]
        return self._notation.format_all(numbers)

    def parse(self, text: str) -> int:
        _expect_length(text, self.length)
        number = self._notation.parse(text)
        if number & ((1 << self.padding) - 1):
            raise ValueError(_EXTRA_BITS)
        return number >> self.padding

    def is_canonical(self, text: str) -> bool:
        return len(text) == self.length and not (self.padding or text.strip(self.alphabet))

    def count_of_last(self, numbers: int) -> int:
        """How many of the last digits are for the numbers below ``numbers`` and nothing else; 0 if
        they share a digit with the rest."""
        count, rest = 0, numbers << self.padding
        while rest % len(self.alphabet) == 0:
            rest //= len(self.alphabet)
            count += 1
        return count if rest == 1 else 0

    @cached_property
    def _notation(self) -> Notation:
        spellings = {character: self._digit(character) for character in map(chr, range(128))}
        return Notation(self.alphabet, self.length, spellings)

    def _digit(self, character: str) -> str:
        """The digit that a character is read as."""
        match self.fold:
            case "upper":
                character = character.upper()
            case "lower":
                character = character.lower()
        return dict(zip(*self.aliases, strict=True)).get(character, character)


@dataclass(frozen=True)
class Groups(CopiedByFields, OneByOne):
    """Groups of digits with separate bits: kuuid's time and its 32-bit groups."""

    alphabet: str
    groups: tuple[tuple[int, int], ...]
    """Characters and bits of each group, the most significant first."""
    keeps_order: bool = True

    @property
    def length(self) -> int:
        return sum(length for length, _ in self.groups)

    @property
    def pattern(self) -> str:
        return f"[{_character_class(self.alphabet)}]{{{self.length}}}"

    @property
    def expected(self) -> str:
        return _characters(self.length, self.alphabet)

    def format(self, number: int) -> str:
        parts = []
        for notation, bits in self._notations:
            parts.append(notation.format(number & ((1 << bits) - 1)))
            number >>= bits
        return "".join(reversed(parts))

    def parse(self, text: str) -> int:
        _expect_length(text, self.length)
        number, end = 0, 0
        for notation, bits in reversed(self._notations):
            start, end = end, end + notation.length
            group = notation.parse(text[start:end])
            if group >> bits:
                found = repr(text[start:end])
                raise ValueError(f"{found} is more than {bits} bits can hold")
            number = number << bits | group
        return number

    @cached_property
    def _notations(self) -> Sequence[tuple[Notation, int]]:
        """Notation and bits of each group, the least significant group first."""
        return [(Notation(self.alphabet, length), bits) for length, bits in reversed(self.groups)]


@dataclass(frozen=True, slots=True)
class Decimal(OneByOne):
    """Plain ASCII digits without a sign or a leading zero."""

    length: int
    keeps_order: bool = False
    """True if every id has exactly ``length`` digits."""

    @property
    def shortest(self) -> int:
        return self.length if self.keeps_order else 1

    @property
    def pattern(self) -> str:
        return f"[1-9][0-9]{{{self.length - 1}}}" if self.keeps_order else "(?:0|[1-9][0-9]*)"

    @property
    def expected(self) -> str:
        if self.keeps_order:
            return f"a whole number of {self.length} digits"
        return f"a whole number of at most {self.length} digits"

    def format(self, number: int) -> str:
        return str(number)

    def parse(self, text: str) -> int:
        if len(text) > self.length or not re.fullmatch(self.pattern, text):
            raise ValueError("it is not a plain decimal number of that size")
        return int(text)


@dataclass(frozen=True, slots=True)
class UUIDText(OneByOne):
    """A UUID in hexadecimal (RFC 9562, section 4).

    Reads any case, with or without hyphens, in braces, or as a URN.
    """

    hyphens: bool = True
    keeps_order: bool = True

    @property
    def length(self) -> int:
        return 36 if self.hyphens else 32

    @property
    def pattern(self) -> str:
        return _HYPHENATED if self.hyphens else "[0-9a-f]{32}"

    @property
    def expected(self) -> str:
        return "32 hexadecimal digits, hyphens optional"

    def format(self, number: int) -> str:
        text = f"{number:032x}"
        if not self.hyphens:
            return text
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def parse(self, text: str) -> int:
        match = _UUID.fullmatch(text)
        if match is None:
            raise ValueError("it is not a UUID in hexadecimal")
        return int((match[1] or match[2] or match[3]).replace("-", ""), 16)


_HYPHENATED = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID = re.compile(
    rf"(?:urn:uuid:)?({_HYPHENATED})|([0-9a-f]{{32}})|\{{({_HYPHENATED})\}}",
    # Without ASCII, IGNORECASE would match a dotless i to the i of "uuid".
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Base64URL(OneByOne):
    """The big-endian bytes in the URL-safe base 64 of RFC 4648, section 5.

    Written without padding, read with or without it. Does not keep the order.
    """

    bytes: int
    keeps_order: bool = False

    @property
    def length(self) -> int:
        return -(-self.bytes * 8 // 6)

    @property
    def pattern(self) -> str:
        return f"[0-9A-Za-z_-]{{{self.length}}}"

    @property
    def expected(self) -> str:
        return f"{self.length} characters of 0-9A-Za-z_-"

    def format(self, number: int) -> str:
        text = base64.urlsafe_b64encode(number.to_bytes(self.bytes, "big"))
        return text.decode("ascii").rstrip("=")

    def parse(self, text: str) -> int:
        padding = -self.length % 4
        if not re.fullmatch(f"{self.pattern}(?:={{{padding}}})?", text):
            raise ValueError("it is not URL-safe base 64 of that size")
        number = int.from_bytes(base64.urlsafe_b64decode(text[: self.length] + "=" * padding))
        if self.format(number) != text[: self.length]:
            raise ValueError(_EXTRA_BITS)
        return number


def _expect_length(text: str, length: int) -> None:
    if len(text) != length:
        raise ValueError(f"it has {len(text)} characters, not {length}")


def _characters(count: int, alphabet: str) -> str:
    return f"{count} characters of {_character_class(alphabet)}"


def _character_class(alphabet: str) -> str:
    """The alphabet with abbreviated runs: ``0-9A-HJKMNP-TV-Z``."""
    runs: list[list[str]] = []
    for character in alphabet:
        if runs and ord(character) == ord(runs[-1][-1]) + 1:
            runs[-1].append(character)
        else:
            runs.append([character])
    return "".join(
        f"{re.escape(run[0])}-{re.escape(run[-1])}" if len(run) > 2 else re.escape("".join(run))
        for run in runs
    )
