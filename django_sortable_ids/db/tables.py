"""What the database says about a table, whose name may include a schema.

Django has no option for a schema, so projects put the inner quotes into ``db_table``:
``'"sales"."orders"'`` on PostgreSQL, ``'`sales`.`orders`'`` on MariaDB and MySQL, or either of them
without the outer quotes. Django's introspection would look for a table with that whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from django.db import DatabaseError, connections, models, transaction

from ..errors import documented
from . import row, rows, value

_CAPITALS = re.compile("[A-Z]+")
Kind = Literal["table", "view"]

_POSTGRESQL_KINDS: dict[str | None, Kind] = {
    **dict.fromkeys(("r", "p", "f"), "table"),
    **dict.fromkeys(("v", "m"), "view"),
}
_POSTGRESQL_KIND = "SELECT relkind FROM pg_class WHERE oid = to_regclass(%s)"
OF_MYSQL = "table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
"""The condition of its information_schema; its parameters are those of ``split``."""
_MYSQL_KIND = f"SELECT table_type FROM information_schema.tables WHERE {OF_MYSQL}"
_POSTGRESQL_COLUMNS = """
SELECT attname, attnum, NOT (attnotnull OR (typtype = 'd' AND typnotnull)),
    format_type(atttypid, NULL), NULLIF(atttypmod, -1),
    attidentity <> '' OR COALESCE(pg_get_expr(adbin, adrelid) LIKE 'nextval(%%', false)
FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
# Unlike SELECT *, information_schema also lists INVISIBLE columns.
_MYSQL_COLUMNS = f"""
SELECT column_name, ordinal_position, is_nullable = 'YES', data_type,
    datetime_precision, extra LIKE '%%auto_increment%%'
FROM information_schema.columns WHERE {OF_MYSQL} ORDER BY ordinal_position
"""
_PARTLY_UNIQUE = """
SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid
WHERE indrelid = to_regclass(%s) AND (indpred IS NOT NULL OR NOT indisvalid)
"""
_POSTGRESQL_SCHEMAS = """
SELECT one.relnamespace::regnamespace::text, other.relnamespace::regnamespace::text
FROM pg_class one, pg_class other WHERE one.oid = to_regclass(%s) AND other.oid = to_regclass(%s)
"""
_SQLITE_KIND = "WHERE type IN ('table', 'view') AND name = %s COLLATE NOCASE"
_SQLITE_COLUMNS = "SELECT * FROM pragma_table_xinfo(%(table)s, %(schema)s)"
_SQLITE_KEY = f"SELECT NULL, 1, 'pk', 0, name FROM ({_SQLITE_COLUMNS}) WHERE pk ORDER BY pk"
_SQLITE_INDEXES = """
SELECT list.name, list."unique", origin, partial, part.name
FROM pragma_index_list(%(table)s, %(schema)s) list
JOIN pragma_index_xinfo(list.name, %(schema)s) part WHERE key ORDER BY list.seq, seqno
"""
_FAMILIES = {
    "integer": r"(big|medium|small|tiny)?(int|integer|serial)\b",
    "uuid": r"uuid\b",
    "text": r"((var)?char|character|(long|medium|tiny)?text)\b",
    "bytes": r"(bytea|(long|medium|tiny)?blob|(var)?binary)\b",
}


class ColumnInfo(NamedTuple):
    name: str
    position: int
    """Increases from column to column; renaming doesn't change it."""
    null: bool
    kind: str
    """The type without length and precision."""
    digits: int | None
    """The declared fractional digits of a second, if it contains times; not on SQLite."""
    is_counted: bool
    """Whether the database itself numbers the rows in it."""


def split(connection: Any, table: str) -> tuple[str | None, str]:
    """The schema (None if the name has none) and the plain table name."""
    quoted: str = connection.ops.quote_name(table)
    quote = quoted[0]
    schema, separator, name = quoted[1:-1].partition(f"{quote}.{quote}")
    return (schema, name) if separator else (None, schema)


@contextmanager
def needing(model: type[models.Model], using: str, refusal: type[Exception]) -> Iterator[None]:
    """Raise a ``refusal`` for an error of the database if it lacks the model's table."""
    try:
        yield
    except DatabaseError as error:
        connection = connections[using]
        if connection.needs_rollback or kind(connection, model._meta.db_table):
            raise  # such as a deadlock, after which nothing can be asked
        raise refusal(lacking(model, using)) from error


def lacking(model: type[models.Model], using: str) -> str:
    page = documented('"Several databases"', "how-to/questions.html#several-databases")
    return (
        f"the database {using!r} has no table {model._meta.db_table} that its user may see: run "
        f"`manage.py migrate {model._meta.app_label} --database={using}`, or use another database. "
        f"If there is nothing to migrate, {model._meta.label} is not managed, or your "
        f"DATABASE_ROUTERS have kept it out: see {page}"
    )


