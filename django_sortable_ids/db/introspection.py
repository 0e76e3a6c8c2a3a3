"""What the catalogue says about the columns of a table."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from . import tables

# Unlike SELECT *, information_schema also lists INVISIBLE columns.
_MYSQL = """
SELECT data_type, is_nullable, datetime_precision FROM information_schema.columns
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s AND column_name = %s
"""
_POSTGRESQL_DIGITS = """
SELECT NULLIF(atttypmod, -1) FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s
"""
_MOST_DIGITS = 6


def indexed_columns(connection: BaseDatabaseWrapper, table: str) -> list[list[Any]]:
    """The columns of each index, also of keys and constraints; None stands for an expression."""
    return [
        list(each["columns"])
        for each in tables.constraints(connection, table).values()
        if each["index"] or each["unique"] or each["primary_key"]
    ]


def begins_an_index(connection: BaseDatabaseWrapper, table: str, column: str) -> bool:
    return any(
        tables.is_of(connection, each[:1], [column]) for each in indexed_columns(connection, table)
    )


def may_be_null(connection: BaseDatabaseWrapper, table: str, column: str) -> bool:
    if connection.vendor == "sqlite":
        columns = tables.pragma(connection, table, "table_xinfo")
        return any(tables.is_of(connection, [row[1]], [column]) and not row[3] for row in columns)
    if connection.vendor == "mysql":
        on_mysql = _on_mysql(connection, table, column)
        return on_mysql is not None and on_mysql[1] == "YES"
    descriptions = tables.description(connection, table)
    described = descriptions.get(tables.folded(connection, column))
    return described is not None and bool(described.null_ok)


def is_timestamp(connection: BaseDatabaseWrapper, table: str, column: str) -> bool:
    """Whether a column of MariaDB or MySQL is a TIMESTAMP, which stores instants and shows them in
    the time zone of the session."""
    on_mysql = _on_mysql(connection, table, column)
    return on_mysql is not None and on_mysql[0].lower() == "timestamp"


def time_digits(connection: BaseDatabaseWrapper, table: str, column: str) -> int:
    """How many fractional digits of a second the column stores; not for SQLite."""
    if connection.vendor == "mysql":
        on_mysql = _on_mysql(connection, table, column)
        digits = on_mysql and on_mysql[2]
    else:
        with connection.cursor() as cursor:
            cursor.execute(_POSTGRESQL_DIGITS, [connection.ops.quote_name(table), column])
            row = cursor.fetchone()
        digits = row and row[0]
    return _MOST_DIGITS if digits is None else int(digits)


def _on_mysql(
    connection: BaseDatabaseWrapper, table: str, column: str
) -> tuple[str, str, int | None] | None:
    with connection.cursor() as cursor:
        cursor.execute(_MYSQL, [*tables.split(connection, table), column])
        row: tuple[str, str, int | None] | None = cursor.fetchone()
    return row


def is_unique(connection: BaseDatabaseWrapper, table: str, column: str) -> bool:
    """Whether a primary key or unique index covers this column alone."""
    return any(
        tables.is_of(connection, each["columns"], [column])
        and (each["unique"] or each["primary_key"])
        for each in tables.constraints(connection, table).values()
    )


def has_pending_migrations(connection: BaseDatabaseWrapper, app_label: str) -> bool:
    """Whether the app has unapplied migrations, so its tables may differ from its models."""
    # Imported here because the checks import this module at every process start.
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    applied = loader.applied_migrations
    return any(key[0] == app_label and key not in applied for key in loader.graph.nodes)


def named_rows(cursor: Any) -> list[dict[str, Any]]:
    """Rows as dicts, for statements whose columns differ between server versions."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
