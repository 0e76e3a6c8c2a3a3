"""Checks that every row has an id of its own, of its time and in its order."""

from collections.abc import Callable
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from django.db import NotSupportedError
from django.db.models import Count, DateField, Q, QuerySet

from ...db import chunks
from ...db.chunks import in_time
from ...fields.values.times import aware
from ...models import BackfillRun
from ...schemes import OutOfRange, TimeScheme
from ..engines import engine_of
from ..sources.conversion import Conversion, Lossless
from ..sources.fields import last_run
from ..target import Row, Target
from ..writing.batch import Cursor
from . import checkpoints
from .checkpoints import Checkpoint
from .conversion_checks import CheckedByOldID, CheckedByOldTime
from .page_checks import CheckedByDatabase, CheckedByReading, CheckedInOrder, PageCheck
from .pages import Previous
from .verification import Verification

MILLISECOND, SECOND = timedelta(milliseconds=1), timedelta(seconds=1)

PAGE = 100_000
"""Number of rows that are checked before a checkpoint is stored."""


class Verifier:
    """Checks every row once, page by page in order; memory doesn't grow with the table.

    If it is killed, the next one resumes after the last page: within a day, and if no backfill has
    run since.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        engine_of(target.using).check(target)
        self._run = last_run(target.label, target.using)
        self._check = check_of(target, self._run)
        self.checkpoint = checkpoints.load(target, self._run) or self._begin()

    def verify(self, progress: Callable[[int], None] = lambda _: None) -> Verification:
        """Check the remaining rows. ``progress`` gets the number of rows of each page."""
        checkpoint, found = self.checkpoint, self.checkpoint.found
        is_last = False
        size = PAGE
        while not is_last:
            before = found.rows
            checked, size = in_time(self.target.using, size, self._check_page)
            found, checkpoint.previous, last = checked
            checkpoint.found = found
            if last:
                checkpoint.place = last
                checkpoints.save(self.target, self._run, checkpoint)
            progress(found.rows - before)
            is_last = last is None
        self._count_at_once(found)
        if checkpoint.place:
            checkpoints.forget(self.target)
        return found

    def _begin(self) -> Checkpoint:
        found = Verification(
            order=self._check.order,
            kept=self._check.kept,
            may_be_edited=self.target.may_be_edited,
        )
        return Checkpoint(chunks.count(self.target.rows), found)

    def _check_page(self, size: int) -> tuple[Verification, Previous | None, Row | None]:
        """The result up to the end of the next page, the last row whose place in the order counts,
        and the last row; None if it is the last page.

        The checkpoint is not changed: the page may be checked again, with fewer rows.
        """
        rows, last = self._page(size)
        found = deepcopy(self.checkpoint.found)
        previous = self._check.check(rows, found, self.checkpoint.previous)
        return found, previous, last

    def _page(self, size: int) -> tuple[QuerySet[Any], Row | None]:
        """The next rows that have a time, and the last of them; None for the last page."""
        target = self.target
        rows = target.rows.filter(target.has_shown_time)
        if self.checkpoint.place:
            rows = rows.filter(target.after(*self.checkpoint.place))
        last = target.first(rows.order_by(*target.order)[size - 1 : size])
        return (rows.filter(target.until(*last)), last) if last else (rows, None)

    def _count_at_once(self, found: Verification) -> None:
        """Count the rows without an id or without a time. If the order doesn't show every duplicate
        id, count those as well: the database has to compare all ids."""
        target, name = self.target, self.target.field.name
        key, timeless = target.key_fields[0].attname, _is_timeless(target)
        has_range = isinstance(target.source, DateField)
        impossible = timeless | target.is_out_of_range if has_range else timeless
        counts = {
            "rows": Count(key),
            "given": Count(name),
            "timeless": Count(key, filter=timeless),
            "timeless_given": Count(name, filter=timeless),
            "impossible_given": Count(name, filter=impossible),
        }
        parts = list(chunks.asked(target.rows, lambda part: part.aggregate(**counts)))
        total = {each: sum(part[each] for part in parts) for each in counts}
        found.skipped = chunks.count(target.skipped)
        found.missing = total["rows"] - total["given"] - found.skipped
        found.rows += total["timeless"]
        found.other_time += total["timeless_given"]
        found.without_time = min(found.other_time, total["impossible_given"])
        found.other_time -= found.without_time
        found.unjudged += total["timeless_given"]
        if found.unjudged or found.is_disordered:
            found.duplicates = self._count_duplicates()

    def _count_duplicates(self) -> int:
        """In one statement, or one for each range of ids, since rows are inserted concurrently."""
        name = self.target.field.name
        given = self.target.rows.filter(**{f"{name}__isnull": False})
        counts = {"given": Count(name), "different": Count(name, distinct=True)}
        parts = chunks.asked(given, lambda part: part.aggregate(**counts), key=name)
        return sum(part["given"] - part["different"] for part in parts)


def verify(target: Target) -> Verification:
    """The result for all rows; an unfinished verification is resumed."""
    return Verifier(target).verify()


def check_of(target: Target, run: BackfillRun | None) -> PageCheck:
    """The database decodes and compares the ids if it can read their time, else Python reads every
    row. The order is checked up to the end of the run: the application generated the ids of later
    rows.
    """
    if isinstance(target, Lossless):
        return CheckedByOldID(target)
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    if isinstance(target, Conversion):
        return CheckedByOldTime(target, end)
    if not target.has_times:
        return CheckedInOrder(target, end)
    shared, ties = _shared_from(target, run), not (end and _was_cut(target, end))
    try:
        return CheckedByDatabase(target, end, shared, ties)
    except NotSupportedError:
        return CheckedByReading(target, end, shared, ties)


def _shared_from(target: Target, run: BackfillRun | None) -> datetime | None:
    """The start (aware) of the tick from which the application generated ids as well."""
    scheme = target.field.scheme
    if run is None or run.given_from is None or not isinstance(scheme, TimeScheme):
        return None
    given_from = aware(run.given_from)
    try:
        return scheme.tick_span(given_from)[0]
    except OutOfRange:
        return given_from


def _is_timeless(target: Target) -> Q:
    """Whether a row has no time that Python can show, so that it is in no page."""
    nothing = Q(**{f"{target.source.name}__isnull": True})
    return nothing | ~target.has_shown_time if isinstance(target.source, DateField) else nothing


def _was_cut(target: Target, end: Row) -> bool:
    """Whether the time of the run's last row has lost digits since, as in a column that now keeps
    fewer of them. Then times that are equal now may have been different during the run.
    """
    created, pk = end
    then = target.at(created)
    grids = [at for unit in (MILLISECOND, SECOND) for at in _on_grid(then, unit) if at != then]
    now = target.first(target.rows.filter(target.has_shown_time, pk=pk))
    return now is not None and target.at(now[0]) in grids


def _on_grid(at: datetime, unit: timedelta) -> tuple[datetime, datetime]:
    """The time rounded down to the unit, and the end of that unit."""
    lower = at - timedelta(microseconds=at.microsecond) % unit
    return lower, lower + unit