def folded(connection: Any, name: str) -> str:
    """A column's name in the form in which the database compares names. Unchanged on PostgreSQL,
    lower case elsewhere; SQLite folds ASCII letters only."""
    match connection.vendor:
        case "mysql":
            return name.lower()
        case "sqlite":
            return folded_in_sqlite(name)
    return name


def folded_table(connection: Any, name: str) -> str:
    """A table's plain name in that form. MariaDB and MySQL may be told to ignore its case."""
    if connection.vendor == "mysql" and not connection.features.ignores_table_name_case:
        return name
    return folded(connection, name)


def folded_in_sqlite(name: str) -> str:
    return _CAPITALS.sub(lambda match: match[0].lower(), name)


def two_schemas(connection: Any, table: str, other: str) -> tuple[str, str] | None:
    """The schemas in which PostgreSQL finds two tables, if they are not the same."""
    if connection.vendor != "postgresql":
        return None
    names = [connection.ops.quote_name(name) for name in (table, other)]
    schemas = row(connection, _POSTGRESQL_SCHEMAS, names)
    return schemas if schemas and schemas[0] != schemas[1] else None


def kind(connection: Any, table: str) -> Kind | None:
    """Whether the name is a table or a view; None if it is neither."""
    match connection.vendor:
        case "postgresql":
            relkind = value(connection, _POSTGRESQL_KIND, [connection.ops.quote_name(table)])
            return _POSTGRESQL_KINDS.get(relkind)
        case "mysql":
            table_type = value(connection, _MYSQL_KIND, split(connection, table))
            return table_type and ("view" if "VIEW" in table_type else "table")
        case "sqlite":
            return in_sqlite(connection, table)[1]
    return None


def has_column(connection: Any, table: str, column: str) -> bool:
    return folded(connection, column) in columns(connection, table)


def columns(connection: Any, table: str) -> dict[str, ColumnInfo]:
    """The columns of a table or view, also hidden ones, by ``folded`` name; none without it."""
    entries: list[Any] = []
    match connection.vendor:
        case "postgresql":
            entries = rows(connection, _POSTGRESQL_COLUMNS, [connection.ops.quote_name(table)])
        case "mysql":
            entries = rows(connection, _MYSQL_COLUMNS, split(connection, table))
        case "sqlite":
            entries = [
                # No other type is an alias of the rowid.
                (name, n, not needed, declared, None, declared.upper() == "INTEGER")
                for n, name, declared, needed, *_ in _catalogue(connection, table, _SQLITE_COLUMNS)
            ]
    return {folded(connection, entry[0]): ColumnInfo(*entry) for entry in entries}


def column_info(connection: Any, table: str, column: str) -> ColumnInfo | None:
    """The column's description; None if an existing table or view has no such column."""
    return columns(connection, table).get(folded(connection, column))


def family(db_type: str | None) -> str | None:
    """What values of a column's type are, such as ``integer``; the type itself if it is another."""
    for name, pattern in _FAMILIES.items():
        if re.match(pattern, db_type or "", re.IGNORECASE):
            return name
    return db_type


def may_be_null(connection: Any, table: str, column: str) -> bool:
    info = column_info(connection, table, column)
    return info is not None and bool(info.null)


def description(connection: Any, table: str) -> dict[str, Any]:
    """Django's description of each column, by its ``folded`` name, without INVISIBLE ones. Not for
    SQLite, where Django fails on definitions that it hasn't written. Empty if Django can't read the
    first row, which may have a TIME that Python hasn't, or if a killed move has just exchanged the
    table."""
    try:
        with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
            described = connection.introspection.get_table_description(cursor, name)
    except (KeyError, ValueError):
        return {}
    return {folded(connection, column.name): column for column in described}


def constraints(connection: Any, table: str) -> dict[str, Any]:
    """Django's description of constraints and indexes, by name; "partial" are those with a
    condition, or invalid, which are not "unique". On SQLite without constraints other than the
    primary key."""
    if connection.vendor == "sqlite":
        return _indexes_in_sqlite(connection, table)
    with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
        by_name: dict[str, Any] = connection.introspection.get_constraints(cursor, name)
    if connection.vendor == "postgresql":
        for (name,) in rows(connection, _PARTLY_UNIQUE, [connection.ops.quote_name(table)]):
            by_name[name] |= {"unique": False, "partial": True}
    return by_name


def names_of(connection: Any, table: str, column: str, **wanted: Any) -> list[str]:
    """Constraints and indexes on that column alone whose description has the ``wanted`` values."""
    return [
        name
        for name, constraint in constraints(connection, table).items()
        if has_columns(connection, constraint["columns"], [column])
        and all(constraint.get(key, False) == expected for key, expected in wanted.items())
    ]


