"""Checks that every row has an id of its own, of its time and in its order."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db import connections, models
from django.db.models import Count, Expression, ExpressionWrapper, F, Q, QuerySet

from ...db import chunks, tables
from ...errors import BackfillError
from ...times.columns import TextColumn
from ..engines import engine_of
from ..sources.base import Row
from ..sources.fields import last_run, same_options
from ..sources.periods import Unsourced
from ..sources.target import Target
from ..writing.batch import Cursor
from .checks import Checker, Page
from .verification import EXAMPLES, SHARE, Verification


def verify(
    target: Target, progress: Callable[[int], None] = lambda _: None, most: float = SHARE
) -> Verification:
    """Read every row once, page by page; memory doesn't grow with the table.

    ``progress`` gets the number of rows of each page. Up to ``most`` of 100 ids may be of another
    time. Raises ``BackfillError`` if the user can't see every row.
    """
    refuse_hidden_rows(target)
    found = Verification(most=most)
    try:
        engine_of(target.using).check(target)
    except BackfillError as error:
        if not isinstance(target.source.times, TextColumn):
            raise
        found.notes.append(str(error).removesuffix("; nothing was written."))
    run = last_run(target.label, target.using)
    if run and not same_options(run, target):
        run = None
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    checker = Checker(target, found, end, run.given_from if run else None)
    for page, is_of_run in _pages(target, end):
        checker.check(page, is_of_run=is_of_run)
        progress(len(page))
    keyed = Target(target.field, Unsourced.of(target.model, target.using))
    has_no_time = Q(**{f"{target.source.field.name}__isnull": True}) | ~target.source.has_shown_time
    for page in keyed.pages(target.rows.filter(has_no_time), stored(target)):
        checker.check_form(page)
        progress(len(page))
    found.skipped = chunks.count(target.skipped)
    found.missing -= found.skipped
    if not checker.is_unique:
        _count_duplicates(target, found)
    return found


def refuse_hidden_rows(target: Target) -> None:
    """Raise ``BackfillError`` if row-level security may hide rows from the user."""
    connection = connections[target.using]
    for model in {target.model, target.source.field.model, *target.model._meta.get_parent_list()}:
        table = model._meta.db_table
        if tables.may_hide_rows(connection, table):
            raise BackfillError(
                f"row-level security of {table} may hide rows from the user of the database "
                f"{target.using!r}, so not every row can be verified: use the owner of the table, "
                f"or a role with BYPASSRLS"
            )


def stored(target: Target) -> Expression:
    """The id as the driver returns it."""
    plain: models.Field[Any, Any] = models.Field()
    column: Expression = ExpressionWrapper(F(target.field.name), output_field=plain)
    return column


def _pages(target: Target, end: Row | None) -> Iterator[tuple[Page, bool]]:
    """The rows that have a time, in order, and whether the run has reached them."""
    column = stored(target)
    if end is not None:
        for page in target.pages(target.rows.filter(target.source.until(*end)), column):
            yield page, True
    rest = target.rows.filter(target.source.after(*end)) if end else target.rows
    for page in target.pages(rest, column):
        yield page, False


def _count_duplicates(target: Target, found: Verification) -> None:
    """In one statement, or one for each range of ids, since rows are inserted concurrently."""
    field, connection = target.field, connections[target.using]
    if tables.is_unique(connection, target.model._meta.db_table, str(field.column)):
        return
    rows: QuerySet[Any] = target.rows.filter(**{f"{field.name}__isnull": False}).order_by()
    counts = {"given": Count(field.name), "different": Count(field.name, distinct=True)}
    parts = chunks.asked(rows, lambda part: part.aggregate(**counts), key=field.name)
    found.duplicates = sum(part["given"] - part["different"] for part in parts)
    if found.duplicates:
        shared = rows.values(shared=stored(target)).annotate(rows=Count("*")).filter(rows__gt=1)
        found.examples_of["duplicates"] = [
            f"{each['shared']} is the id of {each['rows']} rows" for each in shared[:EXAMPLES]
        ]
