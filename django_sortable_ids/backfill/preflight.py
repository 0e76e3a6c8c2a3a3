"""What is looked at before a backfill writes anything."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connections, transaction
from django.db.models import Max, QuerySet

from .. import counters
from ..fields import LexicalSequenceField
from ..schemes import SequenceExhausted, TimeScheme
from . import old_ids
from .conversion import Conversion, Lossless, TimedUUIDs
from .errors import BackfillError
from .target import Target
from .times import as_stored


def check_rows(target: Target, missing: int) -> None:
    """Look at the ``missing`` rows without an id.

    Raise ``BackfillError``, which names a row, where a row can't be given an id."""
    if target.on_null == "error":
        _check_null_times(target)
    if isinstance(target, Conversion):
        old_ids.check(target)
    field, scheme = target.field, target.field.scheme
    if isinstance(scheme, TimeScheme):
        if target.on_out_of_range == "error":
            _check_range(target, scheme)
        if missing > scheme.layout.tails and not isinstance(target, Lossless):
            _check_room(target, scheme)
    elif isinstance(field, LexicalSequenceField) and missing:
        _check_width(field, missing, target.using)


def warnings(target: Target) -> Iterator[str]:
    """What may surprise, but is no reason to stop."""
    source = target.source
    if isinstance(target, Conversion):
        yield from old_ids.warnings(target)
    if not isinstance(target, Lossless | TimedUUIDs) and not _is_indexed(target):
        yield (
            f"no index begins with {source.column}, so that each batch sorts the table; with many "
            f"rows, make one first"
        )
    if isinstance(target, Conversion):
        return
    if not settings.USE_TZ:
        yield f"{source.name} is naive (USE_TZ=False) and is read as {settings.TIME_ZONE}"
    soon = as_stored(datetime.now(UTC) + timedelta(days=1))
    future = target.missing.filter(**{f"{source.name}__gt": soon})
    if latest := future.aggregate(latest=Max(source.name))["latest"]:
        yield f"the latest {source.name} is {latest.isoformat()}: its id sorts behind those of now"


def _check_null_times(target: Target) -> None:
    rows = target.without_id.filter(**{f"{target.source.name}__isnull": True})
    _refuse(target, rows, f"has no {target.source.name}", "Give it one, or choose --on-null")


def _check_range(target: Target, scheme: TimeScheme) -> None:
    if target.held is None:
        return
    title, (start, end) = scheme.title, target.held
    advice = "Correct its time, or choose --on-out-of-range"
    rows = target.without_id.filter(target.between(None, start))
    _refuse(target, rows, f"is too old: {title} begins at {scheme.earliest}", advice)
    rows = target.without_id.filter(target.between(end, None))
    _refuse(target, rows, f"is too new: {title} ends at {scheme.latest}", advice)


def _refuse(target: Target, rows: QuerySet[Any], what: str, advice: str) -> None:
    # The key alone: the time may be one that Python can't show.
    first = rows.order_by("pk").only("pk").first()
    if first is None:
        return
    pk, count = first.pk, rows.count()
    others = f" (and {count - 1:,} other rows)" if count > 1 else ""
    raise BackfillError(
        f"{target.model._meta.label} {pk}{others} {what}. {advice}, or give it an id yourself; "
        f"nothing was written."
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
    table = target.source.model._meta.db_table
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, table)
    return any(
        each["index"] and each["columns"][:1] == [target.source.column]
        for each in constraints.values()
    )
