"""How many rows a query has, at a cost that does not grow with the table."""

from typing import Any

from django.db.models import QuerySet

from .count import Count
from .estimates import estimated_rows


def count(rows: QuerySet[Any], exact_up_to: int) -> Count:
    """The number of rows: exact up to ``exact_up_to``, above that the estimate of the database.

    Where the database has no estimate above ``exact_up_to``, as on SQLite, it is a minimum. The
    count reads no more than ``exact_up_to + 1`` of the rows that match. A slice and a union are
    counted exactly.
    """
    query = rows.query
    if query.is_sliced or query.combinator:
        return Count(rows.count())
    found = rows.order_by()[: exact_up_to + 1].count()
    if found <= exact_up_to:
        return Count(found)
    expected = estimated_rows(rows)
    if expected is None or expected < found:
        return Count(found, "minimum")
    return Count(expected, "estimated")
