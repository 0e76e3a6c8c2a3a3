"""Which columns a row was refused for, as each engine says it."""

from __future__ import annotations

from django.db import IntegrityError
from django.db.backends.base.base import BaseDatabaseWrapper

from . import tables

_UNIQUE_VIOLATION = "23505"  # PostgreSQL's SQLSTATE
_DUPLICATE_ENTRY = 1062  # MariaDB and MySQL
_SQLITE_MESSAGE = "UNIQUE constraint failed: "


def columns_in_violation(
    error: IntegrityError, table: str, connection: BaseDatabaseWrapper
) -> frozenset[str]:
    """The columns of the table's unique constraint or index that an INSERT into it violated.

    Their names are ``tables.folded``. Empty for every other violation, and where the engine doesn't
    say for certain: an index on expressions, a partition that refused for its table, a server whose
    messages are not in English. Asks the catalogue, so an open transaction has to be usable again.
    """
    found = _found(error, table, connection)
    return frozenset(tables.folded(connection, column) for column in found)


def _found(error: IntegrityError, table: str, connection: BaseDatabaseWrapper) -> frozenset[str]:
    plain_name = tables.split(connection, table)[1]
    if connection.vendor == "sqlite":
        return _named_by_sqlite(str(error), plain_name)
    name = _constraint(error, plain_name, connection.vendor)
    if name is None:
        return frozenset()
    constraints = tables.constraints(connection, table)
    columns = constraints[name]["columns"] if name in constraints else ()
    # None stands for an expression.
    return frozenset(column for column in columns or () if column)


def _named_by_sqlite(message: str, table: str) -> frozenset[str]:
    names = message.removeprefix(_SQLITE_MESSAGE).split(", ")
    return frozenset(name.removeprefix(f"{table}.") for name in names)


def _constraint(error: IntegrityError, table: str, vendor: str) -> str | None:
    if vendor == "postgresql":
        found = getattr(error.__cause__, "diag", None)
        name: str | None = found.constraint_name if found else None
        return name if found and found.sqlstate == _UNIQUE_VIOLATION else None
    if vendor == "mysql" and error.args[0] == _DUPLICATE_ENTRY:
        # The value stands in front and may hold anything. MySQL puts the table before the key.
        _, _, key = str(error.args[1]).rpartition(" for key ")
        return key.strip("'").removeprefix(f"{table}.")
    return None
