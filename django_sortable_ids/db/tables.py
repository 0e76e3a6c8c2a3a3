"""What the database says about a table, whose name may include a schema.

Django has no option for a schema, so projects put the inner quotes into ``db_table``:
``'"sales"."orders"'`` on PostgreSQL, ``'`sales`.`orders`'`` on MariaDB and MySQL, or either of them
without the outer quotes. Django's introspection would look for a table with that whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from django.db import transaction

_CAPITALS = re.compile("[A-Z]+")
Kind = Literal["table", "view"]

_POSTGRESQL_KINDS: dict[str | None, Kind] = {
    **dict.fromkeys(("r", "p", "f"), "table"),
    **dict.fromkeys(("v", "m"), "view"),
}
_POSTGRESQL = "SELECT relkind FROM pg_class WHERE oid = to_regclass(%s)"
_MYSQL = """
SELECT table_type FROM information_schema.tables
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
"""
_MYSQL_COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
"""


def split(connection: Any, table: str) -> tuple[str | None, str]:
    """The schema (None if the name has none) and the plain table name."""
    quoted: str = connection.ops.quote_name(table)
    quote = quoted[0]
    schema, separator, name = quoted[1:-1].partition(f"{quote}.{quote}")
    return (schema, name) if separator else (None, schema)


def folded(connection: Any, name: str) -> str:
    """A column's name in the form in which the database compares names. Unchanged on PostgreSQL,
    lower case elsewhere; SQLite folds ASCII letters only."""
    match connection.vendor:
        case "mysql":
            return name.lower()
        case "sqlite":
            return folded_in_sqlite(name)
    return name


def folded_in_sqlite(name: str) -> str:
    return _CAPITALS.sub(lambda match: match[0].lower(), name)


def kind(connection: Any, table: str) -> Kind | None:
    """Whether the name is a table or a view; None if it is neither."""
    match connection.vendor:
        case "postgresql":
            relkind = _first(connection, _POSTGRESQL, [connection.ops.quote_name(table)])
            return _POSTGRESQL_KINDS.get(relkind)
        case "mysql":
            table_type = _first(connection, _MYSQL, split(connection, table))
            return table_type and ("view" if "VIEW" in table_type else "table")
        case "sqlite":
            return _kind_in_sqlite(connection, table)
    with connection.cursor() as cursor:
        names = {each.name: each.type for each in connection.introspection.get_table_list(cursor)}
    return ("view" if names[table] == "v" else "table") if table in names else None


def has_column(connection: Any, table: str, column: str) -> bool:
    """Whether an existing table or view has the column."""
    return folded(connection, column) in columns(connection, table)


def columns(connection: Any, table: str) -> set[str]:
    """The ``folded`` names of the columns of an existing table or view."""
    return {folded(connection, name) for name in _columns(connection, table)}


def _columns(connection: Any, table: str) -> list[str]:
    # SELECT * omits INVISIBLE columns of MariaDB and MySQL, and hidden ones of SQLite.
    if connection.vendor == "sqlite":
        return [row[1] for row in pragma(connection, table, "table_xinfo")]
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute(_MYSQL_COLUMNS, split(connection, table))
            return [name for (name,) in cursor.fetchall()]
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} WHERE 1 = 0")
        return [each[0] for each in cursor.description]


def description(connection: Any, table: str) -> dict[str, Any]:
    """Django's description of each column, by its ``folded`` name.

    INVISIBLE columns of MariaDB and MySQL are left out. Not for SQLite: there Django parses the
    CREATE TABLE for collations, and fails on definitions that it has not written.
    """
    with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, name)
    return {folded(connection, each.name): each for each in described}


def constraints(connection: Any, table: str) -> dict[str, Any]:
    """Django's description of constraints and indexes, by name; on SQLite without constraints other
    than the primary key."""
    if connection.vendor == "sqlite":
        return _indexes_in_sqlite(connection, table)
    with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
        by_name: dict[str, Any] = connection.introspection.get_constraints(cursor, name)
    return by_name


def names_of(connection: Any, table: str, column: str, **wanted: Any) -> list[str]:
    """Constraints and indexes on that column alone whose description has the ``wanted`` values."""
    return [
        name
        for name, each in constraints(connection, table).items()
        if is_of(connection, each["columns"], [column])
        and all(each[key] == value for key, value in wanted.items())
    ]


