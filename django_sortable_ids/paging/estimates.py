"""How many rows the database expects a query to have; it reads statistics and no rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from django.db import connections
from django.db.models import Field, QuerySet

_POSTGRESQL_ROWS = re.compile(r"\brows=(\d+)")
_BOUNDED_BY_AN_INDEX = ("const", "eq_ref", "ref", "ref_or_null", "range", "index_merge")
"""How MariaDB and MySQL read a table when an index tells them the number of rows."""


def estimated_rows(rows: QuerySet[Any]) -> int | None:
    """The expected number of rows; None if the database can't tell, as on SQLite.

    MariaDB and MySQL can't tell for a condition that no index answers, such as ``icontains``.
    """
    read = _READERS.get(connections[rows.db].vendor)
    return None if read is None else read(rows.order_by())


def _postgresql(rows: QuerySet[Any]) -> int | None:
    found = _POSTGRESQL_ROWS.search(rows.explain())
    return None if found is None else int(found[1])


def _mysql(rows: QuerySet[Any]) -> int | None:
    connection: Any = connections[rows.db]
    explain = "EXPLAIN EXTENDED" if connection.mysql_is_mariadb else "EXPLAIN FORMAT=TRADITIONAL"
    sql, params = rows.query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", params)
        names = [column[0] for column in cursor.description]
        plan = [dict(zip(names, line, strict=True)) for line in cursor.fetchall()]
    return _product([line for line in plan if line["id"] == 1], bool(rows.query.where))


def _product(tables: Sequence[Mapping[str, Any]], is_filtered: bool) -> int | None:
    """The rows of a join of these tables, of which the first one is read first."""
    if not tables or any(line["rows"] is None or line["filtered"] is None for line in tables):
        return None
    if is_filtered and tables[0]["type"] not in _BOUNDED_BY_AN_INDEX:
        return None
    return round(prod(int(line["rows"]) * float(line["filtered"]) / 100 for line in tables))


_READERS: Mapping[str, Callable[[QuerySet[Any]], int | None]] = {
    "postgresql": _postgresql,
    "mysql": _mysql,
}


_BUCKETS = """
    SELECT max(cardinality(histogram_bounds::text::text[])) - 1
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
    WHERE c.oid = %s::regclass AND s.attname = %s
"""
_FEWEST_BUCKETS = 4
_FEWEST_ROWS = 100
"""No database expects a range to be empty."""


def fewest_expected_rows(rows: QuerySet[Any], field: Field[Any, Any]) -> int | None:
    """The least estimate of a range of the field that is near to the number of its rows; None if no
    estimate is.

    PostgreSQL knows every hundredth of the values or so, and can't tell how far a UUID is from one
    to the next: a range within them is expected to have no rows, or all of them.
    """
    connection = connections[rows.db]
    if connection.vendor != "postgresql" or field.db_type(connection) != "uuid":
        return _FEWEST_ROWS
    table = connection.ops.quote_name(field.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_BUCKETS, [table, field.column])
        (buckets,) = cursor.fetchone()
    every = estimated_rows(rows)
    if not buckets or every is None:
        return None
    fewest: int = _FEWEST_BUCKETS * every // buckets
    return max(_FEWEST_ROWS, fewest)
