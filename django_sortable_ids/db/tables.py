"""What the database says of a table, whose name may have a schema.

Django has no option for it, so that a ``db_table`` has the quotes between its two names:
``'"sales"."orders"'`` on PostgreSQL, ``'`sales`.`orders`'`` on MariaDB and MySQL, or either of them
without the outer quotes. Django's introspection looks for a table of that whole name.
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
    """The schema, if the name has one, and the name in it."""
    quoted: str = connection.ops.quote_name(table)
    quote = quoted[0]
    schema, separator, name = quoted[1:-1].partition(f"{quote}.{quote}")
    return (schema, name) if separator else (None, schema)


def folded(connection: Any, name: str) -> str:
    """A column's name as the database compares it: on PostgreSQL as it is, elsewhere without case,
    on SQLite of ASCII letters only."""
    match connection.vendor:
        case "mysql":
            return name.lower()
        case "sqlite":
            return folded_in_sqlite(name)
    return name


def folded_in_sqlite(name: str) -> str:
    return _CAPITALS.sub(lambda match: match[0].lower(), name)


def kind(connection: Any, table: str) -> Kind | None:
    """Whether it is a table or a view; None where there is neither."""
    match connection.vendor:
        case "postgresql":
            found = _first(connection, _POSTGRESQL, [connection.ops.quote_name(table)])
            return _POSTGRESQL_KINDS.get(found)
        case "mysql":
            found = _first(connection, _MYSQL, split(connection, table))
            return found and ("view" if "VIEW" in found else "table")
        case "sqlite":
            return _kind_in_sqlite(connection, table)
    with connection.cursor() as cursor:
        names = {each.name: each.type for each in connection.introspection.get_table_list(cursor)}
    return ("view" if names[table] == "v" else "table") if table in names else None


def has_column(connection: Any, table: str, column: str) -> bool:
    """Whether a table or view that is there has the column."""
    return folded(connection, column) in columns(connection, table)


def columns(connection: Any, table: str) -> set[str]:
    """The names, ``folded``, of the columns of a table or view that is there."""
    return {folded(connection, name) for name in _columns(connection, table)}


def _columns(connection: Any, table: str) -> list[str]:
    # SELECT * leaves out what is INVISIBLE on MariaDB and MySQL, or hidden on SQLite.
    if connection.vendor == "sqlite":
        return [row[1] for row in pragma(connection, table, "table_xinfo")]
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute(_MYSQL_COLUMNS, split(connection, table))
            return [name for (name,) in cursor.fetchall()]
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} WHERE 1 = 0")
        return [each[0] for each in cursor.description]


def description(connection: Any, table: str) -> dict[str, Any]:
    """What Django's introspection says of each column, by its ``folded`` name, without those of
    MariaDB and MySQL that are INVISIBLE; not for SQLite, where Django reads the
    CREATE TABLE for collations, and stumbles over what others have written."""
    with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, name)
    return {folded(connection, each.name): each for each in described}


def constraints(connection: Any, table: str) -> dict[str, Any]:
    """Constraints and indexes by name, as Django's introspection says; of SQLite the indexes and
    the primary key."""
    if connection.vendor == "sqlite":
        return _indexes_in_sqlite(connection, table)
    with _in_its_schema(connection, table) as name, connection.cursor() as cursor:
        found: dict[str, Any] = connection.introspection.get_constraints(cursor, name)
    return found


def names_of(connection: Any, table: str, column: str, **wanted: Any) -> list[str]:
    """The constraints and indexes of that column alone of which Django says what is wanted."""
    found = constraints(connection, table)
    return [
        name
        for name, each in found.items()
        if is_of(connection, each["columns"], [column])
        and all(each[key] == value for key, value in wanted.items())
    ]


def is_of(connection: Any, found: Iterable[str | None], wanted: list[str]) -> bool:
    """Whether the columns of an index are the wanted ones; None stands for an expression."""
    names = [None if each is None else folded(connection, each) for each in found]
    return names == [folded(connection, each) for each in wanted]


@contextmanager
def _in_its_schema(connection: Any, table: str) -> Iterator[str]:
    """The table's name in its schema, which is the current one as long."""
    schema, name = split(connection, table)
    if schema is None:
        yield table
    elif connection.vendor == "postgresql":
        with transaction.atomic(using=connection.alias):
            path = _first(connection, "SELECT current_setting('search_path')", [])
            # Temporary tables would come first.
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
    """Until the transaction ends."""
    _first(connection, "SELECT set_config('search_path', %s, true)", [path])


def _use(connection: Any, database: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"USE {connection.ops.quote_name(database)}")


def _kind_in_sqlite(connection: Any, table: str) -> Kind | None:
    home = sqlite_schema(connection, table)
    return _type_in_sqlite(connection, home, split(connection, table)[1]) if home else None


def sqlite_schema(connection: Any, table: str) -> str | None:
    """In which of SQLite's files the table or view is: ``main``, ``temp`` or an attached one."""
    schema, name = split(connection, table)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA database_list")
        files = [row[1] for row in cursor.fetchall()]
    # "temp" is not in the list before it has a table, and comes first.
    files.sort(key=["temp", "main", *files].index)
    if schema is not None:
        files = [each for each in files if each.lower() == schema.lower()]
    return next((each for each in files if _type_in_sqlite(connection, each, name)), None)


def _type_in_sqlite(connection: Any, schema: str, name: str) -> Kind | None:
    where = connection.ops.quote_name(schema)
    sql = f"SELECT type FROM {where}.sqlite_master WHERE type IN ('table', 'view') AND name = %s"
    found: Kind | None = _first(connection, f"{sql} COLLATE NOCASE", [name])
    return found


def pragma(connection: Any, table: str, name: str) -> list[Any]:
    """What SQLite's PRAGMA of that name says of a table."""
    quote = connection.ops.quote_name
    schema, plain = sqlite_schema(connection, table), split(connection, table)[1]
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {quote(schema or 'main')}.{name}({quote(plain)})")
        found: list[Any] = cursor.fetchall()
    return found


def _indexes_in_sqlite(connection: Any, table: str) -> dict[str, Any]:
    quote, found = connection.ops.quote_name, {}
    schema = quote(sqlite_schema(connection, table) or "main")
    with connection.cursor() as cursor:
        for _, index, unique, origin, partial in pragma(connection, table, "index_list"):
            cursor.execute(f"PRAGMA {schema}.index_info({quote(index)})")
            found[index] = {
                "columns": [column for _, _, column in cursor.fetchall()],
                "unique": bool(unique and not partial),
                "primary_key": origin == "pk",
                "index": True,
            }
    # An INTEGER PRIMARY KEY is the table itself, without an index.
    keys = sorted((row[5], row[1]) for row in pragma(connection, table, "table_info") if row[5])
    if keys and not any(each["primary_key"] for each in found.values()):
        columns = [name for _, name in keys]
        found["primary key"] = {
            "columns": columns,
            "unique": True,
            "primary_key": True,
            "index": False,
        }
    return found


def _first(connection: Any, sql: str, parameters: Any) -> Any:
    """The first value of the first row; None where there is no row."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
    return row[0] if row else None
