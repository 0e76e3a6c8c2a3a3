"""Text forms: how the number of an id is written as text, and strictly read back.

``parse`` raises ``ValueError`` with the reason. Every form except ``Decimal`` writes a fixed width.
Patterns are not anchored: match them with ``fullmatch``, because ``$`` accepts a trailing newline.
``int`` and ``uuid.UUID`` would accept digits of other scripts, signs, blanks and underscores.
"""

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Literal

from .alphabets import BASE64_URL
from .layout import VERSION_1, UUIDTemplate
from .notation import Notation
from .support import ByArguments, cached_property, exponent


class TextForm(ByArguments):
    def __init__(
        self,
        *arguments: Any,
        length: int,
        pattern: str,
        expected: str,
        shortest: int | None = None,
        keeps_order: bool = True,
    ) -> None:
        """``arguments`` are those of the subclass."""
        super().__init__(*arguments)
        self.length = length
        """The maximum number of characters of an id."""
        self.shortest = length if shortest is None else shortest
        """The minimum number of characters of an id."""
        self.pattern = pattern
        """A regular expression of the canonical spelling, not anchored."""
        self.expected = expected
        """A description of valid texts in words, for error messages."""
        self.keeps_order = keeps_order
        """Whether texts sort, byte by byte, like the numbers."""

    def format(self, number: int) -> str:
        raise NotImplementedError

    def format_all(self, numbers: Sequence[int]) -> list[str]:
        return list(map(self.format, numbers))

    def parse(self, text: str) -> int:
        """The number; ``ValueError`` with the reason if the text does not have this form."""
        raise NotImplementedError

    def is_canonical(self, text: str) -> bool:
        """Cheap check for a canonical spelling, even of too large a number; False: unknown."""
        return False


class Digits(TextForm):
    """Fixed-width digits of one alphabet."""

    __match_args__ = ("alphabet", "length")

    def __init__(
        self,
        alphabet: str,
        length: int,
        fold: Literal["upper", "lower"] | None = None,
        aliases: tuple[str, str] = ("", ""),
        padding: int = 0,
    ) -> None:
        """``fold`` is the case that input is converted to; None: only the alphabet's own case is
        valid. ``aliases`` are characters in the case of ``fold``, and what they are read as:
        ``("ILO", "110")``. ``padding`` is how many zero bits follow the number, for digits that are
        aligned to the left end of the text."""
        characters = _character_class(alphabet)
        super().__init__(
            *(alphabet, length, fold, aliases, padding),
            length=length,
            pattern=f"[{characters}]{{{length}}}",
            expected=f"{length} characters of {characters}{', in any case' if fold else ''}",
            keeps_order=list(alphabet) == sorted(alphabet),
        )
        self.alphabet = alphabet
        self.fold = fold
        self.aliases = aliases
        self.padding = padding

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
            raise ValueError("its last character has bits beyond the last byte")
        return number >> self.padding

    def is_canonical(self, text: str) -> bool:
        return len(text) == self.length and not (self.padding or text.strip(self.alphabet))

    def count_of_last(self, numbers: int) -> int:
        """How many of the last digits are for the numbers below ``numbers`` and nothing else; 0 if
        they share a digit with the rest."""
        return exponent(len(self.alphabet), numbers << self.padding)

    @cached_property
    def _notation(self) -> Notation:
        aliases = dict(zip(*self.aliases, strict=True))
        characters = [*map(chr, range(128))]
        folded = [getattr(char, self.fold)() if self.fold else char for char in characters]
        digits = (aliases.get(char, char) for char in folded)
        return Notation(self.alphabet, self.length, dict(zip(characters, digits, strict=True)))


