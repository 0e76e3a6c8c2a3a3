"""Checks that the ids of a limited number of rows agree with the source of their run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connections
from django.db.models import QuerySet

from ...db import tables
from ...errors import BackfillError
from ...fields import SortableIDField
from ...models import BackfillRun
from ...times.columns import aware
from ..sources.find import Given, find
from ..target import Target
from ..writing.batch import Cursor
from .verification import Verification
from .verify import check_of


def disagrees_with(field: SortableIDField, using: str, count: int) -> str | None:
    """Check ``count`` rows at each end of the key and in its middle. If ``--verify`` would fail for
    them, or if most of their ids are of another time, returns the arguments of the source. None if
    the ids agree, or if no run has recorded a source.
    """
    if tables.kind(connections[using], BackfillRun._meta.db_table) != "table":
        return None
    label = f"{field.model._meta.label}.{field.name}"
    run = BackfillRun.objects.using(using).filter(target=label).first()
    if run is None:
        return None
    try:
        target = find(label, Given(), using)
    except BackfillError:  # the source no longer exists
        return None
    rows = target.rows.filter(target.has_shown_time, pk__in=list(_keys(target, count)))
    found = _checked(rows, target, run)
    return target.given if found.failures or _most_moved(rows, found, target, run) else None


def _checked(rows: QuerySet[Any], target: Target, run: BackfillRun) -> Verification:
    found = Verification(may_be_edited=target.may_be_edited)
    check_of(target, run).check(rows, found, None)
    return found


def _most_moved(rows: QuerySet[Any], found: Verification, target: Target, run: BackfillRun) -> bool:
    """Whether more than half of the run's ids are of another time than their row has now: too many
    for edits of single times."""
    if not found.other_time or not run.cursor:
        return False
    time = f"{target.field.name}__created_at"
    end = target.at(Cursor.load(target, run.cursor).created)
    filled = rows.filter(**{f"{time}__lte": end})
    if run.given_from:
        filled = filled.filter(**{f"{time}__lt": aware(run.given_from)})
    if target.time_range:
        filled = filled.filter(target.between(*target.time_range))  # others were clamped
    of_run = _checked(filled, target, run)
    return 2 * of_run.other_time > of_run.rows


def _keys(target: Target, count: int) -> Iterator[Any]:
    """The keys of up to three samples; each query reads no more rows than it returns."""
    rows: QuerySet[Any] = target.rows.values_list("pk", flat=True)
    ends = []
    for order in ("pk", "-pk"):
        keys = list(rows.order_by(order)[:count])
        yield from keys
        ends += keys[:1]
    if all(isinstance(key, int) for key in ends):
        yield from rows.filter(pk__gte=sum(ends) // 2).order_by("pk")[:count]
