"""Composes an id from its tick and its suffix in SQL, in the format of its column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db import NotSupportedError
from django.db.models import BinaryField
from django.db.models.expressions import Expression

from ..fields.values.storage import BinaryStorage, IntegerStorage, Storage, TextStorage, UUIDStorage
from ..schemes import TimeScheme
from ..schemes.encodings.text_forms import Digits, Groups, Prefixed, TextForm, UUIDText
from ..schemes.layout import ByteFractionTemplate, Layout
from .bits import DIGIT, Group, Part, Run, groups_of_new, runs
from .fragments import (
    RANDOM_BITS,
    HexOfInteger,
    HyphenatedHex,
    Integer,
    RandomDigits,
    RandomHex,
    RandomInteger,
    RandomVariant,
    Template,
    Text,
    joined,
)
from .ticks import (
    ShiftedRight,
    complement,
    digit_count,
    weighted_sum,
)


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
    def _layout(self) -> Layout:
        return self.scheme.layout.new

    @property
    def reads_tick_often(self) -> bool:
        """Whether the SQL contains the tick more than once, and needs the same value each time."""
        template = self._layout.template
        if self._is_other_text or isinstance(template, ByteFractionTemplate):
            return True
        if isinstance(self.stored, IntegerStorage):
            return False
        groups = chain.from_iterable(self._groups(ranked=False))
        return sum(run.part is Part.TICK for _, group in groups for run in group) > 1

    @property
    def ranks(self) -> int:
        """How many ranks there are; each has ``suffixes // ranks`` suffixes.

        Raises ``NotSupportedError`` if the database can't write ids with a given rank.
        """
        if isinstance(self.stored, IntegerStorage):
            return self._integer_suffixes()
        if not self._is_other_text:
            return 1 << self._rank_bits
        alphabet, _, groups = self._text_parts()
        digits, bits = groups[0]
        if bits is None:
            digits = min(digits, digit_count(1 << RANDOM_BITS, len(alphabet)) - 1)
            return int(len(alphabet) ** digits)
        if bits > RANDOM_BITS:
            raise self._too_many_suffixes(1 << bits)
        return 1 << bits

    def made_of(self, tick: Expression, rank: Expression | None = None) -> Expression:
        """An id of this tick, with this rank or a random suffix.

        The SQL may contain both expressions several times. Raises ``NotSupportedError`` if the
        database can't write the column's text.
        """
        layout = self._layout
        if layout.descending:
            tick = complement(tick, layout.ticks - 1)
            rank = rank and complement(rank, self.ranks - 1)
        if isinstance(self.stored, IntegerStorage):
            suffixes = self._integer_suffixes()
            suffix = rank or RandomInteger(below=suffixes)
            return weighted_sum([tick, suffix], [suffixes, 1])
        if self._is_other_text:
            made = self._text(tick, rank)
        else:
            made = self.from_hex(self._hex(tick, rank))
        prefix = self._prefix
        return joined([Text("'{text}'", text=prefix), made]) if prefix else made

    def _integer_suffixes(self) -> int:
        suffixes = self._layout.suffixes
        if suffixes > 1 << RANDOM_BITS:
            raise self._too_many_suffixes(suffixes)
        return suffixes

    def _too_many_suffixes(self, suffixes: int) -> NotSupportedError:
        return NotSupportedError(
            f"the database can't generate {self.scheme.title} with {suffixes} suffixes per tick: "
            f"expected at most {1 << RANDOM_BITS}; let Python generate the ids"
        )

    def from_hex(self, digits: Expression) -> Expression:
        """Hexadecimal digits in the format of the column."""
        match self.stored, self._form:
            case BinaryStorage(), _:
                # SQLite has it from 3.41; the app adds it to older versions.
                decode = "decode({0}, 'hex')"
                return Template("unhex({0})", digits, postgresql=decode, output_field=BinaryField())
            case UUIDStorage(), _:
                return Template("{0}", digits, postgresql="({0})::uuid")
            case _, UUIDText(hyphens=True):
                return HyphenatedHex(digits)
            case _, Digits(alphabet) if alphabet.isupper():
                return Text("upper({0})", digits)
        return digits

    def versioned(self, first: Expression, *rest: Expression) -> Expression:
        """The digits of a UUID: the first 15, with the version inserted, and the other 16."""
        version = f"'{self._layout.template.version:x}'"
        inserted = Text(
            f"substr({{0}}, 1, 12) || {version} || substr({{0}}, 13)",
            first,
            postgresql=f"overlay({{0}} placing {version} from 13 for 0)",
            mysql=f"INSERT({{0}}, 13, 0, {version})",
        )
        return joined([inserted, *rest])

    @property
    def _is_other_text(self) -> bool:
        """Whether the column stores text that is not hexadecimal."""
        form = self._form
        is_hex = isinstance(form, UUIDText) or (
            isinstance(form, Digits) and len(form.alphabet) == 16
        )
        return form is not None and not is_hex

    @property
    def _form(self) -> TextForm | None:
        """The form of the stored text, without its prefix; None if no text is stored."""
        form = self.stored.form if isinstance(self.stored, TextStorage) else None
        return form.form if isinstance(form, Prefixed) else form

    @property
    def _prefix(self) -> str:
        form = self.stored.form if isinstance(self.stored, TextStorage) else None
        return form.prefix if isinstance(form, Prefixed) else ""

    @property
    def _rank_bits(self) -> int:
        """Those of the suffix's first bits that leave whole hexadecimal digits to be random."""
        bits = self._layout.suffixes.bit_length() - 1
        return bits if bits <= RANDOM_BITS else RANDOM_BITS - (RANDOM_BITS - bits) % DIGIT

    def _hex(self, tick: Expression, rank: Expression | None) -> Expression:
        template = self._layout.template
        if isinstance(template, ByteFractionTemplate):
            # Whole seconds and a byte of fraction. The SQL contains the tick twice.
            tick = Integer(
                "({0} / {by} * 256 + {0} %% {by})",
                tick,
                postgresql="({0} / {by} * 256 + mod({0}, {by}))",
                mysql="({0} DIV {by} * 256 + {0} MOD {by})",
                by=template.fractions,
            )
        placed = runs(self._layout, 8 * self.scheme.byte_length)
        parts = {Part.TICK: (tick, sum(run.bits for run in placed if run.part is Part.TICK))}
        if rank is not None:
            parts[Part.RANK] = (rank, self._rank_bits)
        groups = [_digits_of(group, parts) for group in self._groups(ranked=rank is not None)]
        if template.version is None:
            return joined(chain.from_iterable(groups))
        first, rest = groups
        return self.versioned(joined(first), *rest)

    def _groups(self, *, ranked: bool) -> Sequence[Sequence[Group]]:
        """The digits of a number; those of a UUID without its version, in two halves."""
        suffix_bits = self._layout.suffixes.bit_length() - 1
        random_bits = suffix_bits - self._rank_bits if ranked else suffix_bits
        return groups_of_new(self._layout, 8 * self.scheme.byte_length, random_bits)

    def _text(self, tick: Expression, rank: Expression | None) -> Expression:
        """The id in digits of another alphabet; its time and its suffix share no digit."""
        alphabet, length, groups = self._text_parts()
        suffix: list[Expression] = []
        for digits, bits in groups:
            if rank is None:
                suffix += _random_group(alphabet, digits, bits)
                continue
            ranked = digit_count(self.ranks - 1, len(alphabet))
            suffix.append(_digits_of_integer(rank, alphabet, ranked))
            if ranked < digits:
                suffix.append(RandomDigits(alphabet=alphabet, length=digits - ranked))
            rank = None
        return joined([_digits_of_integer(tick, alphabet, length), *suffix])

    def _text_parts(self) -> tuple[str, int, list[tuple[int, int | None]]]:
        """The alphabet, the count of time digits, and digits and bits of each suffix group."""
        match self._form:
            case Groups(alphabet, ((length, _), *groups)):
                return alphabet, length, list(groups)
            case Digits(alphabet, total, padding=0) as form if suffix_digits := form.count_of_last(
                self._layout.suffixes
            ):
                return alphabet, total - suffix_digits, [(suffix_digits, None)]
            case form:
                assert form is not None
                version = ".".join(map(str, self.connection.get_database_version()))
                raise NotSupportedError(
                    f"{self.connection.display_name} {version} can't generate "
                    f"{self.scheme.title} as text, {form.expected}: store it as bytes, with "
                    f"storage='binary', or remove the expression and let Python generate the ids"
                )


