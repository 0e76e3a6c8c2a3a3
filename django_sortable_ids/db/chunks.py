"""Questions about all rows of a table, which a session may have too little time for.

They are asked at once, which takes the least time. Only where ``statement_timeout`` (PostgreSQL),
``max_statement_time`` (MariaDB) or ``max_execution_time`` (MySQL) ends that, they are asked of
ranges of keys, and the ranges get smaller until an answer comes in time.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

from django.db import DatabaseError, connections, transaction
from django.db.models import QuerySet

from .transactions import is_statement_timeout

Result = TypeVar("Result")

FIRST, SMALLEST = 50_000, 100
"""Rows of the first range, and how few are tried."""


def count(rows: QuerySet[Any]) -> int:
    return sum(asked(rows, lambda part: part.order_by().count()))


def first(rows: QuerySet[Any]) -> Any:
    """The first row by its key, with nothing but the key; None without any."""
    answers = asked(rows, lambda part: part.order_by("pk").only("pk").first())
    return next((row for row in answers if row is not None), None)


def named(rows: QuerySet[Any]) -> tuple[Any, str] | None:
    """The key of the first row, and how a message calls it and the others; None without any.

    The key alone is read: another value may be one that Python can't show.
    """
    row = first(rows)
    if row is None:
        return None
    return row.pk, f"{rows.model._meta.label} {row.pk}{others(count(rows))}"


def others(count: int) -> str:
    """What a message adds to the one row that it names, of ``count``."""
    return f" (and {count - 1:,} other rows)" if count > 1 else ""


def asked(
    rows: QuerySet[Any], ask: Callable[[QuerySet[Any]], Result], key: str = "pk"
) -> Iterator[Result]:
    """What ``ask`` says of all rows, or, where that takes too long, of each range of ``key``."""
    try:
        with _savepoint(rows.db):
            answer = ask(rows)
    except DatabaseError as error:
        if not is_statement_timeout(error):
            raise
    else:
        yield answer
        return
    yield from _of_ranges(rows, ask, key)


def in_time(using: str, size: int, read: Callable[[int], Result]) -> tuple[Result, int]:
    """What ``read`` gives of ``size`` rows, or of as many as there is time for; and how many."""
    while True:
        try:
            with _savepoint(using):
                return read(size), size
        except DatabaseError as error:
            if not is_statement_timeout(error) or size <= SMALLEST:
                raise
            size = max(SMALLEST, size // 4)


def _of_ranges(
    rows: QuerySet[Any], ask: Callable[[QuerySet[Any]], Result], key: str
) -> Iterator[Result]:
    last, size = None, FIRST
    while True:

        def answer(size: int, last: Any = last) -> tuple[Result, Any]:
            end = _key_after(rows, key, last, size)
            part = rows if last is None else rows.filter(**{f"{key}__gt": last})
            return ask(part if end is None else part.filter(**{f"{key}__lte": end})), end

        (found, last), size = in_time(rows.db, size, answer)
        yield found
        if last is None:
            return


def _key_after(rows: QuerySet[Any], key: str, last: Any, size: int) -> Any:
    """The key that is ``size`` rows of the table after ``last``; None where there are fewer."""
    table: QuerySet[Any] = QuerySet(rows.model, using=rows.db)
    table = table.filter(**{f"{key}__isnull": False} if last is None else {f"{key}__gt": last})
    meta = rows.model._meta
    if key == "pk" and meta.is_composite_pk:
        # A foreign key that is part of "pk" would come as the driver gave it.
        names = [field.attname for field in meta.pk_fields]
        return table.order_by("pk").values_list(*names)[size - 1 : size].first()
    return table.order_by(key).values_list(key, flat=True)[size - 1 : size].first()


def _savepoint(using: str) -> Any:
    """What is left of a transaction of the caller when a statement of it is ended."""
    in_block = connections[using].in_atomic_block
    return transaction.atomic(using=using) if in_block else nullcontext()