def is_of(connection: Any, columns: Iterable[str | None], wanted: list[str]) -> bool:
    """Whether an index has exactly the wanted columns, in order; None stands for an expression."""
    names = [None if each is None else folded(connection, each) for each in columns]
    return names == [folded(connection, each) for each in wanted]


@contextmanager
def _in_its_schema(connection: Any, table: str) -> Iterator[str]:
    """Make the table's schema the current one, and give its plain name."""
    schema, name = split(connection, table)
    if schema is None:
        yield table
    elif connection.vendor == "postgresql":
        with transaction.atomic(using=connection.alias):
            path = _first(connection, "SELECT current_setting('search_path')", [])
            # Without pg_temp at the end, temporary tables would be found first.
            _use_path(connection, f"{connection.ops.quote_name(schema)}, pg_temp")
            yield name
            _use_path(connection, path)
    elif connection.vendor == "mysql":
        database = _first(connection, "SELECT DATABASE()", [])
        _use(connection, schema)
        try:
            yield name
        finally:
            _use(connection, database)
    else:
        yield name


def _use_path(connection: Any, path: str) -> None:
    """Set the search path until the transaction ends."""
    _first(connection, "SELECT set_config('search_path', %s, true)", [path])


def _use(connection: Any, database: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"USE {connection.ops.quote_name(database)}")


def _kind_in_sqlite(connection: Any, table: str) -> Kind | None:
    home = sqlite_schema(connection, table)
    return _type_in_sqlite(connection, home, split(connection, table)[1]) if home else None


def sqlite_schema(connection: Any, table: str) -> str | None:
    """SQLite's schema of the table or view: ``main``, ``temp`` or an attached one; else None."""
    schema, name = split(connection, table)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA database_list")
        schemas = [row[1] for row in cursor.fetchall()]
    # SQLite looks in "temp" first, and lists it only once it has a table.
    schemas.sort(key=["temp", "main", *schemas].index)
    if schema is not None:
        schemas = [each for each in schemas if each.lower() == schema.lower()]
    return next((each for each in schemas if _type_in_sqlite(connection, each, name)), None)


def _type_in_sqlite(connection: Any, schema: str, name: str) -> Kind | None:
    where = connection.ops.quote_name(schema)
    sql = f"SELECT type FROM {where}.sqlite_master WHERE type IN ('table', 'view') AND name = %s"
    type_: Kind | None = _first(connection, f"{sql} COLLATE NOCASE", [name])
    return type_


def pragma(connection: Any, table: str, name: str) -> list[Any]:
    """The rows of SQLite's PRAGMA ``name`` for a table."""
    quote = connection.ops.quote_name
    schema, plain = sqlite_schema(connection, table), split(connection, table)[1]
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {quote(schema or 'main')}.{name}({quote(plain)})")
        rows: list[Any] = cursor.fetchall()
    return rows


def _indexes_in_sqlite(connection: Any, table: str) -> dict[str, Any]:
    quote, indexes = connection.ops.quote_name, {}
    schema = quote(sqlite_schema(connection, table) or "main")
    with connection.cursor() as cursor:
        for _, index, unique, origin, partial in pragma(connection, table, "index_list"):
            cursor.execute(f"PRAGMA {schema}.index_info({quote(index)})")
            indexes[index] = {
                "columns": [column for _, _, column in cursor.fetchall()],
                "unique": bool(unique and not partial),
                "primary_key": origin == "pk",
                "index": True,
            }
    # An INTEGER PRIMARY KEY is an alias of the rowid and has no index.
    keys = sorted((row[5], row[1]) for row in pragma(connection, table, "table_info") if row[5])
    if keys and not any(each["primary_key"] for each in indexes.values()):
        columns = [name for _, name in keys]
        indexes["primary key"] = {
            "columns": columns,
            "unique": True,
            "primary_key": True,
            "index": False,
        }
    return indexes


def _first(connection: Any, sql: str, parameters: Any) -> Any:
    """The first value of the first row; None if there is no row."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
    return row[0] if row else None
