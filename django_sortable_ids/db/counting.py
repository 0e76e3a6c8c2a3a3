"""Counts of rows at a cost that does not grow with the table, and selects with a time limit."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from math import prod
from typing import Any, Literal, NamedTuple, Self

from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.models import Field, QuerySet
from django.utils.formats import number_format
from django.utils.translation import pgettext

from . import named_rows, row
from .errors import is_interrupted, is_statement_timeout

Precision = Literal["exact", "estimated", "minimum"]


class Count(int):
    """How many rows there are: an ``int`` that knows its ``precision``.

    ``"exact"`` is the number of rows. ``"estimated"`` is what the database expects, from its
    statistics. ``"minimum"`` means that there are as many or more; if it is 0, nothing was counted.

    As text in the current language it is "about 5,000,000" or "more than 10,000", unless it is
    exact. With ``USE_THOUSAND_SEPARATOR``, for which Django inserts separators into the text of
    every number, only ``text`` says so.
    """

    precision: Precision

    def __new__(cls, number: int, precision: Precision = "exact") -> Self:
        self = super().__new__(cls, number)
        self.precision = precision
        return self

    def __getnewargs__(self) -> Any:
        return int(self), self.precision

    @property
    def is_exact(self) -> bool:
        return self.precision == "exact"

    @property
    def text(self) -> str:
        """The number, grouped, with what is known of it, such as "about 5,000,000". Estimates are
        rounded to two digits."""
        number, form = int(self), "%(count)s"
        if self.precision == "estimated":
            form = pgettext("sortable ids", "about %(count)s")
            number = round(number, 2 - len(str(number)))
        elif self.precision == "minimum" and not number:
            return pgettext("sortable ids", "not counted")
        elif self.precision == "minimum":
            form = pgettext("sortable ids", "more than %(count)s")
            number -= 1
        return form % {"count": number_format(number, force_grouping=True)}

    def __str__(self) -> str:
        is_number = self.is_exact or settings.USE_THOUSAND_SEPARATOR
        return int.__repr__(self) if is_number else self.text


def count(rows: QuerySet[Any], exact_up_to: int) -> Count:
    """The number of rows: exact up to ``exact_up_to``, above that the estimate of the database.

    Where the database has no estimate above ``exact_up_to``, as on SQLite, it is a minimum. The
    count reads no more than ``exact_up_to + 1`` of the rows that match. A slice and a union are
    counted exactly.
    """
    query = rows.query
    if query.is_sliced or query.combinator:
        return Count(rows.count())
    number = rows.order_by()[: exact_up_to + 1].count()
    if number <= exact_up_to:
        return Count(number)
    expected = estimated_rows(rows)
    if expected is None or expected < number:
        return Count(number, "minimum")
    return Count(expected, "estimated")


# Estimates, which read statistics and no rows

_POSTGRESQL_ROWS = re.compile(r"\brows=(\d+)")
_BOUNDED_BY_AN_INDEX = ("const", "eq_ref", "ref", "ref_or_null", "range", "index_merge")
"""How MariaDB and MySQL read a table when an index tells them the number of rows."""


def estimated_rows(rows: QuerySet[Any]) -> int | None:
    """The expected number of rows; None if the database can't tell, as on SQLite.

    MariaDB and MySQL can't tell for a condition that no index answers, such as ``icontains``.
    """
    rows = rows.order_by()
    connection: Any = connections[rows.db]
    if connection.vendor == "postgresql":
        match = _POSTGRESQL_ROWS.search(rows.explain())
        return None if match is None else int(match[1])
    if connection.vendor != "mysql" or rows.query.distinct or rows.query.group_by is not None:
        return None  # MariaDB and MySQL estimate the rows of a join, of which several may be one.
    explain = "EXPLAIN EXTENDED" if connection.mysql_is_mariadb else "EXPLAIN FORMAT=TRADITIONAL"
    sql, params = rows.query.get_compiler(connection=connection).as_sql()
    plan = named_rows(connection, f"{explain} {sql}", params)
    # The tables of a join, in the order in which they are read.
    tables = [line for line in plan if line["id"] == 1]
    if not tables or any(line["rows"] is None or line["filtered"] is None for line in tables):
        return None
    if rows.query.where and tables[0]["type"] not in _BOUNDED_BY_AN_INDEX:
        return None
    return round(prod(int(line["rows"]) * float(line["filtered"]) / 100 for line in tables))


_FEWEST_ROWS = 100
"""No database expects a range to be empty."""
_SHARE_OF_UUIDS = 25
"""PostgreSQL knows every hundredth of the values, by its default, and can't tell how far a UUID is
from one to the next: a range within them is expected to have no rows, or all of them."""


def fewest_expected_rows(rows: QuerySet[Any], field: Field[Any, Any]) -> int | None:
    """The least estimate of a range of the field that is near its number of rows, or None."""
    connection = connections[rows.db]
    if connection.vendor != "postgresql" or field.db_type(connection) != "uuid":
        return _FEWEST_ROWS
    total = estimated_rows(rows)
    return total and max(_FEWEST_ROWS, total // _SHARE_OF_UUIDS)


# Within a time limit

_STEPS = 1_000
"""SQLite looks at the clock each time that it has run so many instructions: some hundred rows."""
_SET_TIMEOUT = """
SELECT current_setting('statement_timeout'), set_config('statement_timeout', least(
    %s, nullif((extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int, 0)
)::text, true)
"""
"""Sets the milliseconds of the transaction, unless they are fewer; returns what was set before."""


class Select(NamedTuple):
    sql: str
    params: Sequence[Any]


def scalars(using: str, selects: Sequence[Select], seconds: float | None) -> Sequence[Any] | None:
    """The value of each select, as the driver returns it; None after ``seconds``.

    None as ``seconds`` means no limit. The caller's transaction can continue in both cases.
    """
    connection: Any = connections[using]
    expressions = ", ".join(f"({select.sql})" for select in selects)
    sql, params = f"SELECT {expressions}", [param for select in selects for param in select.params]
    if seconds is None:
        return row(connection, sql, params)  # type: ignore[no-any-return]
    if seconds <= 0:
        return None
    milliseconds, end = max(1, int(seconds * 1000)), time.monotonic() + seconds
    values: Sequence[Any]
    try:
        if connection.vendor == "postgresql":
            # Without a transaction no setting is local; in one, a savepoint survives the error.
            with transaction.atomic(using=connection.alias):
                before, _ = row(connection, _SET_TIMEOUT, [milliseconds])
                values = row(connection, sql, params)
                row(connection, "SELECT set_config('statement_timeout', %s, true)", [before])
        elif connection.vendor == "mysql" and connection.mysql_is_mariadb:
            limit = f"SET STATEMENT max_statement_time={max(seconds, 0.001):.3f} FOR"
            values = row(connection, f"{limit} {sql}", params)
        elif connection.vendor == "mysql":
            hint = f"/*+ MAX_EXECUTION_TIME({milliseconds}) */"
            values = row(connection, f"SELECT {hint} {expressions}", params)
        else:
            connection.ensure_connection()
            driver = connection.connection
            driver.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            try:
                values = row(connection, sql, params)
            finally:
                driver.set_progress_handler(None, 0)
    except DatabaseError as error:
        if is_statement_timeout(error) or is_interrupted(error):
            return None
        raise
    return values
