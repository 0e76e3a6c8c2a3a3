"""``Min("id")`` and ``Max("id")`` on PostgreSQL, which has no ``min(uuid)``."""

from typing import Any

from django.db.models import Aggregate, Max, Min, TextField, Window

from ..fields.values.storage import BinaryStorage, UUIDStorage
from .fragments import Compiled, Fragment
from .texts import id_field


class _SortedText(Fragment):
    """A ``uuid`` or a ``bytea`` as text that sorts like it."""

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
