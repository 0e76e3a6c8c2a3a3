"""Queries over all rows of a table, which may exceed the session's time limit.

One query over the whole table is fastest, so it is tried first. If ``statement_timeout``
(PostgreSQL), ``max_statement_time`` (MariaDB) or ``max_execution_time`` (MySQL) ends it, it is
split by ranges of the key, and the ranges shrink until each query ends in time.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.db import DatabaseError
from django.db.models import QuerySet

from ..errors import counted
from .errors import is_statement_timeout
from .transactions import savepoint

Result = TypeVar("Result")

FIRST, SMALLEST = 50_000, 100
"""Rows in the first range, and in the smallest one that is tried."""


def count(rows: QuerySet[Any]) -> int:
    return sum(asked(rows, lambda part: part.order_by().count()))


def first(rows: QuerySet[Any]) -> Any:
    """The first row in key order, with only its key loaded; None if there are no rows."""
    answers = asked(rows, lambda part: part.order_by("pk").only("pk").first())
    return next((row for row in answers if row is not None), None)


def named(rows: QuerySet[Any]) -> tuple[Any, str] | None:
    """The key of the first row, and text for a message about all rows; None if there are no rows.

    Only the key is read, because Python may be unable to represent another value.
    """
    row = first(rows)
    if row is None:
        return None
    return row.pk, f"{rows.model._meta.label} {row.pk}{others(count(rows))}"


def others(count: int) -> str:
    """The suffix of a message that names one of ``count`` rows."""
    return f" (and {counted(count - 1, 'other row')})" if count > 1 else ""


def asked(
    rows: QuerySet[Any], ask: Callable[[QuerySet[Any]], Result], key: str = "pk"
) -> Iterator[Result]:
    """The result of ``ask`` for all rows, or one per range of ``key`` after a timeout."""
    try:
        with savepoint(rows.db):
            answer = ask(rows)
    except DatabaseError as error:
        if not is_statement_timeout(error):
            raise
    else:
        yield answer
        return
    yield from _by_ranges(rows, ask, key)


def in_time(using: str, size: int, read: Callable[[int], Result]) -> tuple[Result, int]:
    """The result of ``read(size)`` and the size; the size shrinks after each statement timeout."""
    while True:
        try:
            with savepoint(using):
                return read(size), size
        except DatabaseError as error:
            if not is_statement_timeout(error) or size <= SMALLEST:
                raise
            size = max(SMALLEST, size // 4)


def _by_ranges(
    rows: QuerySet[Any], ask: Callable[[QuerySet[Any]], Result], key: str
) -> Iterator[Result]:
    last, size = None, FIRST
    while True:

        def answer(size: int, last: Any = last) -> tuple[Result, Any]:
            end = _key_after(rows, key, last, size)
            part = rows if last is None else rows.filter(**{f"{key}__gt": last})
            return ask(part if end is None else part.filter(**{f"{key}__lte": end})), end

        (result, last), size = in_time(rows.db, size, answer)
        yield result
        if last is None:
            return


def _key_after(rows: QuerySet[Any], key: str, last: Any, size: int) -> Any:
    """The key ``size`` rows of the table after ``last``; None if fewer rows follow."""
    table: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
    table = table.filter(**{f"{key}__isnull": False} if last is None else {f"{key}__gt": last})
    meta = rows.model._meta
    if key == "pk" and meta.is_composite_pk:
        # Django would not convert a foreign key that is part of "pk".
        names = [field.attname for field in meta.pk_fields]
        return table.order_by("pk").values_list(*names)[size - 1 : size].first()
    return table.order_by(key).values_list(key, flat=True)[size - 1 : size].first()
