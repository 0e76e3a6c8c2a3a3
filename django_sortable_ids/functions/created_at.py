"""What the database tells of ids: the creation time, and the first and the last one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import FieldError
from django.db.models import Aggregate, DateTimeField, Max, Min, Transform, Window
from django.db.models.expressions import Expression

from ..fields import SortableIDField
from ..fields.of_model import referenced_column
from ..fields.values.storage import BinaryStorage, TextStorage, UUIDStorage
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import unix_ns
from ..schemes.text_forms import Digits, Groups, TextForm
from .fragments import SQL, Compiled, SQLCondition, SQLText
from .texts import id_field
from .ticks import MomentOfTick, is_of_version, postgresql_value, tick_of


class CreatedAt(Transform):
    """An id's creation time, a ``DateTimeField``: ``CreatedAt("id")``, ``CreatedAt("order__id")``.

    Floored to the scheme's tick and to the microsecond, like ``Scheme.created_at``. NULL for NULL,
    for ids of years after 9999, for UUIDs of other versions that the field accepts, and for texts
    and bytes that are no ids. A comparison with a constant, as in
    ``filter(id__created_at__gte=...)``, compares the id itself and uses its index. Everywhere else
    the database decodes the id of each row.

    Raises ``FieldError`` if the expression is not an id with a time, ``NotSupportedError`` if the
    database can't decode the column: text in base 62 or 36.
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
            raise FieldError(
                f"{self.id_field} is of the scheme {scheme.title}: its ids carry no time"
            )
        return scheme

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        compiled: Compiled = compiler.compile(self._decoded(connection))
        return compiled

    def _decoded(self, connection: Any) -> Expression:
        scheme, field = self.scheme, self.id_field
        if self._is_native(connection):
            sql = postgresql_value("uuid_extract_timestamp({0})", connection)
            decoded: Expression = SQL(sql, self.lhs, output_field=DateTimeField())
        else:
            decoded = MomentOfTick(
                tick_of(self.lhs, field, connection),
                epoch_us=scheme.epoch_ns // 1000,
                tick_ns=scheme.tick_ns,
            )
        # A check of the id itself is cheaper than one of its time, and precedes any overflow.
        for condition in self._conditions(connection):
            sql = "CASE WHEN {0} THEN {1} END"
            decoded = SQL(sql, condition, decoded, output_field=DateTimeField())
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
        """Conditions of a time that fits a ``datetime``, the last one first; none if each value
        that the column can have is an id with such a time."""
        scheme, field = self.scheme, self.id_field
        if field.accept_other_versions:
            yield is_of_version(self.lhs, field, connection)
        if scheme.latest >= _LAST_DAY:
            yield self._is_representable(connection)
        has_length = "length({0}) = {length}"
        match stored := field.stored(connection):
            case TextStorage():
                form = stored.form
                # In a set of characters, a hyphen that is not the last one is a range.
                characters = "".join(sorted(_characters(form), key="-".__eq__))
                yield SQLCondition(
                    f"({has_length} AND trim({{0}}, '{{characters}}') = '')",
                    self.lhs,
                    postgresql=f"({has_length} AND {{0}} !~ '[^{{characters}}]')",
                    mysql="(CONVERT({0} USING utf8mb4) REGEXP '(?-i)^({pattern})$')",
                    length=form.length,
                    characters=characters,
                    pattern=form.pattern,
                )
            case BinaryStorage():
                yield SQLCondition(has_length, self.lhs, length=stored.length)
            case UUIDStorage() if not connection.features.has_native_uuid_field:
                yield SQLCondition(has_length, self.lhs, length=32)

    def _is_representable(self, connection: Any) -> Expression:
        """Whether an id has a time before the year 10000."""
        scheme, layout = self.scheme, self.scheme.layout
        # In a time zone east of UTC, the year 10000 starts earlier.
        margin = timedelta(0 if connection.timezone_name == "UTC" else 1)
        # The last tick that starts within the last microsecond.
        last = (unix_ns(scheme.latest - margin) + 999 - scheme.epoch_ns) // scheme.tick_ns
        oldest, newest = layout.between(layout.first_tick, min(last, layout.last_tick))
        operator, bound = (">=", oldest) if scheme.descending else ("<=", newest)
        literal = self.id_field.stored(connection).literal(bound, connection)
        return SQLCondition(f"{{0}} {operator} {{literal}}", self.lhs, literal=literal)


def _characters(form: TextForm) -> str:
    """All characters that texts of a form have, which SQL decodes."""
    match form:
        case Digits(alphabet) | Groups(alphabet):
            return alphabet
        case _:
            return "0123456789abcdef-"  # a UUID


_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


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
    of_text.set_source_expressions([SQLText(f'{to_text} COLLATE "C"', column), *others])
    return of_text, from_text