class Groups(TextForm):
    """Groups of digits with separate bits: kuuid's time and its 32-bit groups."""

    __match_args__ = ("alphabet", "groups")

    def __init__(self, alphabet: str, groups: tuple[tuple[int, int], ...]) -> None:
        """``groups`` are the characters and bits of each group, the most significant first."""
        characters, length = _character_class(alphabet), sum(length for length, _ in groups)
        super().__init__(
            *(alphabet, groups),
            length=length,
            pattern=f"[{characters}]{{{length}}}",
            expected=f"{length} characters of {characters}",
        )
        self.alphabet = alphabet
        self.groups = groups

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
                shown = repr(text[start:end])
                raise ValueError(f"{shown} is more than {bits} bits can hold")
            number = number << bits | group
        return number

    @cached_property
    def _notations(self) -> Sequence[tuple[Notation, int]]:
        """Notation and bits of each group, the least significant group first."""
        return [(Notation(self.alphabet, length), bits) for length, bits in reversed(self.groups)]


class Decimal(TextForm):
    """Plain ASCII digits without a sign or a leading zero."""

    def __init__(self, length: int, keeps_order: bool = False) -> None:
        """``keeps_order`` is True if every id has exactly ``length`` digits."""
        super().__init__(
            *(length, keeps_order),
            length=length,
            shortest=length if keeps_order else 1,
            pattern=f"[1-9][0-9]{{{length - 1}}}" if keeps_order else "(?:0|[1-9][0-9]*)",
            expected=f"a whole number of {'' if keeps_order else 'at most '}{length} digits",
            keeps_order=keeps_order,
        )

    def format(self, number: int) -> str:
        return str(number)

    def parse(self, text: str) -> int:
        if len(text) > self.length or not re.fullmatch(self.pattern, text):
            raise ValueError("it is not a plain decimal number of that size")
        return int(text)


_HYPHENATED = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class UUIDText(TextForm):
    """A UUID in hexadecimal (RFC 9562, section 4).

    Reads any case, with or without hyphens, in braces, or as a URN.
    """

    def __init__(self, hyphens: bool = True) -> None:
        super().__init__(
            hyphens,
            length=36 if hyphens else 32,
            pattern=_HYPHENATED if hyphens else "[0-9a-f]{32}",
            expected="32 hexadecimal digits, hyphens optional",
        )
        self.hyphens = hyphens

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


_UUID = re.compile(
    rf"(?:urn:uuid:)?({_HYPHENATED})|([0-9a-f]{{32}})|\{{({_HYPHENATED})\}}",
    # Without ASCII, IGNORECASE would match a dotless i to the i of "uuid".
    re.ASCII | re.IGNORECASE,
)


class SQLServerText(TextForm):
    """A UUID of ``version`` as the version 1 UUID that SQL Server shows for the same time.

    ``NEWSEQUENTIALID()`` generates a version 1 UUID and shows the bytes of its first three groups
    in reverse. Its ``uniqueidentifier`` sorts by node, then by time.
    """

    def __init__(self, version: int) -> None:
        super().__init__(
            version,
            length=36,
            pattern=_HYPHENATED,
            expected="a version 1 UUID with the bytes of its first three groups reversed",
            keeps_order=False,
        )
        self.version = version

    def format(self, number: int) -> str:
        payload = UUIDTemplate(self.version).unwrap(number)
        assert payload is not None, "the scheme formats only its own ids"
        version_1 = VERSION_1.wrap(payload)
        return str(uuid.UUID(bytes_le=version_1.to_bytes(16, "big")))

    def parse(self, text: str) -> int:
        version_1 = uuid.UUID(int=UUIDText().parse(text)).bytes_le
        payload = VERSION_1.unwrap(int.from_bytes(version_1, "big"))
        if payload is None:
            raise ValueError("it is not a version 1 UUID in SQL Server's byte order")
        return UUIDTemplate(self.version).wrap(payload)


class Base64URL(Digits):
    """The big-endian bytes in the URL-safe base 64 of RFC 4648, section 5.

    Written without padding, read with or without it. Does not keep the order.
    """

    def __init__(self, bytes: int) -> None:
        length = -(-bytes * 8 // 6)
        super().__init__(BASE64_URL, length, padding=6 * length - 8 * bytes)
        self._arguments = (bytes,)

    def parse(self, text: str) -> int:
        return super().parse(text.removesuffix("=" * (-self.length % 4)))


def _expect_length(text: str, length: int) -> None:
    if len(text) != length:
        raise ValueError(f"it has {len(text)} characters, not {length}")


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
