"""What is looked at before a backfill writes anything."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models import Max, QuerySet

from .. import counters
from ..fields import LexicalSequenceField
from ..introspection import begins_an_index
from ..schemes import SequenceExhausted, TimeScheme
from . import chunks, impossible_days, old_ids, repeated_hours, skipped_hours, spellings
from .bounds import latest
from .conversion import Conversion, Lossless, TimedUUIDs
from .errors import BackfillError
from .sources.derived import Derived
from .target import Target


def check_rows(target: Target, missing: int, *, may_have_impossible_days: bool) -> None:
    """Look at the ``missing`` rows without an id.

    Raise ``BackfillError``, which names a row, where a row can't be given an id."""
    spellings.check(target)
    repeated_hours.check(target)
    if may_have_impossible_days:
        impossible_days.check(target)
    if target.on_null == "error":
        _check_null_times(target)
    if isinstance(target, Conversion):
        old_ids.check(target)
    if isinstance(target, Derived):
        target.check()
        if not target.makes_own:
            return
    field, scheme = target.field, target.field.scheme
    if isinstance(scheme, TimeScheme):
        if target.on_out_of_range == "error":
            _check_range(target, scheme)
        if missing > scheme.layout.tails and not isinstance(target, Lossless):
            _check_room(target, scheme)
    elif isinstance(field, LexicalSequenceField):
        if target.on_out_of_range != "skip":
            _check_shown(target)
        if missing:
            _check_width(field, missing, target.using)
    skipped_hours.check(target)


def warnings(target: Target) -> Iterator[str]:
    """What may surprise, but is no reason to stop."""
    source = target.source
    if isinstance(target, Conversion):
        yield from old_ids.warnings(target)
    if not isinstance(target, Lossless | TimedUUIDs | Derived) and not _is_indexed(target):
        yield (
            f"no index begins with {source.column}, so that each batch sorts the table; with many "
            f"rows, make one first"
        )
    if isinstance(target, Conversion) or (isinstance(target, Derived) and not target.makes_own):
        return
    if (not isinstance(target, Derived) or target.has_times) and (meaning := target.times.meaning):
        yield meaning
    future = target.missing.filter(target.between(datetime.now(UTC) + timedelta(days=1), None))
    newest = Max(target.selected_place)
    found = chunks.asked(future, lambda part: part.aggregate(newest=newest)["newest"])
    if times := [target.at(each) for each in found if each is not None]:
        at = max(times).isoformat()
        yield f"the latest {source.name} is {at}: its id sorts after those of now"


def _check_null_times(target: Target) -> None:
    rows = target.without_id.filter(**{f"{target.source.name}__isnull": True})
    _refuse(rows, f"has no {target.source.name}", "Give it one, or choose --on-null")


def _check_range(target: Target, scheme: TimeScheme) -> None:
    if target.held is None:
        return
    title, (start, end) = scheme.title, target.held
    advice = "Correct its time, or choose --on-out-of-range"
    rows = target.without_id.filter(target.between(None, start))
    _refuse(rows, f"is too old: {title} begins at {scheme.earliest}", advice)
    rows = target.without_id.filter(target.between(end, None))
    _refuse(rows, f"is too new: {title} ends at {latest(scheme)}", advice)


def _check_shown(target: Target) -> None:
    """A sequence holds every time, but its rows are read in their order."""
    if target.held is None:
        return
    start, end = target.held
    advice = "Correct its time, or choose --on-out-of-range=skip"
    outside = target.between(None, start) | target.between(end, None)
    rows = target.without_id.filter(outside)
    _refuse(rows, f"has a {target.source.name} before year 1 or after 9999", advice)


def _refuse(rows: QuerySet[Any], what: str, advice: str) -> None:
    if found := chunks.named(rows):
        raise BackfillError(
            f"{found[1]} {what}. {advice}, or give it an id yourself; nothing was written."
        )


def _check_room(target: Target, scheme: TimeScheme) -> None:
    """Count the rows of each tick, which takes a look at all of them."""
    tick, count = None, 0
    for created, pk in target.walk(target.missing):
        now = scheme.tick(target.at(created))
        tick, count = now, count + 1 if now == tick else 1
        if count > scheme.layout.capacity(now):
            raise BackfillError(
                f"{target.model._meta.label} {pk}: more than {count - 1:,} rows were created at "
                f"{target.at(created).isoformat()}, and {scheme.title} has no more ids of that "
                f"time. Choose a scheme with 128 bits; nothing was written."
            )


def _check_width(field: LexicalSequenceField, missing: int, using: str) -> None:
    """See how far the counter is, and put back the id that it gave."""
    try:
        with transaction.atomic(using=using):
            first = counters.take(field, field.scheme, 1, using)[0]
            transaction.set_rollback(True, using=using)
        replace(field.scheme, start=first).nth(missing - 1)
    except SequenceExhausted as error:
        raise BackfillError(f"{missing:,} rows have no id, but {error}") from None


def _is_indexed(target: Target) -> bool:
    connection = connections[target.using]
    source = target.source
    return begins_an_index(connection, source.model._meta.db_table, str(source.column))
