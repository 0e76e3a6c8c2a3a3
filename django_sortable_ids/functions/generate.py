"""Ids that the database makes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from django.db import NotSupportedError
from django.db.models import BigIntegerField
from django.db.models.expressions import Expression, Func

from ..fields import SortableIDField
from ..fields.storage import BinaryStorage, IntegerStorage, TextStorage, UUIDStorage
from ..schemes import TimeScheme
from ..schemes.frames import ByteFractionFrame, UUIDFrame
from ..schemes.text_forms import Digits, Groups, UUIDText
from .digits import DigitsOfInteger
from .fragments import Compiled, Fragment, joined
from .hexadecimal import BytesOfHex, HexOfInteger, HyphenatedHex, InsertedHex, Upper, UUIDOfHex
from .moments import StatementMicroseconds, UnixMicroseconds, UnixMicrosecondsNow
from .randomness import RandomDigits, RandomHex, RandomInteger, RandomVariant
from .ticks import Complement, WithByteFraction, hex_positions


class GenerateID(Func):
    """A new id of the scheme, of now or of ``at``, with a random tail.

    ``GenerateID("ulid")`` and the like are for ``db_default`` and for ``update()``. ``options`` are
    those of the scheme, ``storage`` is that of the column where it isn't the default one (a field
    tells its own to its ``db_default``), and ``at`` is a ``DateTimeField``'s name or expression.

    Ids of one tick have no order among them, and SQLite makes all ids of a statement in one tick.
    They have no worker number: an id of 64 bits hits another one of its tick with a chance of 1 in
    4 million (snowflakes) or 1 in 100,000 (time64), so that thousands of rows in one INSERT will.

    A migration that adds a column with such a default to a table with rows gives them ids of now.
    Do that on SQLite and PostgreSQL only: MySQL refuses it (error 1674), and each replica of a
    MariaDB would make ids of its own, without a warning.

    Raises ``NotSupportedError`` where the engine can't make the ids, ``LookupError`` and
    ``TypeError`` for a scheme or an option that there isn't.
    """

    scheme_name: ClassVar[str]

    def __init__(self, scheme: str, *, at: Any = None, storage: str | None = None, **options: Any):
        self.made = _Made(scheme, options, storage)
        self.at = at is not None
        super().__init__(*([at] if self.at else []), output_field=self.made)

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        if type(self).__module__.startswith(f"{__package__}."):
            path = f"{__package__}.{type(self).__qualname__}"
        return path, args, kwargs

    def for_column(self, field: SortableIDField) -> Self:
        """This expression for the column of a field; ``ValueError`` where it makes other ids."""
        if (self.made.scheme, self.made.storage) == (field.scheme, field.storage):
            return self
        if self.made.scheme != field.scheme or self.made.storage is not None:
            raise ValueError(
                f"{self!r} makes a {self.made.scheme.title} with storage={self.made.storage!r}; "
                f"the column is a {field.scheme.title} with storage={field.storage!r}"
            )
        _, args, kwargs = self.deconstruct()
        return type(self)(*args, **kwargs | {"storage": field.storage})

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        scheme, stored = self.made.scheme, self.made.stored(connection)
        assert isinstance(scheme, TimeScheme)
        if self._is_native(connection):
            made: Expression = _NativeUUIDv7()
        elif isinstance(stored, IntegerStorage):
            made = _Integer(
                self._tick(),
                RandomInteger(below=scheme.layout.tails),
                tails=scheme.layout.tails,
            )
        elif isinstance(stored, TextStorage) and not _is_hexadecimal(stored):
            made = self._text(stored, connection)
        else:
            made = self._from_hex(stored, connection)
        compiled: Compiled = compiler.compile(made)
        return compiled

    def _is_native(self, connection: Any) -> bool:
        if self.at or self.made.scheme.name != "uuid7":
            return False
        if not isinstance(self.made.stored(connection), UUIDStorage):
            return False
        if connection.vendor == "postgresql":
            return bool(connection.pg_version >= 180000)
        return bool(
            connection.vendor == "mysql"
            and connection.mysql_is_mariadb
            and connection.mysql_version >= (11, 7)
        )

    def _tick(self, clock: type[Expression] = UnixMicrosecondsNow) -> Expression:
        """The tick of ``at`` or, where there is none, of the clock."""
        scheme = self.made.scheme
        assert isinstance(scheme, TimeScheme)
        microseconds = UnixMicroseconds(*self.get_source_expressions()) if self.at else clock()
        tick = _Tick(microseconds, epoch_us=scheme.epoch_ns // 1000, tick_ns=scheme.tick_ns)
        return Complement(tick, last=scheme.layout.ticks - 1) if scheme.descending else tick

    def _from_hex(self, stored: Any, connection: Any) -> Expression:
        """The id as hexadecimal digits, as the column takes them."""
        digits = self._hex()
        match stored:
            case BinaryStorage():
                return BytesOfHex(digits)
            case UUIDStorage():
                return UUIDOfHex(digits)
            case TextStorage(form=UUIDText(hyphens=True)):
                return HyphenatedHex(digits)
            case TextStorage(form=Digits(alphabet)) if alphabet.isupper():
                return Upper(digits)
        return digits

    def _hex(self) -> Expression:
        scheme = self.made.scheme
        assert isinstance(scheme, TimeScheme)
        length = len(hex_positions(scheme))
        frame = scheme.layout.frame
        if not isinstance(frame, UUIDFrame):
            tick = self._tick()
            if isinstance(frame, ByteFractionFrame):
                tick = WithByteFraction(
                    self._tick(StatementMicroseconds), fractions=frame.fractions
                )
            random = RandomHex(digits=2 * scheme.byte_length - length)
            return joined([HexOfInteger(tick, digits=length), random])
        if length == 15:
            front: Expression = HexOfInteger(self._tick(), digits=15)
        elif self.at:
            front = joined([HexOfInteger(self._tick(), digits=12), RandomHex(digits=3)])
        else:
            # RFC 9562, section 6.2, method 3: 12 bits of the millisecond's fraction.
            front = HexOfInteger(_Milliseconds4096(UnixMicrosecondsNow()), digits=15)
        version = InsertedHex(front, position=13, digit=f"{frame.version:x}")
        return joined([version, RandomVariant()])

    def _text(self, stored: TextStorage, connection: Any) -> Expression:
        """The id as digits of another alphabet, where its time and its tail don't share one."""
        scheme = self.made.scheme
        assert isinstance(scheme, TimeScheme)
        tails = scheme.layout.tails
        match stored.form:
            case Groups(alphabet, ((length, _), *groups)):
                tail: list[Expression] = []
                for group_length, bits in groups:
                    tail += _random_group(alphabet, group_length, bits)
            case Digits(alphabet, total) if behind := _whole_digits(tails, len(alphabet)):
                length = total - behind
                tail = [RandomDigits(alphabet=alphabet, length=behind)]
            case form:
                version = ".".join(map(str, connection.get_database_version()))
                raise NotSupportedError(
                    f"{connection.display_name} {version} can't make a {scheme.title} as text, "
                    f"{form.expected}: keep it as bytes, with storage='binary', or leave the "
                    f"expression away and Python makes the ids"
                )
        time = DigitsOfInteger(self._tick(StatementMicroseconds), alphabet=alphabet, length=length)
        return joined([time, *tail])


