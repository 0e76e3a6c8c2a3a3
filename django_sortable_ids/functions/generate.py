"""Ids that the database generates, composed from a tick and a suffix in the column's format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Self

from django.db import NotSupportedError
from django.db.models import BinaryField
from django.db.models.expressions import Expression, Func
from django.utils.deconstruct import deconstructible

from ..fields import SortableIDField
from ..fields.storage import BinaryStorage, IntegerStorage, Storage, TextStorage, UUIDStorage
from ..schemes import TimeScheme, get
from ..schemes.layout import ByteFractionTemplate, Layout
from ..schemes.text_forms import Digits, UUIDText
from . import ticks
from .bits import DIGIT, Group, Part, Run, bits_of, groups_of_new
from .fragments import (
    RANDOM_BITS,
    SQL,
    Compiled,
    HexOfInteger,
    HyphenatedHex,
    RandomHex,
    RandomInteger,
    RandomVariant,
    SQLInteger,
    SQLText,
    joined,
)

_NEEDS_SCHEME = (
    "GenerateID() takes its scheme from the column if it is the db_default of a sortable id; "
    'elsewhere name the scheme, such as GenerateID("ulid")'
)


@deconstructible(path=f"{__package__}.GenerateID")
class GenerateID(Func):
    """A new id of the scheme, of the current time or of ``at``, with a random suffix.

    ``db_default=GenerateID()`` takes the scheme from its field. Elsewhere, as in ``update()``, name
    the scheme: ``GenerateID("ulid")``. ``options`` are those of the scheme, ``storage`` is that of
    the column if it is not the default, and ``at`` is a ``DateTimeField``'s name or expression.

    Ids of one tick have no order. On SQLite, all ids of a statement are of one tick. Ids have no
    worker number: an id of 64 bits collides with another one of its tick with a chance of 1 in 4
    million (snowflakes) or 1 in 100,000 (time64). So thousands of rows in one INSERT will collide.

    Raises ``NotSupportedError`` if the database can't generate the ids, ``OutOfRange`` if the
    scheme can't hold the current time, ``LookupError`` for an unknown scheme, and ``TypeError`` for
    an unknown option.
    """

    def __init__(
        self,
        scheme: str | None = None,
        *,
        at: Any = None,
        storage: str | None = None,
        **options: Any,
    ) -> None:
        if scheme is None and (storage or options):
            raise TypeError(_NEEDS_SCHEME)
        self._id_field = None if scheme is None else _GeneratedID(scheme, options, storage)
        self.at = at is not None
        super().__init__(*([at] if self.at else []), output_field=self._id_field)

    @property
    def generated(self) -> "_GeneratedID":
        """The field of the ids; ``TypeError`` if the scheme is not known yet."""
        if self._id_field is None:
            raise TypeError(_NEEDS_SCHEME)
        return self._id_field

    def for_column(self, field: SortableIDField) -> Self:
        """This expression for the column of a field; ``ValueError`` if it generates other ids."""
        if self._id_field is None:
            storage = {"storage": field.storage} if field.storage else {}
            options = {**self.deconstruct()[2], **storage, **field.scheme_arguments}
            return type(self)(field.scheme_name, **options)
        scheme = get(field.scheme_name, **field.scheme_arguments)
        if (self.generated.scheme, self.generated.storage) != (scheme, field.storage):
            raise ValueError(
                f"{self!r} generates {self.generated.scheme.title} with "
                f"storage={self.generated.storage!r}; the column is of the scheme "
                f"{scheme.title} with storage={field.storage!r}. Use the same scheme and storage "
                f"for both"
            )
        return self

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        scheme = self.generated.scheme
        if self._is_native(connection):
            new_id: Expression = SQL("uuidv7()", mysql="UUID_v7()")
        elif self.at:
            tick = ticks.tick_at(ticks.UnixMicroseconds(*self.get_source_expressions()), scheme)
            new_id = Composition(scheme, self.generated.stored(connection), connection).id_of(tick)
        else:
            scheme.tick(datetime.now(UTC))  # raises if it can't hold the current time
            new_id = self.generated.new_id(connection)
        compiled: Compiled = compiler.compile(new_id)
        return compiled

    def _is_native(self, connection: Any) -> bool:
        is_uuid = isinstance(self.generated.stored(connection), UUIDStorage)
        if self.at or not is_uuid or not self.generated.scheme.is_uuid7:
            return False
        if connection.vendor == "mysql":
            return bool(connection.mysql_is_mariadb and connection.mysql_version >= (11, 7))
        return connection.vendor == "postgresql" and bool(connection.pg_version >= 180000)


class _GeneratedID(SortableIDField):
    scheme: TimeScheme

    def __init__(self, scheme_name: str, options: Mapping[str, Any], storage: str | None) -> None:
        if not isinstance(scheme := get(scheme_name, **options), TimeScheme):
            raise TypeError(
                f"ids of the scheme {scheme.title} count: remove GenerateID() and let Python "
                f"generate the ids"
            )
        self.scheme_name = scheme_name  # type: ignore[misc]
        super().__init__(storage=storage, **options)
        for wrong in self.wrong_options:
            raise ValueError(wrong.message)
        self._new_ids: dict[str, Expression] = {}

    def new_id(self, connection: Any) -> Expression:
        """An id of the current time; composed once, because SQLite compiles it for every row."""
        if connection.vendor in self._new_ids:
            return self._new_ids[connection.vendor]
        composition = Composition(self.scheme, self.stored(connection), connection)
        if self.scheme.is_uuid7:
            # RFC 9562, 6.2, method 3: 12 bits of the millisecond's fraction, until the year 2540.
            of_now, by = ticks.UnixMicrosecondsNow(), "({0} * 512 DIV 125)"
            first = HexOfInteger(SQLInteger("({0} * 512 / 125)", of_now, mysql=by), digits=15)
            new_id = composition.from_hex(composition.versioned(first, RandomVariant()))
        else:
            often = composition.reads_tick_often
            clock = ticks.StatementMicroseconds() if often else ticks.UnixMicrosecondsNow()
            new_id = composition.id_of(ticks.tick_at(clock, self.scheme))
        self._new_ids[connection.vendor] = new_id
        return new_id


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
        if isinstance(self._layout.template, ByteFractionTemplate):
            return True
        if isinstance(self.stored, IntegerStorage):
            return False
        groups = chain.from_iterable(self._groups(ranked=False))
        return sum(run.part is Part.TICK for _, group in groups for run in group) > 1

    @property
    def ranks(self) -> int:
        """How many ranks there are; each has ``suffixes // ranks`` suffixes."""
        is_integer = isinstance(self.stored, IntegerStorage)
        return self._layout.suffixes if is_integer else 1 << self._rank_bits

    def id_of(self, tick: Expression, rank: Expression | None = None) -> Expression:
        """An id of this tick, with this rank or a random suffix.

        The SQL may contain both expressions several times. Raises ``NotSupportedError`` for text
        that isn't hexadecimal, and for integers with more suffixes than can be drawn.
        """
        form = self.stored.form if isinstance(self.stored, TextStorage) else None
        is_hex = isinstance(form, Digits) and len(form.alphabet) == 16
        if form is not None and not (is_hex or isinstance(form, UUIDText)):
            raise NotSupportedError(
                f"{self.connection.display_name} can't generate {self.scheme.title} as text, "
                f"{form.expected}: remove the expression and let Python generate the ids, or "
                f"store them as bytes, with storage='binary'"
            )
        layout, is_integer = self._layout, isinstance(self.stored, IntegerStorage)
        if is_integer and layout.suffixes > 1 << RANDOM_BITS:
            raise NotSupportedError(
                f"the database can't generate {self.scheme.title} with {layout.suffixes} suffixes "
                f"per tick: expected at most {1 << RANDOM_BITS}; let Python generate the ids"
            )
        if layout.descending:
            tick = ticks.complement(tick, layout.ticks - 1)
            rank = rank and ticks.complement(rank, self.ranks - 1)
        if is_integer:
            suffix = rank or RandomInteger(below=layout.suffixes)
            return ticks.weighted_sum([tick, suffix], [layout.suffixes, 1])
        return self.from_hex(self._hex(tick, rank))

    def from_hex(self, digits: Expression) -> Expression:
        match self.stored:
            case BinaryStorage():
                # SQLite has it from 3.41; the app adds it to older versions.
                decode = "decode({0}, 'hex')"
                return SQL("unhex({0})", digits, postgresql=decode, output_field=BinaryField())
            case UUIDStorage():
                return SQL("{0}", digits, postgresql="({0})::uuid")
            case TextStorage(form=UUIDText(hyphens=True)):
                return HyphenatedHex(digits)
            case TextStorage(form=Digits(alphabet)) if alphabet.isupper():
                return SQLText("upper({0})", digits)
        return digits

    def versioned(self, first: Expression, *rest: Expression) -> Expression:
        """The digits of a UUID: the first 15, with the version inserted, and the other 16."""
        version = f"'{self._layout.template.version:x}'"
        inserted = SQLText(
            f"substr({{0}}, 1, 12) || {version} || substr({{0}}, 13)",
            first,
            postgresql=f"overlay({{0}} placing {version} from 13 for 0)",
            mysql=f"INSERT({{0}}, 13, 0, {version})",
        )
        return joined([inserted, *rest])

    @property
    def _rank_bits(self) -> int:
        """How many first bits of a suffix are its rank; the rest is whole hexadecimal digits."""
        bits = self._layout.suffixes.bit_length() - 1
        return bits if bits <= RANDOM_BITS else RANDOM_BITS - (RANDOM_BITS - bits) % DIGIT

    def _hex(self, tick: Expression, rank: Expression | None) -> Expression:
        template = self._layout.template
        if isinstance(template, ByteFractionTemplate):
            # Whole seconds and a byte of fraction. The SQL contains the tick twice.
            tick = SQLInteger(
                "({0} / {by} * 256 + {0} %% {by})",
                tick,
                postgresql="({0} / {by} * 256 + mod({0}, {by}))",
                mysql="({0} DIV {by} * 256 + {0} MOD {by})",
                by=template.fractions,
            )
        bits = bits_of(self._layout, 8 * self.scheme.byte_length)
        parts = {Part.TICK: (tick, sum(part is Part.TICK for part, _ in bits))}
        if rank is not None:
            parts[Part.RANK] = (rank, self._rank_bits)
        groups = [_digits_of(group, parts) for group in self._groups(ranked=rank is not None)]
        if template.version is None:
            return joined(chain.from_iterable(groups))
        first, rest = groups
        return self.versioned(joined(first), *rest)

    def _groups(self, *, ranked: bool) -> Sequence[Sequence[Group]]:
        """The digits of a number; for a UUID, in two halves, without the version."""
        suffix_bits = self._layout.suffixes.bit_length() - 1
        random_bits = suffix_bits - self._rank_bits if ranked else suffix_bits
        return groups_of_new(self._layout, 8 * self.scheme.byte_length, random_bits)


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
        return ticks.ShiftedRight(whole, bits=run.low, mask=(1 << run.bits) - 1)

    digits: list[Expression] = []
    pieces = [(run.part, run.bits) for _, group in groups for run in group]
    if pieces == [(Part.FIXED, 2), (Part.RANDOM, 2), (Part.RANDOM, 60)]:
        return [RandomVariant()]
    for count, group in groups:
        of_parts = [run for run in group if run.part is not Part.FIXED]
        constant = sum(run.low << run.at for run in group if run.part is Part.FIXED)
        if not of_parts:
            digits.append(SQLText(f"'{constant:0{count}x}'"))
        elif all(run.part is Part.RANDOM for run in group):
            digits.append(RandomHex(digits=count))
        else:
            weights = [1 << run.at for run in of_parts]
            number = ticks.weighted_sum([*map(number_of, of_parts)], weights, constant)
            digits.append(HexOfInteger(number, digits=count))
    return digits
