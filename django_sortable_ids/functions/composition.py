"""Composes an id from its tick and its suffix in SQL, in the format of its column."""

from dataclasses import dataclass
from typing import Any

from django.db import NotSupportedError
from django.db.models import BigIntegerField
from django.db.models.expressions import Expression

from ..fields.values.storage import BinaryStorage, IntegerStorage, Storage, TextStorage, UUIDStorage
from ..schemes import TimeScheme
from ..schemes.bit_templates import ByteFractionTemplate, UUIDTemplate
from ..schemes.encodings.text_forms import Digits, Groups, UUIDText
from .digits import DigitsOfInteger
from .fragments import Fragment, joined
from .hexadecimal import BytesOfHex, HexOfInteger, HyphenatedHex, InsertedHex, Upper, UUIDOfHex
from .randomness import RANDOM_BITS, RandomDigits, RandomHex, RandomInteger, RandomVariant
from .ticks import Complement, ShiftedRight, WithByteFraction, hex_positions

_RANK_BITS = RANDOM_BITS
_UUID_RANK_BITS = 46
"""12 hexadecimal digits, together with the variant before them."""


@dataclass(frozen=True, slots=True)
class Composition:
    """Composes a column's ids from numbers of the database.

    A suffix starts with its rank, a number below ``ranks``; the rest is random. So ids of one tick
    with ascending ranks are in order, and still can't be guessed.
    """

    scheme: TimeScheme
    stored: Storage
    connection: Any

    @property
    def reads_tick_often(self) -> bool:
        """Whether the SQL contains the tick more than once, and needs the same value each time."""
        template = self.scheme.layout.template
        return self._is_other_text or isinstance(template, ByteFractionTemplate)

    @property
    def ranks(self) -> int:
        """How many ranks there are; each has ``suffixes // ranks`` suffixes.

        Raises ``NotSupportedError`` if the database can't write the column's text.
        """
        suffixes = self.scheme.layout.suffixes
        if isinstance(self.stored, IntegerStorage):
            if suffixes > 1 << _RANK_BITS:
                raise NotSupportedError(
                    f"the database can't generate a {self.scheme.title} with {suffixes} suffixes "
                    f"per tick: expected at most {1 << _RANK_BITS}"
                )
            return suffixes
        if self._is_other_text:
            alphabet, _, groups = self._text_parts()
            digits, bits = groups[0]
            if bits is not None:
                return 1 << bits
            base = len(alphabet)
            while base**digits > 1 << _RANK_BITS:
                digits -= 1
            return int(base**digits)
        uuid = isinstance(self.scheme.layout.template, UUIDTemplate)
        return min(suffixes, 1 << (_UUID_RANK_BITS if uuid else _RANK_BITS))

    def made_of(self, tick: Expression, rank: Expression | None = None) -> Expression:
        """An id of this tick, with this rank or a random suffix.

        The SQL may contain both expressions several times. Raises ``NotSupportedError`` if the
        database can't write the column's text.
        """
        layout = self.scheme.layout
        if layout.descending:
            tick = Complement(tick, last=layout.ticks - 1)
            rank = rank and Complement(rank, last=self.ranks - 1)
        if isinstance(self.stored, IntegerStorage):
            suffix = rank or RandomInteger(below=layout.suffixes)
            return Composed(tick, suffix, suffixes=layout.suffixes)
        if self._is_other_text:
            return self._text(tick, rank)
        return self.from_hex(self._hex(tick, rank))

    def from_hex(self, digits: Expression) -> Expression:
        """Hexadecimal digits in the format of the column."""
        match self.stored:
            case BinaryStorage():
                return BytesOfHex(digits)
            case UUIDStorage():
                return UUIDOfHex(digits)
            case TextStorage(form=UUIDText(hyphens=True)):
                return HyphenatedHex(digits)
            case TextStorage(form=Digits(alphabet)) if alphabet.isupper():
                return Upper(digits)
        return digits

    def versioned(self, first: Expression, *rest: Expression) -> Expression:
        """The digits of a UUID: the first 15, with the version inserted, and the other 16."""
        version = self.scheme.layout.template.version
        return joined([InsertedHex(first, position=13, digit=f"{version:x}"), *rest])

    @property
    def _is_other_text(self) -> bool:
        """Whether the column stores text that is not hexadecimal."""
        if not isinstance(self.stored, TextStorage):
            return False
        form = self.stored.form
        return not (
            isinstance(form, UUIDText) or (isinstance(form, Digits) and len(form.alphabet) == 16)
        )

    def _hex(self, tick: Expression, rank: Expression | None) -> Expression:
        scheme, template = self.scheme, self.scheme.layout.template
        length = len(hex_positions(scheme))
        if isinstance(template, UUIDTemplate):
            return self._uuid_hex(tick, rank, length)
        if isinstance(template, ByteFractionTemplate):
            tick = WithByteFraction(tick, fractions=template.fractions)
        random = 2 * scheme.byte_length - length
        suffix: list[Expression] = []
        if rank:
            suffix.append(HexOfInteger(rank, digits=_RANK_BITS // 4))
            random -= _RANK_BITS // 4
        return joined([HexOfInteger(tick, digits=length), *suffix, RandomHex(digits=random)])

    def _uuid_hex(self, tick: Expression, rank: Expression | None, length: int) -> Expression:
        if rank is None:
            random = [] if length == 15 else [RandomHex(digits=15 - length)]
            first = joined([HexOfInteger(tick, digits=length), *random])
            return self.versioned(first, RandomVariant())
        bits = _UUID_RANK_BITS
        if length < 15:
            # The suffix starts before the variant.
            high_bits = 4 * (15 - length)
            bits -= high_bits
            high = ShiftedRight(rank, bits=bits, mask=(1 << high_bits) - 1)
            tick = Composed(tick, high, suffixes=1 << high_bits)
            rank = ShiftedRight(rank, bits=0, mask=(1 << bits) - 1)
        variant = _Sum(rank, number=0b10 << bits)
        digits = (bits + 2) // 4
        return self.versioned(
            HexOfInteger(tick, digits=15),
            HexOfInteger(variant, digits=digits),
            RandomHex(digits=16 - digits),
        )

    def _text(self, tick: Expression, rank: Expression | None) -> Expression:
        """The id in digits of another alphabet; its time and its suffix share no digit."""
        alphabet, length, groups = self._text_parts()
        suffix: list[Expression] = []
        for digits, bits in groups:
            if rank is None:
                suffix += _random_group(alphabet, digits, bits)
                continue
            ranked = _length(self.ranks, len(alphabet))
            suffix.append(DigitsOfInteger(rank, alphabet=alphabet, length=ranked))
            if ranked < digits:
                suffix.append(RandomDigits(alphabet=alphabet, length=digits - ranked))
            rank = None
        return joined([DigitsOfInteger(tick, alphabet=alphabet, length=length), *suffix])

    def _text_parts(self) -> tuple[str, int, list[tuple[int, int | None]]]:
        """The alphabet, the count of time digits, and digits and bits of each suffix group."""
        assert isinstance(self.stored, TextStorage)
        match self.stored.form:
            case Groups(alphabet, ((length, _), *groups)):
                return alphabet, length, list(groups)
            case Digits(alphabet, total) if suffix_digits := _whole_digits(
                self.scheme.layout.suffixes, len(alphabet)
            ):
                return alphabet, total - suffix_digits, [(suffix_digits, None)]
            case form:
                version = ".".join(map(str, self.connection.get_database_version()))
                raise NotSupportedError(
                    f"{self.connection.display_name} {version} can't generate a "
                    f"{self.scheme.title} as text, {form.expected}: store it as bytes, with "
                    f"storage='binary', or remove the expression and let Python generate the ids"
                )


class Composed(Fragment):
    """Two numbers in one: ``{0} * suffixes + {1}``."""

    output_field = BigIntegerField()
    postgresql = sqlite = mysql = "({0} * {suffixes} + {1})"


class _Sum(Fragment):
    output_field = BigIntegerField()
    postgresql = sqlite = mysql = "({0} + {number})"


def _whole_digits(suffixes: int, base: int) -> int:
    """How many digits of this base the suffix has; 0 if it is not a whole number of digits."""
    length = 0
    while suffixes % base == 0:
        suffixes //= base
        length += 1
    return length if suffixes == 1 else 0


def _length(numbers: int, base: int) -> int:
    """How many digits the largest number below ``numbers`` has."""
    length, last = 1, numbers - 1
    while last := last // base:
        length += 1
    return length


def _random_group(alphabet: str, length: int, bits: int | None) -> list[Expression]:
    """Random digits that fit into ``bits``: the first is less than that of the largest number."""
    if bits is None:
        return [RandomDigits(alphabet=alphabet, length=length)]
    largest = ((1 << bits) - 1) // len(alphabet) ** (length - 1)
    return [
        RandomDigits(alphabet=alphabet[:largest], length=1),
        RandomDigits(alphabet=alphabet, length=length - 1),
    ]
