"""Text forms: how the number of an id is written, and strictly read back.

``parse`` raises ``ValueError`` with the reason. Every form but ``Decimal`` has a fixed width, and
every pattern is anchored by its user with ``fullmatch``: ``$`` would let a trailing newline in,
and ``int`` and ``uuid.UUID`` take digits of other scripts, signs, blanks and underscores.
"""

import base64
import re
import uuid
from dataclasses import dataclass
from typing import Literal, Protocol

from . import alphabets
from .frames import TimeLowFirstFrame, UUIDFrame

_BITS_BEYOND = "its last character has bits beyond the last byte"


class TextForm(Protocol):
    @property
    def keeps_order(self) -> bool:
        """Whether the text sorts, byte by byte, as the numbers do."""

    @property
    def length(self) -> int:
        """How many characters an id has at the most."""

    @property
    def pattern(self) -> str:
        """A regular expression, not anchored, that the canonical spelling matches."""

    @property
    def expected(self) -> str:
        """What a right text is, in words: for error messages."""

    def format(self, number: int) -> str:
        """The canonical spelling."""

    def parse(self, text: str) -> int:
        """The number; ``ValueError`` with the reason where the text isn't of this form."""


@dataclass(frozen=True, slots=True)
class Digits:
    """Fixed-width digits of one alphabet."""

    alphabet: str
    length: int
    fold: Literal["upper", "lower"] | None = None
    """The case to bring the input to; None where only the alphabet's own case is right."""
    aliases: tuple[str, str] = ("", "")
    """Characters that are read as others, in the case of ``fold``: ``("ILO", "110")``."""
    padding: int = 0
    """Zero bits behind the number, where its digits stand at the left end of the text."""

    @property
    def keeps_order(self) -> bool:
        return list(self.alphabet) == sorted(self.alphabet)

    @property
    def pattern(self) -> str:
        return f"[{_character_class(self.alphabet)}]{{{self.length}}}"

    @property
    def expected(self) -> str:
        case = ", in any case" if self.fold else ""
        return f"{self.length} characters of {_character_class(self.alphabet)}{case}"

    def format(self, number: int) -> str:
        return alphabets.digits(number << self.padding, self.alphabet, self.length)

    def parse(self, text: str) -> int:
        _expect_length(text, self.length)
        if self.fold and text.isascii():
            text = text.upper() if self.fold == "upper" else text.lower()
        if self.aliases[0]:
            text = text.translate(str.maketrans(*self.aliases))
        number = alphabets.number(text, self.alphabet)
        if number & ((1 << self.padding) - 1):
            raise ValueError(_BITS_BEYOND)
        return number >> self.padding


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of digits, each with bits of its own: kuuid's time and its 32-bit groups."""

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
        return f"{self.length} characters of {_character_class(self.alphabet)}"

    def format(self, number: int) -> str:
        parts = []
        for length, bits in reversed(self.groups):
            parts.append(alphabets.digits(number & ((1 << bits) - 1), self.alphabet, length))
            number >>= bits
        return "".join(reversed(parts))

    def parse(self, text: str) -> int:
        _expect_length(text, self.length)
        number = start = 0
        for length, bits in self.groups:
            group = alphabets.number(text[start : start + length], self.alphabet)
            if group >> bits:
                raise ValueError(
                    f"{text[start : start + length]!r} is more than {bits} bits can hold"
                )
            number = number << bits | group
            start += length
        return number


@dataclass(frozen=True, slots=True)
class Decimal:
    """Plain ASCII digits without a sign or a leading zero."""

    length: int
    keeps_order: bool = False
    """True where every id has ``length`` digits, none fewer."""

    @property
    def pattern(self) -> str:
        return f"[1-9][0-9]{{{self.length - 1}}}" if self.keeps_order else "(?:0|[1-9][0-9]*)"

    @property
    def expected(self) -> str:
        at_most = "" if self.keeps_order else "at most "
        return f"a whole number of {at_most}{self.length} digits"

    def format(self, number: int) -> str:
        return str(number)

    def parse(self, text: str) -> int:
        if len(text) > self.length or not re.fullmatch(self.pattern, text):
            raise ValueError("not a plain decimal number of that size")
        return int(text)


@dataclass(frozen=True, slots=True)
class UUIDText:
    """A UUID in hexadecimal (RFC 9562, section 4).

    Read in any case, with or without the hyphens, in braces, or as a URN.
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
            raise ValueError("not a UUID in hexadecimal")
        return int((match[1] or match[2] or match[3]).replace("-", ""), 16)


_HYPHENATED = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID = re.compile(
    rf"(?:urn:uuid:)?({_HYPHENATED})|([0-9a-f]{{32}})|\{{({_HYPHENATED})\}}",
    # Without ASCII, IGNORECASE makes a-z match the dotless i in "uuid".
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Base64URL:
    """The big-endian bytes in the URL-safe base 64 of RFC 4648, section 5.

    Written without padding, read with or without. Does not keep the order.
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
            raise ValueError("not URL-safe base 64 of that size")
        number = int.from_bytes(base64.urlsafe_b64decode(text[: self.length] + "=" * padding))
        if self.format(number) != text[: self.length]:
            raise ValueError(_BITS_BEYOND)
        return number


@dataclass(frozen=True, slots=True)
class SQLServerText:
    """A UUID of ``version`` as the version 1 UUID that SQL Server shows for the same time.

    ``NEWSEQUENTIALID()`` makes a version 1 UUID and shows the bytes of its first three groups in
    reverse. Its ``uniqueidentifier`` sorts by node, then by time: see ``sort_key``.
    """

    version: int
    keeps_order: bool = False
    length: int = 36

    @property
    def pattern(self) -> str:
        return UUIDText().pattern

    @property
    def expected(self) -> str:
        return "a version 1 UUID with the bytes of its first three groups reversed"

    def format(self, number: int) -> str:
        payload = UUIDFrame(self.version).unwrap(number)
        assert payload is not None, "the scheme formats only its own ids"
        version_1 = TimeLowFirstFrame().wrap(payload)
        return str(uuid.UUID(bytes_le=version_1.to_bytes(16, "big")))

    def parse(self, text: str) -> int:
        shown = UUIDText().parse(text)
        version_1 = uuid.UUID(int=shown).bytes_le
        payload = TimeLowFirstFrame().unwrap(int.from_bytes(version_1, "big"))
        if payload is None:
            raise ValueError("not a version 1 UUID in SQL Server's byte order")
        return UUIDFrame(self.version).wrap(payload)

    @staticmethod
    def sort_key(text: str) -> bytes:
        """What SQL Server compares: bytes 10 to 15, then 8 and 9, then 7 down to 0."""
        shown = UUIDText().parse(text).to_bytes(16, "big")
        return shown[10:] + shown[8:10] + shown[7::-1]


def _expect_length(text: str, length: int) -> None:
    if len(text) != length:
        raise ValueError(f"it has {len(text)} characters, not {length}")


def _character_class(alphabet: str) -> str:
    """The alphabet with its runs shortened: ``0-9A-HJKMNP-TV-Z``."""
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
