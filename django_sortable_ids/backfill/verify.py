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
        self.checkpoint = checkpoints.load(target, self._run) or _begin(target, self._check)

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
        found.duplicates = self._duplicates(found)
        if checkpoint.place:
            checkpoints.forget(self.target)
        return found

    def _page(self) -> tuple[QuerySet[Any], Row | None]:
        """The next rows that have a time, and the last of them; None where no row is behind it."""
        target = self.target
        rows = target.rows.filter(**{f"{target.source.name}__isnull": False})
        if self.checkpoint.place:
            rows = rows.filter(target.after(*self.checkpoint.place))
        last = target.first(rows.order_by(*target.order)[PAGE - 1 : PAGE])
        return (rows.filter(target.until(*last)), last) if last else (rows, None)

    def _duplicates(self, found: Verification) -> int:
        """How many rows have an id that another has: none, where every id is behind the one before,
        else the database has to compare them all."""
        if not (found.unjudged or found.unordered or found.unordered_beside):
            return 0
        name = self.target.field.name
        counts = self.target.rows.aggregate(given=Count(name), other=Count(name, distinct=True))
        return int(counts["given"] - counts["other"])


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


def _begin(target: Target, check: PageCheck) -> Checkpoint:
    """In front of all rows, with what is counted at once: the rows without an id or a time."""
    key, timeless = target.key_fields[0].attname, Q(**{f"{target.source.name}__isnull": True})
    counts = target.rows.aggregate(
        rows=Count(key),
        given=Count(target.field.name),
        timeless=Count(key, filter=timeless),
        timeless_given=Count(target.field.name, filter=timeless),
    )
    skipped = target.skipped.count()
    found = Verification(
        rows=counts["timeless"],
        missing=counts["rows"] - counts["given"] - skipped,
        skipped=skipped,
        other_time=counts["timeless_given"],
        unjudged=counts["timeless_given"],
        order=check.order,
        kept=check.kept,
    )
    return Checkpoint(total=counts["rows"], found=found)
