"""Whether every row has an id of its own, of its time, in its order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import NotSupportedError
from django.db.models import Count, QuerySet

from ..models import BackfillRun
from ..schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme
from .cursor import Cursor
from .pages import Judge
from .target import Target
from .times import aware, from_aware

EXAMPLES = 3
PAGE = 100_000
"""How many rows the database judges in one statement."""


@dataclass(slots=True)
class Verification:
    """What was found. ``failures`` is empty where all is well."""

    rows: int = 0
    missing: int = 0
    skipped: int = 0
    """Rows that are to stay without an id: --on-null=skip, --on-out-of-range=skip."""
    duplicates: int = 0
    other_time: int = 0
    """Rows whose id is of another time: made by the application, or the time was edited since."""
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no place in the order."""
    refused_versions: int = 0
    """Rows with one that the field doesn't accept."""
    unordered: int = 0
    """Neighbours in (creation time, key) whose ids of those very times don't sort so."""
    unordered_beside: int = 0
    """And such among rows of times at which the application made ids, too."""
    unconverted: int = 0
    """Rows whose id was not made of the old one, though it should have been."""
    made_beside: int = 0
    """Rows whose id was not made of the old one, but together with it, by the application."""
    order: str = ", strictly in order"
    """What is said of the order where all is well."""
    kept: str = ", and of their rows' times"
    """And what more, where no id was made by the application."""
    examples: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        found = {
            "rows have no id": self.missing,
            "rows share an id with another": self.duplicates,
            "rows are out of order": self.unordered,
            "rows have an id that was not made of their old one": self.unconverted,
            "rows have a UUID of another version, and the field no accept_other_versions=True": (
                self.refused_versions
            ),
        }
        return [f"{count:,} {what}" for what, count in found.items() if count]

    def misplaced(self, pk: Any, previous: Any) -> None:
        """Count a row whose id sorts in front of that of the previous one."""
        self.unordered += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{pk} comes after {previous}, its id does not")

    def lines(self) -> Iterator[str]:
        """The result, for people."""
        given = self.rows - self.missing - self.skipped
        yield f"{self.rows:,} rows, {given:,} with an id"
        if self.skipped:
            yield f"{self.skipped:,} rows were skipped: they have no time, or one out of range"
        if self.other_time:
            yield (
                f"{self.other_time:,} ids are of another time than their row: made by the "
                f"application, or the row's time was changed since"
            )
        if self.other_versions:
            yield f"{self.other_versions:,} ids are UUIDs of another version, which carry no time"
        if self.made_beside:
            yield f"{self.made_beside:,} ids are not the old ones converted: the application's own"
        if self.unordered_beside:
            yield (
                f"{self.unordered_beside:,} rows are out of order, but of times at which the "
                f"application made ids, too"
            )
        has_others = self.other_time or self.other_versions or self.made_beside
        order = ", the others strictly in order" if self.unordered_beside else self.order
        yield from self.failures or [f"all different{order}{'' if has_others else self.kept}"]
        yield from (f"  {example}" for example in self.examples)


def verify(target: Target) -> Verification:
    """Look at every row once, page by page in order; memory doesn't grow with the table.

    The database decodes and compares, where it can read the time of such ids; else every row is
    read. The order is judged up to where the run ended: rows behind it were made by the
    application.
    """
    found = begin(target)
    run = BackfillRun.objects.using(target.using).filter(target=target.label).first()
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    shared = _shared_from(target, run)
    try:
        judge = Judge(target, target.until(*end) if end else None, target.between(None, shared))
    except NotSupportedError:
        _read(target, target.rows, end, shared, found)
        return found
    previous: tuple[Any, ID] | None = None
    for rows in _pages(target):
        counts = judge.count(rows, previous and previous[1])
        found.rows += counts.rows
        if target.field.accept_other_versions:
            found.other_versions += counts.given - counts.of_version
        else:
            found.refused_versions += counts.given - counts.of_version
        found.other_time += counts.of_version - counts.of_time
        found.unordered += counts.unordered
        found.unordered_beside += counts.unordered_beside
        if counts.unordered and len(found.examples) < EXAMPLES:
            page = Verification(examples=found.examples)
            _read(target, rows, end, shared, page, previous)
        previous = judge.last(rows) or previous
    return found


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


def begin(target: Target) -> Verification:
    """What is counted at once, and the rows without a time."""
    skipped = target.skipped.count()
    found = Verification(missing=target.without_id.count() - skipped, skipped=skipped)
    name, timeless = target.field.name, {f"{target.source.name}__isnull": True}
    distinct = target.rows.aggregate(given=Count(name), distinct=Count(name, distinct=True))
    found.duplicates = distinct["given"] - distinct["distinct"]
    found.rows = target.rows.filter(**timeless).count()
    found.other_time = target.rows.filter(**timeless, **{f"{name}__isnull": False}).count()
    return found


def _pages(target: Target) -> Iterator[QuerySet[Any]]:
    """The rows that have a time, in parts of ``PAGE``."""
    timed = target.rows.filter(**{f"{target.source.name}__isnull": False})
    ordered = timed.order_by(*target.order)
    while last := target.first(ordered[PAGE - 1 : PAGE]):
        created, pk = last[:2]
        yield timed.filter(target.until(created, pk))
        timed = target.rows.filter(target.after(created, pk))
        ordered = timed.order_by(*target.order)
    yield timed


def _read(
    target: Target,
    rows: QuerySet[Any],
    end: tuple[datetime, Any] | None,
    shared: datetime | None,
    found: Verification,
    before: tuple[Any, ID] | None = None,
) -> None:
    """Read every row that has a time, and judge it; ``before`` is what the first one follows."""
    previous = before and (before[0], rank(target.field.scheme, before[1]))
    for created, pk, value in target.walk(rows, target.field.name):
        found.rows += 1
        if value is None:
            continue
        try:
            if not _is_of(target.field.scheme, value, aware(created)):
                found.other_time += 1
                continue
        except InvalidID:
            if target.field.accept_other_versions:
                found.other_versions += 1
            else:
                found.refused_versions += 1
            continue
        place = rank(target.field.scheme, value)
        is_judged = end is None or (created, pk) <= end
        if previous is not None and place <= previous[1] and is_judged:
            if shared is not None and created >= shared:
                found.unordered_beside += 1
            else:
                found.misplaced(pk, previous[0])
        previous = pk, place


def _is_of(scheme: Scheme, value: ID, created: datetime) -> bool:
    """Whether the id is of that time; ``InvalidID`` for a UUID of another version."""
    if not isinstance(scheme, TimeScheme):
        return True
    try:
        return scheme.parts(value)[0] == scheme.tick(created)
    except OutOfRange:
        return False


def rank(scheme: Scheme, value: ID) -> int:
    """A number that ascends with time."""
    number = scheme.to_int(value)
    return -number if isinstance(scheme, TimeScheme) and scheme.descending else number