def _digits_of_integer(number: Expression, alphabet: str, length: int) -> Expression:
    """The last ``length`` digits of a number >= 0 in ``alphabet``. The SQL contains the number once
    per digit."""
    base = len(alphabet)

    def digits(sql: str) -> list[str]:
        powers = (base**power for power in range(length - 1, -1, -1))
        return [f"substr('{alphabet}', 1 + {sql.format(power, base)}, 1)" for power in powers]

    return Text(
        " || ".join(digits("({{0}}) / {} %% {}")),
        number,
        postgresql=" || ".join(digits("mod({{0}} / {}, {})::int")),
        mysql=f"CONCAT({', '.join(digits('({{0}}) DIV {} MOD {}'))})",
    )


def _digits_of(
    groups: Sequence[Group], parts: Mapping[Part, tuple[Expression, int]]
) -> list[Expression]:
    """The hexadecimal digits of groups; ``parts`` are numbers of the database with their bits."""

    def number_of(run: Run) -> Expression:
        if run.part is Part.RANDOM:
            return RandomInteger(below=1 << run.bits)
        whole, bits = parts[run.part]
        if (run.low, run.bits) == (0, bits):
            return whole
        return ShiftedRight(whole, bits=run.low, mask=(1 << run.bits) - 1)

    digits: list[Expression] = []
    pieces = [(run.part, run.bits) for _, group in groups for run in group]
    if pieces == [(Part.FIXED, 2), (Part.RANDOM, 2), (Part.RANDOM, 60)]:
        return [RandomVariant()]
    for count, group in groups:
        of_parts = [run for run in group if run.part is not Part.FIXED]
        constant = sum(run.low << run.at for run in group if run.part is Part.FIXED)
        if not of_parts:
            digits.append(Text(f"'{constant:0{count}x}'"))
        elif all(run.part is Part.RANDOM for run in group):
            digits.append(RandomHex(digits=count))
        else:
            weights = [1 << run.at for run in of_parts]
            number = weighted_sum([*map(number_of, of_parts)], weights, constant)
            digits.append(HexOfInteger(number, digits=count))
    return digits


def _random_group(alphabet: str, length: int, bits: int | None) -> list[Expression]:
    """Random digits that fit into ``bits``: the first is less than that of the largest number."""
    if bits is None:
        return [RandomDigits(alphabet=alphabet, length=length)]
    largest = ((1 << bits) - 1) // len(alphabet) ** (length - 1)
    return [
        RandomDigits(alphabet=alphabet[:largest], length=1),
        RandomDigits(alphabet=alphabet, length=length - 1),
    ]
