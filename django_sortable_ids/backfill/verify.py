"""Whether every row has an id of its own, of its time, in its order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count

from ..models import BackfillRun
from ..schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme
from .cursor import Cursor
from .target import Target, aware

EXAMPLES = 3


@dataclass(slots=True)
class Verification:
    """What was found. ``failures`` is empty where all is well."""

    rows: int = 0
    missing: int = 0
    duplicates: int = 0
    other_time: int = 0
    """Rows whose id is of another time: made by the application, or the time was edited since."""
    other_versions: int = 0
    """Rows with an accepted UUID of another version: it has no time and no place in the order."""
    refused_versions: int = 0
    """Rows with one that the field doesn't accept."""
    unordered: int = 0
    """Neighbours in (creation time, key) whose ids of those very times don't sort so."""
    examples: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        found = {
            "rows have no id": self.missing,
            "rows share an id with another": self.duplicates,
            "rows are out of order": self.unordered,
            "rows have a UUID of another version, and the field no accept_other_versions=True": (
                self.refused_versions
            ),
        }
        return [f"{count:,} {what}" for what, count in found.items() if count]

    def lines(self) -> Iterator[str]:
        """The result, for people."""
        yield f"{self.rows:,} rows, {self.rows - self.missing:,} with an id"
        if self.other_time:
            yield (
                f"{self.other_time:,} ids are of another time than their row: made by the "
                f"application, or the row's time was changed since"
            )
        if self.other_versions:
            yield f"{self.other_versions:,} ids are UUIDs of another version, which carry no time"
        times = "" if self.other_time or self.other_versions else ", and of their rows' times"
        yield from self.failures or [f"all different, strictly in order{times}"]
        yield from (f"  {example}" for example in self.examples)


def verify(target: Target) -> Verification:
    """Read every row once, in order; memory doesn't grow with the table.

    The order is judged up to where the run ended: rows behind it were made by the application.
    """
    found = Verification(missing=target.missing.count())
    name, timeless = target.field.name, {f"{target.source.name}__isnull": True}
    distinct = target.rows.aggregate(given=Count(name), distinct=Count(name, distinct=True))
    found.duplicates = distinct["given"] - distinct["distinct"]
    judged = _judge(target)
    previous: tuple[Any, int] | None = None
    found.rows = target.rows.filter(**timeless).count()
    found.other_time = target.rows.filter(**timeless, **{f"{name}__isnull": False}).count()
    for created, pk, value in target.walk(target.rows, name):
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
        rank = _rank(target.field.scheme, value)
        if previous is not None and rank <= previous[1] and judged(created, pk):
            found.unordered += 1
            if len(found.examples) < EXAMPLES:
                found.examples.append(f"{pk} comes after {previous[0]}, its id does not")
        previous = pk, rank
    return found


def _judge(target: Target) -> Any:
    run = BackfillRun.objects.using(target.using).filter(target=target.label).first()
    if run is None or run.cursor is None:
        return lambda created, pk: True
    last = Cursor.load(target, run.cursor)
    return lambda created, pk: (created, pk) <= (last.created, last.pk)


def _is_of(scheme: Scheme, value: ID, created: datetime) -> bool:
    """Whether the id is of that time; ``InvalidID`` for a UUID of another version."""
    if not isinstance(scheme, TimeScheme):
        return True
    try:
        return scheme.parts(value)[0] == scheme.tick(created)
    except OutOfRange:
        return False


def _rank(scheme: Scheme, value: ID) -> int:
    """A number that ascends with time."""
    number = scheme.to_int(value)
    return -number if isinstance(scheme, TimeScheme) and scheme.descending else number
