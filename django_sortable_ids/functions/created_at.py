"""What the database tells of ids: the creation time, and the first and the last one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import FieldError
from django.db.models import (
    Aggregate,
    BooleanField,
    DateTimeField,
    Max,
    Min,
    TextField,
    Transform,
    Window,
)
from django.db.models.expressions import Expression

from ..fields import SortableIDField
from ..fields.of_model import referenced_column
from ..fields.values.storage import BinaryStorage, UUIDStorage
from ..schemes import TimeScheme
from ..schemes.generation.clock import unix_ns
from .fragments import Compiled, Fragment
from .moments import MomentOfTick, MomentOfUUIDv7
from .texts import id_field
from .ticks import is_of_version, tick_of


class _Where(Fragment):
    """The second expression if the first one is true, else NULL."""

    output_field = DateTimeField()
    postgresql = sqlite = mysql = "CASE WHEN {0} THEN {1} END"


class _Comparison(Fragment):
    output_field = BooleanField()
    postgresql = sqlite = mysql = "{0} {operator} {literal}"


class CreatedAt(Transform):
    """An id's creation time, a ``DateTimeField``: ``CreatedAt("id")``, ``CreatedAt("order__id")``.

    Floored to the scheme's tick and to the microsecond, like ``Scheme.created_at``. NULL for NULL,
    for ids of years after 9999, and for UUIDs of other versions that the field accepts. A
    comparison with a constant, as in ``filter(id__created_at__gte=...)``, compares the id itself
    and uses its index. Everywhere else the database decodes the id of each row.

    Raises ``FieldError`` if the expression is not an id with a time, ``NotSupportedError`` if the
    database can't decode the column: SQLite and text in base 62 or 36.
    """

    lookup_name = "created_at"
    output_field = DateTimeField()
    lhs: Any

    @property
    def id_field(self) -> SortableIDField:
        """The field of the column; for a relation, the field of the key that it points to."""
        field = referenced_column(self.lhs.output_field)
        if not isinstance(field, SortableIDField):
            raise FieldError(f"CreatedAt() takes a sortable id, found {field or self.lhs}")
        return field

    @property
    def scheme(self) -> TimeScheme:
        """The scheme of the ids; ``FieldError`` if they carry no time."""
        scheme = self.id_field.scheme
        if not isinstance(scheme, TimeScheme):
            raise FieldError(f"{self.id_field} is a {scheme.title}: its ids carry no time")
        return scheme

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        compiled: Compiled = compiler.compile(self._decoded(connection))
        return compiled

    def _decoded(self, connection: Any) -> Expression:
        scheme, field = self.scheme, self.id_field
        if self._is_native(connection):
            decoded: Expression = MomentOfUUIDv7(self.lhs)
        else:
            decoded = MomentOfTick(
                tick_of(self.lhs, field, connection),
                epoch_us=scheme.epoch_ns // 1000,
                tick_ns=scheme.tick_ns,
            )
        # A check of the id itself is cheaper than one of its time, and precedes any overflow.
        for condition in self._conditions(connection):
            decoded = _Where(condition, decoded)
        return decoded

    def _is_native(self, connection: Any) -> bool:
        """Whether the server has a native function, which is several times as fast."""
        return (
            connection.vendor == "postgresql"
            and connection.pg_version >= 180000
            and self.scheme.is_uuid7
            and isinstance(self.id_field.stored(connection), UUIDStorage)
        )

    def _conditions(self, connection: Any) -> Iterator[Expression]:
        """Conditions of a time that fits a ``datetime``; none if all ids have such a time."""
        scheme, layout, field = self.scheme, self.scheme.layout, self.id_field
        if field.accept_other_versions:
            yield is_of_version(self.lhs, field, connection)
        if scheme.latest < _LAST_DAY:
            return
        # In a time zone east of UTC, the year 10000 starts earlier.
        margin = timedelta(0 if connection.timezone_name == "UTC" else 1)
        last = _last_tick(scheme, scheme.latest - margin)
        if not scheme.sorts:
            tick = tick_of(self.lhs, field, connection)
            yield _Comparison(tick, operator="<=", literal=last)
            return
        oldest, newest = layout.between(layout.first_tick, last)
        operator, bound = (">=", oldest) if scheme.descending else ("<=", newest)
        literal = field.stored(connection).literal(bound, connection)
        yield _Comparison(self.lhs, operator=operator, literal=literal)


def _last_tick(scheme: TimeScheme, at: datetime) -> int:
    """The last tick that starts within the microsecond of ``at``."""
    tick = (unix_ns(at) + 999 - scheme.epoch_ns) // scheme.tick_ns
    return min(tick, scheme.layout.last_tick)


_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


class _SortedText(Fragment):
    """A ``uuid`` or a ``bytea`` as text that sorts like it, for ``Min("id")`` and ``Max("id")`` on
    PostgreSQL, which has no ``min(uuid)``."""

    output_field = TextField()

    def postgresql(self, connection: Any) -> str:
        return f'{self.extra["to_text"]} COLLATE "C"'


_CASTS: dict[type, tuple[str, str]] = {
    UUIDStorage: ("({0})::text", "({})::uuid"),
    BinaryStorage: ("encode({0}, 'hex')", "decode({}, 'hex')"),
}
"""SQL from a column to a text that sorts like it, and back."""


def as_postgresql(aggregate: Aggregate, compiler: Any, connection: Any, **extra: Any) -> Compiled:
    """The SQL of the aggregate. For an id of type ``uuid`` or ``bytea`` it is that of its text."""
    of_text, from_text = _of_text(aggregate, connection)
    sql, params = of_text.as_sql(compiler, connection, **extra)
    return from_text.format(sql), params


def window_as_postgresql(window: Window, compiler: Any, connection: Any) -> Compiled:
    """As ``as_postgresql``, for the aggregate of a window: OVER must follow it immediately."""
    source, *others = window.get_source_expressions()
    if not isinstance(source, Min | Max):
        return window.as_sql(compiler, connection)
    of_text, from_text = _of_text(source, connection)
    window_of_text = window.copy()
    window_of_text.set_source_expressions([of_text, *others])
    sql, params = window_of_text.as_sql(compiler, connection)
    return from_text.format(sql), params


def _of_text(aggregate: Aggregate, connection: Any) -> tuple[Aggregate, str]:
    """The aggregate of the id's text, and SQL from that text to the id; for other expressions, and
    where the database has the aggregate, the aggregate itself."""
    column, *others = aggregate.get_source_expressions()
    field = id_field(column)
    stored = field and field.stored(connection)
    casts = _CASTS.get(type(stored))
    # PostgreSQL 18 has min(bytea).
    if casts is None or (isinstance(stored, BinaryStorage) and connection.pg_version >= 180_000):
        return aggregate, "{}"
    to_text, from_text = casts
    of_text = aggregate.copy()
    of_text.set_source_expressions([_SortedText(column, to_text=to_text), *others])
    return of_text, from_text
