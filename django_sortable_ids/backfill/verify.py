"""Whether every row has an id of its own, of its time, in its order."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import NotSupportedError
from django.db.models import Count, Q, QuerySet

from ..models import BackfillRun
from ..schemes import OutOfRange, TimeScheme
from . import checkpoints
from .checkpoints import Checkpoint
from .conversion import Conversion, Lossless
from .conversion_checks import CheckedByOldID, CheckedByOldTime
from .cursor import Cursor
from .page_checks import CheckedByDatabase, CheckedByReading, PageCheck
from .statements import Row
from .target import Target
from .times import aware, from_aware
from .verification import Verification

PAGE = 100_000
"""How many rows are looked at before that is kept."""


class Verifier:
    """Looks at every row once, page by page in order; memory doesn't grow with the table.

    Killed at any instant, the next one goes on behind the last page, within a day and where nothing
    was filled meanwhile.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        runs = BackfillRun.objects.using(target.using)
        self._run = runs.filter(target=target.label).first()
        self._check = _check_of(target, self._run)
        self.checkpoint = checkpoints.load(target, self._run) or self._begin()

    def verify(self, progress: Callable[[int], None] = lambda _: None) -> Verification:
        """Look at the rows that are left. ``progress`` is told how many more were looked at."""
        checkpoint, found = self.checkpoint, self.checkpoint.found
        is_last = False
        while not is_last:
            before, (rows, last) = found.rows, self._page()
            checkpoint.previous = self._check.look(rows, found, checkpoint.previous)
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
        found = Verification(order=self._check.order, kept=self._check.kept)
        return Checkpoint(self.target.rows.count(), found)

    def _page(self) -> tuple[QuerySet[Any], Row | None]:
        """The next rows that have a time, and the last of them; None where no row is behind it."""
        target = self.target
        rows = target.rows.filter(**{f"{target.source.name}__isnull": False})
        if self.checkpoint.place:
            rows = rows.filter(target.after(*self.checkpoint.place))
        last = target.first(rows.order_by(*target.order)[PAGE - 1 : PAGE])
        return (rows.filter(target.until(*last)), last) if last else (rows, None)

    def _count_at_once(self, found: Verification) -> None:
        """The rows without an id or a time, and where the order doesn't tell, the ids that come
        twice: the database has to compare them all."""
        target, name = self.target, self.target.field.name
        key, timeless = target.key_fields[0].attname, Q(**{f"{target.source.name}__isnull": True})
        counts = target.rows.aggregate(
            rows=Count(key),
            given=Count(name),
            timeless=Count(key, filter=timeless),
            timeless_given=Count(name, filter=timeless),
        )
        found.skipped = target.skipped.count()
        found.missing = counts["rows"] - counts["given"] - found.skipped
        found.rows += counts["timeless"]
        found.other_time += counts["timeless_given"]
        if found.unjudged or found.unordered or found.unordered_beside or counts["timeless_given"]:
            # In one statement: rows are inserted meanwhile.
            ids = target.rows.aggregate(given=Count(name), different=Count(name, distinct=True))
            found.duplicates = ids["given"] - ids["different"]


def verify(target: Target) -> Verification:
    """What is found in all rows, or in those that an earlier one left."""
    return Verifier(target).verify()


def _check_of(target: Target, run: BackfillRun | None) -> PageCheck:
    """The database decodes and compares, where it can read the time of such ids; else every row is
    read. The order is judged up to where the run ended: rows behind it were made by the
    application.
    """
    if isinstance(target, Lossless):
        return CheckedByOldID(target)
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    if isinstance(target, Conversion):
        return CheckedByOldTime(target, end)
    shared = _shared_from(target, run)
    try:
        return CheckedByDatabase(target, end, shared)
    except NotSupportedError:
        return CheckedByReading(target, end, shared)


def _shared_from(target: Target, run: BackfillRun | None) -> datetime | None:
    """The begin of the tick in which others began to give ids beside the run."""
    scheme = target.field.scheme
    if run is None or run.given_from is None or not isinstance(scheme, TimeScheme):
        return None
    try:
        start = scheme.tick_span(aware(run.given_from))[0]
    except OutOfRange:
        return run.given_from
    return from_aware(start, like=run.given_from)
