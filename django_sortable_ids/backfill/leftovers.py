"""Rows that can't have an id of their time, since they have none or the scheme doesn't hold it.

They are no part of a run: where the user wants ids for them all the same, they get them behind it,
row by row, because they are few.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from ..schemes import ID, TimeScheme
from .bounds import last_tick
from .minting import mint_between
from .target import Target

PAGE = 1000


def fill(target: Target) -> int:
    """Give ids of now to rows without a time, and ids of the scheme's first or last tick to those
    before or behind it, each in order, where the target says so; how many.

    Killed at any instant, it goes on with the rows that still have none.
    """
    filled = 0
    if target.on_null == "now":
        rows = target.without_id.filter(**{f"{target.source.name}__isnull": True})
        filled += _fill(target, rows, None)
    scheme = target.field.scheme
    if target.on_out_of_range == "clamp" and isinstance(scheme, TimeScheme) and target.held:
        start, end = target.held
        too_old = target.without_id.filter(target.between(None, start))
        too_new = target.without_id.filter(target.between(end, None))
        filled += _fill(target, too_old, scheme.earliest)
        filled += _fill(target, too_new, last_tick(scheme))
    return filled


def _fill(target: Target, rows: QuerySet[Any], at: datetime | None) -> int:
    filled = 0
    ordered = rows.order_by(*target.order)
    while count := ordered.count():
        with transaction.atomic(using=target.using):
            keys = [key for _, key in target.read(ordered[:PAGE])]
            if at is None:
                ids = target.field.generate_many_for([target.model()] * len(keys), target.using)
            else:
                ids = _of_tick(target, at, keys, count)
            for key, value in zip(keys, ids, strict=True):
                row = target.without_id.filter(pk=key)
                filled += row.update(**{target.field.name: value})
    return filled


def _of_tick(target: Target, at: datetime, keys: Sequence[Any], count: int) -> Sequence[ID]:
    """Ids of that tick for the first rows of ``count``, between those that it has already."""
    scheme, name = target.field.scheme, target.field.name
    assert isinstance(scheme, TimeScheme)
    is_first = at == scheme.earliest
    of_tick = (
        {f"{name}__created_at__lt": at + _length(scheme)}
        if is_first
        else {f"{name}__created_at__gte": at}
    )
    first = target.first(target.rows.filter(pk=keys[0]))
    last = target.first(target.rows.filter(pk=keys[-1]))
    given = target.rows.filter(**of_tick).order_by(*target.order)
    before = target.first(given.filter(target.before(*first)).reverse(), name)
    behind = target.first(given.filter(target.after(*last)), name)
    return mint_between(scheme, at, before and before[2], behind and behind[2], len(keys), count)


def _length(scheme: TimeScheme) -> timedelta:
    return timedelta(microseconds=max(scheme.resolution_ns // 1000, 1))