def unnamed(connection: Any, field: models.Field[Any, Any], **wanted: Any) -> list[str]:
    """Constraints and indexes on the field's column alone that the model's Meta doesn't name.
    ``wanted`` is as for ``names_of``."""
    meta = field.model._meta
    named = {definition.name for definition in [*meta.constraints, *meta.indexes]}
    names = names_of(connection, meta.db_table, str(field.column), **wanted)
    return [name for name in names if name not in named]


def index_name(editor: Any, table: str, column: str, suffix: str = "") -> str:
    """Django's name for an index of this column alone; or a similar one, where the index of a
    renamed column has that."""
    connection, (_, plain) = editor.connection, split(editor.connection, table)
    existing = constraints(connection, table)
    endings = (suffix, *(f"{suffix}_{number}" for number in range(2, 100)))
    names = (str(editor._create_index_name(plain, [column], suffix=ending)) for ending in endings)
    return next(
        name
        for name in names
        if name not in existing or has_columns(connection, existing[name]["columns"], [column])
    )


def is_unique(connection: Any, table: str, column: str) -> bool:
    """Whether a primary key or unique index covers this column alone."""
    return bool(names_of(connection, table, column, unique=True))


def begins_an_index(connection: Any, table: str, column: str) -> bool:
    """Whether an index, also that of a key or a constraint, begins with the column."""
    return any(
        has_columns(connection, constraint["columns"][:1], [column])
        for constraint in constraints(connection, table).values()
        if constraint["index"] or constraint["unique"]
    )


def has_columns(connection: Any, indexed: Iterable[str | None], wanted: list[str]) -> bool:
    """Whether an index has exactly the wanted columns, in order; None stands for an expression."""
    names = [None if column is None else folded(connection, column) for column in indexed]
    return names == [folded(connection, column) for column in wanted]


def may_hide_rows(connection: Any, table: str) -> bool:
    if connection.vendor != "postgresql":
        return False
    sql = "SELECT row_security_active(%s::regclass)"
    return bool(value(connection, sql, [connection.ops.quote_name(table)]))


@contextmanager
def _in_its_schema(connection: Any, table: str) -> Iterator[str]:
    """Make the table's schema the current one, and give its plain name."""
    schema, name = split(connection, table)
    if schema is None:
        yield table
    elif connection.vendor == "postgresql":
        with transaction.atomic(using=connection.alias):
            path = value(connection, "SELECT current_setting('search_path')")
            # Without pg_temp at the end, temporary tables would be found first.
            home = f"{connection.ops.quote_name(schema)}, pg_temp"
            until_the_end = "SELECT set_config('search_path', %s, true)"  # of the transaction
            value(connection, until_the_end, [home])
            yield name
            value(connection, until_the_end, [path])
    else:  # MariaDB or MySQL
        database = value(connection, "SELECT DATABASE()")
        with connection.cursor() as cursor:
            cursor.execute(f"USE {connection.ops.quote_name(schema)}")
            try:
                yield name
            finally:
                cursor.execute(f"USE {connection.ops.quote_name(database)}")


def in_sqlite(connection: Any, table: str) -> tuple[str | None, Kind | None]:
    """The schema of a table or view (``main``, ``temp`` or an attached one), and which it is."""
    schema, name = split(connection, table)
    for _, attached, _ in rows(connection, "PRAGMA database_list"):
        if schema is None or attached.lower() == schema.lower():
            sql = f"SELECT type FROM {quoted_in_sqlite(attached)}.sqlite_master {_SQLITE_KIND}"
            if entry_type := value(connection, sql, [name]):
                return attached, entry_type
    return None, None


def quoted_in_sqlite(name: str) -> str:
    """Like Django's ``quote_name``, but for names that may contain quotes."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _catalogue(connection: Any, table: str, *queries: str) -> list[Any]:
    """The rows of queries of SQLite's catalogue, for a table and its schema."""
    schema, plain = in_sqlite(connection, table)[0] or "main", split(connection, table)[1]
    names = {"table": plain, "schema": schema}
    return [entry for sql in queries for entry in rows(connection, sql, names)]


def _indexes_in_sqlite(connection: Any, table: str) -> dict[str, Any]:
    indexes: dict[Any, dict[str, Any]] = {}
    parts = _catalogue(connection, table, _SQLITE_INDEXES, _SQLITE_KEY)
    for name, unique, origin, partial, column in parts:
        if name in indexes:
            indexes[name]["columns"].append(column)
            continue
        indexes[name] = {
            "columns": [column],
            "unique": bool(unique and not partial),
            "primary_key": origin == "pk",
            "index": name is not None,
            "partial": bool(partial),
        }
    # An INTEGER PRIMARY KEY is an alias of the rowid and has no index.
    key = indexes.pop(None, None)
    if key and not any(index["primary_key"] for index in indexes.values()):
        indexes["primary key"] = key
    return indexes
