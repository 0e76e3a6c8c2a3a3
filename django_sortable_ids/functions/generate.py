"""Ids that the database generates."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

from django.db.models.expressions import Expression, Func

from ..fields import SortableIDField
from ..fields.values.storage import UUIDStorage
from ..schemes import TimeScheme, get
from .composition import Composition
from .fragments import SQL, Compiled, HexOfInteger, RandomVariant, SQLInteger
from .ticks import StatementMicroseconds, UnixMicroseconds, UnixMicrosecondsNow, tick_at

_NEEDS_SCHEME = (
    "GenerateID() takes its scheme from the column if it is the db_default of a sortable id; "
    'elsewhere name the scheme, such as GenerateID("ulid")'
)


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

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        if type(self).__module__.startswith(f"{__package__}."):
            path = f"{__package__}.{type(self).__qualname__}"
        return path, args, kwargs

    def for_column(self, field: SortableIDField) -> Self:
        """This expression for the column of a field; ``ValueError`` if it generates other ids."""
        _, args, kwargs = self.deconstruct()
        if self._id_field is None:
            storage = {"storage": field.storage} if field.storage else {}
            return type(self)(field.scheme_name, **kwargs | storage | field.scheme_arguments)
        scheme = get(field.scheme_name, **field.scheme_arguments)
        if (self.generated.scheme, self.generated.storage) == (scheme, field.storage):
            return self
        if self.generated.scheme != scheme or self.generated.storage is not None:
            raise ValueError(
                f"{self!r} generates {self.generated.scheme.title} with "
                f"storage={self.generated.storage!r}; the column is of the scheme "
                f"{scheme.title} with storage={field.storage!r}. Use the same scheme and storage "
                f"for both"
            )
        return type(self)(*args, **kwargs | {"storage": field.storage})

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        compiled: Compiled = compiler.compile(self._composed(connection))
        return compiled

    def _composed(self, connection: Any) -> Expression:
        if self._is_native(connection):
            return SQL("uuidv7()", mysql="UUID_v7()")
        scheme = self.generated.scheme
        if self.at:
            tick = tick_at(UnixMicroseconds(*self.get_source_expressions()), scheme)
            return Composition(scheme, self.generated.stored(connection), connection).id_of(tick)
        scheme.tick(datetime.now(UTC))  # raises if it can't hold the current time
        return self.generated.new_id(connection)

    def _is_native(self, connection: Any) -> bool:
        if self.at or not self.generated.scheme.is_uuid7:
            return False
        if not isinstance(self.generated.stored(connection), UUIDStorage):
            return False
        if connection.vendor == "postgresql":
            return bool(connection.pg_version >= 180000)
        return bool(
            connection.vendor == "mysql"
            and connection.mysql_is_mariadb
            and connection.mysql_version >= (11, 7)
        )


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
        vendor = connection.vendor
        if vendor not in self._new_ids:
            self._new_ids[vendor] = self._composed(connection)
        return self._new_ids[vendor]

    def _composed(self, connection: Any) -> Expression:
        composition = Composition(self.scheme, self.stored(connection), connection)
        if self.scheme.is_uuid7:
            # RFC 9562, 6.2, method 3: 12 bits of the millisecond's fraction, until the year 2540.
            of_now, by = UnixMicrosecondsNow(), "({0} * 512 DIV 125)"
            first = HexOfInteger(SQLInteger("({0} * 512 / 125)", of_now, mysql=by), digits=15)
            return composition.from_hex(composition.versioned(first, RandomVariant()))
        often = composition.reads_tick_often
        clock = StatementMicroseconds() if often else UnixMicrosecondsNow()
        return composition.id_of(tick_at(clock, self.scheme))
