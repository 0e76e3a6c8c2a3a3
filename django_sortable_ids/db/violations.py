"""The columns of a violated unique constraint, from each engine's error."""

from __future__ import annotations

from django.db import IntegrityError
from django.db.backends.base.base import BaseDatabaseWrapper

from . import tables
from .error_codes import is_duplicate

_SQLITE_MESSAGE = "UNIQUE constraint failed: "


def columns_in_violation(
    error: IntegrityError, table: str, connection: BaseDatabaseWrapper
) -> frozenset[str]:
    """The columns of the unique constraint or index of the table that an INSERT violated.

    Their names are ``tables.folded``. Empty for other violations, and if the columns are not
    certain: an index on expressions, an error of a partition, server messages that are not in
    English. Queries the catalogue, so an open transaction must be usable again.
    """
    columns = _columns(error, table, connection)
    return frozenset(tables.folded(connection, column) for column in columns)


def _columns(error: IntegrityError, table: str, connection: BaseDatabaseWrapper) -> frozenset[str]:
    plain_name = tables.split(connection, table)[1]
    if connection.vendor == "sqlite":
        names = str(error).removeprefix(_SQLITE_MESSAGE).split(", ")
        return frozenset(name.removeprefix(f"{plain_name}.") for name in names)
    name = _constraint(error, plain_name, connection.vendor)
    if name is None:
        return frozenset()
    constraints = tables.constraints(connection, table)
    columns = constraints[name]["columns"] if name in constraints else ()
    # None stands for an expression.
    return frozenset(column for column in columns or () if column)


def _constraint(error: IntegrityError, table: str, vendor: str) -> str | None:
    if not is_duplicate(error):
        return None
    if vendor == "postgresql":
        diagnostics = getattr(error.__cause__, "diag", None)
        name: str | None = getattr(diagnostics, "constraint_name", None)
        return name
    # The value comes first and may contain anything. MySQL prefixes the key with the table.
    _, _, key = str(error.args[1]).rpartition(" for key ")
    return key.strip("'").removeprefix(f"{table}.")
