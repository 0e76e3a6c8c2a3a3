"""Whether every row has an id of its own, of its time, in its order."""

from collections.abc import Callable
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from django.db import NotSupportedError
from django.db.models import Count, DateField, Q, QuerySet

from ...db import chunks
from ...db.chunks import in_time
from ...models import BackfillRun
from ...schemes import OutOfRange, TimeScheme
from ...times.columns import aware
from ..sources import impossible_days, spellings
from ..sources.conversion import Conversion, Lossless
from ..target import Row, Target
from ..writing.batch import Cursor
from . import checkpoints
from .checkpoints import Checkpoint
from .conversion_checks import CheckedByOldID, CheckedByOldTime, CheckedByPlace
from .page_checks import CheckedByDatabase, CheckedByReading, PageCheck
from .pages import Previous
from .verification import Verification

MILLISECOND, SECOND = timedelta(milliseconds=1), timedelta(seconds=1)

PAGE = 100_000
"""How many rows are looked at before that is kept."""


class Verifier:
    """Looks at every row once, page by page in order; memory doesn't grow with the table.

    Killed at any instant, the next one goes on behind the last page, within a day and where nothing
    was filled meanwhile.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        spellings.check(target)
        impossible_days.check(target)
        runs = BackfillRun.objects.using(target.using)
        self._run = runs.filter(target=target.label).first()
        self._check = check_of(target, self._run)
        self.checkpoint = checkpoints.load(target, self._run) or self._begin()

    def verify(self, progress: Callable[[int], None] = lambda _: None) -> Verification:
        """Look at the rows that are left. ``progress`` is told how many more were looked at."""
        checkpoint, found = self.checkpoint, self.checkpoint.found
        is_last = False
        size = PAGE
        while not is_last:
            before = found.rows
            looked, size = in_time(self.target.using, size, self._look)
            found, checkpoint.previous, last = looked
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

    def _look(self, size: int) -> tuple[Verification, Previous | None, Row | None]:
        """What is found up to the end of the next page, and that end; None where nothing follows.

        What was found before is left as it is: the page may be looked at again, with fewer rows.
        """
        rows, last = self._page(size)
        found = deepcopy(self.checkpoint.found)
        previous = self._check.look(rows, found, self.checkpoint.previous)
        return found, previous, last

    def _page(self, size: int) -> tuple[QuerySet[Any], Row | None]:
        """The next rows that have a time, and the last of them; None where no row is behind it."""
        target = self.target
        rows = target.rows.filter(target.has_shown_time)
        if self.checkpoint.place:
            rows = rows.filter(target.after(*self.checkpoint.place))
        last = target.first(rows.order_by(*target.order)[size - 1 : size])
        return (rows.filter(target.until(*last)), last) if last else (rows, None)

    def _count_at_once(self, found: Verification) -> None:
        """The rows without an id or a time, and where the order doesn't tell, the ids that come
        twice: the database has to compare them all."""
        target, name = self.target, self.target.field.name
        key, timeless = target.key_fields[0].attname, _is_timeless(target)
        impossible = timeless | _is_out_of_range(target)
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
        """In one statement, since rows are inserted concurrently, or one for each range of ids."""
        name = self.target.field.name
        given = self.target.rows.filter(**{f"{name}__isnull": False})
        counts = {"given": Count(name), "different": Count(name, distinct=True)}
        parts = chunks.asked(given, lambda part: part.aggregate(**counts), key=name)
        return sum(part["given"] - part["different"] for part in parts)


def verify(target: Target) -> Verification:
    """What is found in all rows, or in those that an earlier one left."""
    return Verifier(target).verify()


def check_of(target: Target, run: BackfillRun | None) -> PageCheck:
    """The database decodes and compares, where it can read the time of such ids; else every row is
    read. The order is judged up to where the run ended: rows behind it were made by the
    application.
    """
    if isinstance(target, Lossless):
        return CheckedByOldID(target)
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    if isinstance(target, Conversion):
        return CheckedByOldTime(target, end)
    if not target.has_times:
        return CheckedByPlace(target, end)
    shared, ties = _shared_from(target, run), not (end and _was_cut(target, end))
    try:
        return CheckedByDatabase(target, end, shared, ties)
    except NotSupportedError:
        return CheckedByReading(target, end, shared, ties)


def _shared_from(target: Target, run: BackfillRun | None) -> datetime | None:
    """The start (aware) of the tick from which on others gave ids, too."""
    scheme = target.field.scheme
    if run is None or run.given_from is None or not isinstance(scheme, TimeScheme):
        return None
    given_from = aware(run.given_from)
    try:
        return scheme.tick_span(given_from)[0]
    except OutOfRange:
        return given_from


def _is_timeless(target: Target) -> Q:
    """Whether a row is in no page."""
    nothing = Q(**{f"{target.source.name}__isnull": True})
    return nothing | ~target.has_shown_time if isinstance(target.source, DateField) else nothing


def _is_out_of_range(target: Target) -> Q:
    """Whether a row has a time that the ids can't hold."""
    if not isinstance(target.source, DateField) or not target.time_range:
        return Q(pk__in=[])
    start, end = target.time_range
    return target.between(None, start) | target.between(end, None)


def _was_cut(target: Target, end: Row) -> bool:
    """Whether the last row of the run has lost a fraction of its time since, as a column does that
    keeps fewer digits: other times that are equal now were not, then.
    """
    created, pk = end
    then = target.at(created)
    grids = [at for unit in (MILLISECOND, SECOND) for at in _on_grid(then, unit) if at != then]
    now = target.first(target.rows.filter(target.has_shown_time, pk=pk))
    return now is not None and target.at(now[0]) in grids


def _on_grid(at: datetime, unit: timedelta) -> tuple[datetime, datetime]:
    """The time cut off, and rounded up."""
    lower = at - timedelta(microseconds=at.microsecond) % unit
    return lower, lower + unit