class _Made(SortableIDField):
    """The field of an expression's value."""

    def __init__(self, scheme_name: str, options: Mapping[str, Any], storage: str | None) -> None:
        self.scheme_name = scheme_name  # type: ignore[misc]
        self.scheme_options = dict.fromkeys(options)  # type: ignore[misc]
        super().__init__(storage=storage, **options)
        if not isinstance(self.scheme, TimeScheme):
            raise TypeError(f"a {self.scheme.title} counts: only Python can make the next id")


class _NativeUUIDv7(Fragment):
    postgresql = "uuidv7()"
    mysql = "UUID_v7()"


class _Integer(Fragment):
    output_field = BigIntegerField()
    postgresql = sqlite = mysql = "({0} * {tails} + {1})"


class _Tick(Fragment):
    """The tick of a time in microseconds since 1970."""

    output_field = BigIntegerField()

    @property
    def postgresql(self) -> str:  # type: ignore[override]
        return self._quotient("/")

    sqlite = postgresql

    @property
    def mysql(self) -> str:  # type: ignore[override]
        return self._quotient("DIV")

    def _quotient(self, division: str) -> str:
        elapsed = f"({{0}} - {self.extra['epoch_us']})"
        tick_ns = self.extra["tick_ns"]
        if tick_ns >= 1000:
            return f"({elapsed} {division} {tick_ns // 1000})"
        return f"({elapsed} * {1000 // tick_ns})"


class _Milliseconds4096(Fragment):
    """A time in microseconds as ms * 4096 and a fraction of 12 bits, until the year 2540."""

    output_field = BigIntegerField()
    postgresql = sqlite = "({0} * 512 / 125)"
    mysql = "({0} * 512 DIV 125)"


def _is_hexadecimal(stored: TextStorage) -> bool:
    form = stored.form
    return isinstance(form, UUIDText) or (isinstance(form, Digits) and len(form.alphabet) == 16)


def _whole_digits(tails: int, base: int) -> int:
    """How many digits of that base the tail is, or 0 where it isn't a whole number of them."""
    length = 0
    while tails % base == 0:
        tails //= base
        length += 1
    return length if tails == 1 else 0


def _random_group(alphabet: str, length: int, bits: int) -> list[Expression]:
    """Random digits whose number fits into ``bits``: the first is less than the largest one's."""
    largest = ((1 << bits) - 1) // len(alphabet) ** (length - 1)
    return [
        RandomDigits(alphabet=alphabet[:largest], length=1),
        RandomDigits(alphabet=alphabet, length=length - 1),
    ]
