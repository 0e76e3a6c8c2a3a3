"""Checks before a backfill writes anything: rows, times, keys, side effects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Any

from django.db import connections, transaction
from django.db.models import Count, DateTimeField, IntegerField, Max, Min, Q, QuerySet

from ..db import chunks
from ..db.tables import begins_an_index, constraints, description, folded
from ..errors import BackfillError
from ..fields import LexicalSequenceField, SortableIDField
from ..fields.values.storage import UUIDStorage
from ..schema.stored_values import sorts, too_narrow
from ..schemes import SequenceExhausted, TimeScheme
from ..sequences import counters
from ..times.bounds import latest
from ..times.columns import TimeColumn
from .engines import Engine
from .sources.base import Target


def check_rows(
    target: Target,
    missing: int,
    engine: Engine,
    *,
    may_be_misread: bool,
    are_in_range: bool = False,
) -> None:
    """Raise ``BackfillError``, naming a row, if one of the ``missing`` rows can't get an id.

    ``are_in_range`` says that all of them have a time, in the scheme's range.
    """
    _check_periods(target)
    _check_unique(target)
    _check_numbers(target)
    _check_columns(target)
    engine.check_session(target)
    if may_be_misread:
        engine.check(target)
    if target.on_null == "error" and not are_in_range:
        _check_null_times(target)
    target.check()
    if not target.generates:
        return
    field, scheme = target.field, target.field.scheme
    if isinstance(scheme, TimeScheme):
        if not scheme.sorts:
            raise BackfillError(
                f"{target.label} is a {scheme.title}, whose ids do not sort by their times: fill a "
                f"field of another scheme, such as UUIDv6Field or UUIDv7Field; nothing was written."
            )
        if target.on_out_of_range == "error" and not are_in_range:
            _check_range(target, scheme)
        if missing > scheme.layout.new.suffixes:
            _check_room(target, scheme)
    elif isinstance(field, LexicalSequenceField):
        if target.on_out_of_range != "skip":
            _check_shown(target)
        if missing:
            _check_width(field, missing, target.using)
    check_skipped_hours(target)


def warnings(target: Target) -> Iterator[str]:
    """Facts that may surprise, but don't stop the backfill."""
    source = target.source
    yield from target.warnings()
    if target.order != ("pk",) and not target.needs_sort and not _is_indexed(target):
        yield (
            f"no index begins with {source.column}, so each batch sorts the table; with many "
            f"rows, create one first"
        )
    if not target.may_be_edited:
        return
    if target.has_times and (meaning := target.times.meaning):
        yield meaning
    future = target.missing.filter(target.between(datetime.now(UTC) + timedelta(days=1), None))
    newest = Max(target.selected_place)
    results = chunks.asked(future, lambda part: part.aggregate(newest=newest)["newest"])
    if times := [target.at(each) for each in results if each is not None]:
        at = max(times).isoformat()
        yield f"the latest {source.name} is {at}, in the future: its id sorts after new ids"


def _check_periods(target: Target) -> None:
    field = target.field
    if isinstance(field, LexicalSequenceField) and field.scheme.template.is_dated:
        raise BackfillError(
            f"{target.label} counts in periods (template={field.scheme.template.text!r}), which "
            f"backfill_ids can't: assign the numbers in your own code, with "
            f"take(1, {target.using!r}, day)[0] of the field; nothing was written."
        )


def _check_unique(target: Target) -> None:
    """The rows are written by their keys, and a model may name columns that repeat."""
    columns = [str(field.column) for field in target.key_fields]
    connection = connections[target.using]
    of_key = {folded(connection, column) for column in columns}
    for each in constraints(connection, target.model._meta.db_table).values():
        of_index = {column and folded(connection, column) for column in each["columns"]}
        if (each["unique"] or each["primary_key"]) and of_index and of_index <= of_key:
            return
    names = [field.attname for field in target.key_fields]
    groups = target.rows.order_by().values(*names).annotate(sortable_ids_rows=Count("*"))
    if repeated := groups.filter(sortable_ids_rows__gt=1).first():
        raise BackfillError(
            f"{repeated.pop('sortable_ids_rows'):,} rows of {target.model._meta.label} have the "
            f"primary key {', '.join(map(str, repeated.values()))}, and no unique index is on "
            f"{', '.join(columns)}: set primary_key=True on the field that identifies the rows; "
            f"nothing was written."
        )


def _check_numbers(target: Target) -> None:
    """Django answers a query for a number beyond the range of its field without the database."""
    for field in target.key_fields:
        if not isinstance(field, IntegerField) or isinstance(field, SortableIDField):
            continue
        kind = field.get_internal_type()
        least, most = connections[target.using].ops.integer_field_range(kind)
        ends = target.rows.order_by().aggregate(least=Min(field.name), most=Max(field.name))
        for key in ends.values():
            if key is not None and not least <= key <= most:
                raise BackfillError(
                    f"{target.model._meta.label} {key}: a {kind} holds {least} to {most}, so "
                    f"Django finds no row with this key: set a field in the model that holds it, "
                    f"such as BigAutoField or PositiveBigIntegerField; nothing was written."
                )


def _check_columns(target: Target) -> None:
    """What ``check --database`` says of the column of the new ids, and of that of the old ones."""
    connection = connections[target.using]
    for field in (target.field, target.source):
        if not isinstance(field, SortableIDField):
            continue
        stored, table = field.stored(connection), field.model._meta.db_table
        if not sorts(field, connection):
            reason = (
                f"the collation of {field} does not sort ids by their bytes: alter the column to "
                f"the collation C on PostgreSQL, ascii_bin on MariaDB and MySQL, BINARY on SQLite"
            )
            if isinstance(stored, UUIDStorage):
                reason = (
                    f"MariaDB's type uuid rejects some ids of {field}, or does not sort them by "
                    f"their time: use storage='binary'"
                )
            raise BackfillError(f"{reason}; nothing was written.")
        column = description(connection, table).get(folded(connection, str(field.column)))
        if column and (narrow := too_narrow(connection, stored, column)):
            found, needed = narrow
            raise BackfillError(
                f"the column of {field} holds {found}, but a {field.scheme.title} needs {needed}: "
                f"widen it, or set storage= to the storage that it has; nothing was written."
            )


def _check_null_times(target: Target) -> None:
    rows = target.without_id.filter(**{f"{target.source.name}__isnull": True})
    _refuse(rows, f"has no {target.source.name}", "Give it one, or choose --on-null")


def _check_range(target: Target, scheme: TimeScheme) -> None:
    if target.time_range is None:
        return
    title, (start, end) = scheme.title, target.time_range
    advice = "Correct its time, or choose --on-out-of-range"
    rows = target.without_id.filter(target.between(None, start))
    _refuse(rows, f"is too old: {title} begins at {scheme.earliest}", advice)
    rows = target.without_id.filter(target.between(end, None))
    _refuse(rows, f"is too new: {title} ends at {latest(scheme)}", advice)


def _check_shown(target: Target) -> None:
    """A sequence has no range of times, but its rows are read in the order of their times."""
    advice = "Correct its time, or choose --on-out-of-range=skip"
    rows = target.without_id.filter(target.is_out_of_range)
    _refuse(rows, f"has a {target.source.name} before year 1 or after 9999", advice)


def _refuse(rows: QuerySet[Any], what: str, advice: str) -> None:
    if first := chunks.named(rows):
        raise BackfillError(
            f"{first[1]} {what}. {advice}, or give it an id yourself; nothing was written."
        )


def _check_room(target: Target, scheme: TimeScheme) -> None:
    """Count the rows of each tick, which reads all of them."""
    tick, count = None, 0
    for created, pk in chain.from_iterable(target.pages(target.missing)):
        now = scheme.tick(target.at(created))
        tick, count = now, count + 1 if now == tick else 1
        if count > scheme.layout.capacity(now):
            raise BackfillError(
                f"{target.model._meta.label} {pk}: more than {count - 1:,} rows were created at "
                f"{target.at(created).isoformat()}, and {scheme.title} has no more ids of that "
                f"time. Choose a scheme of 128 bits; nothing was written."
            )


def _check_width(field: LexicalSequenceField, missing: int, using: str) -> None:
    """Check that the counter has enough ids left. The transaction that reads it is rolled back."""
    try:
        with transaction.atomic(using=using):
            first = counters.take(field, field.scheme, 1, using)[0]
            transaction.set_rollback(True, using=using)
        field.scheme.starting_at(first).nth(missing - 1)
    except SequenceExhausted as error:
        raise BackfillError(f"{missing:,} rows have no id, but {error}") from None


def _is_indexed(target: Target) -> bool:
    connection = connections[target.using]
    source = target.source
    return begins_an_index(connection, source.model._meta.db_table, str(source.column))


def check_side_effects(target: Target, engine: Engine) -> tuple[str, ...]:
    """Warnings; raise ``BackfillError``, naming each side effect, unless the target allows them."""
    effects, warnings = engine.side_effects(target)
    if effects and not target.allow_triggers:
        raise BackfillError(
            f"filling {target.label} changes more than its ids: {'; '.join(effects)}. Disable "
            f"this during the backfill, or allow it with --allow-triggers (in a migration: "
            f"allow_triggers=True of AddSortableID); nothing was written."
        )
    return (*(f"allowed side effect: {each}" for each in effects), *warnings)


_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
_AT_A_TIME = 36_525 * _DAY
"""One query covers about 200 clock changes."""
_BEGIN = datetime.min.replace(tzinfo=UTC) + 2 * _DAY
_END = datetime.max.replace(tzinfo=UTC) - 2 * _DAY


def check_skipped_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a row without an id has a skipped time."""
    if not isinstance(target.source, DateTimeField):
        return
    times, has_ticks = target.times, isinstance(target.field.scheme, TimeScheme)
    if not has_ticks or times.clock is None or times.clock.utcoffset(None) is not None:
        return
    rows = target.missing
    last = max(_times(target, rows, Max), default=_BEGIN)
    while begin := _times(target, rows, Min):
        first = min(begin)
        end = min(first + min(_AT_A_TIME, _END - first), last)
        skipped = [_between(target, *gap) for gap in gaps(times.clock, first - _DAY, end + _DAY)]
        if skipped:
            _refuse_skipped(target, times, rows.filter(Q(*skipped, _connector=Q.OR)))
        if end >= min(last, _END):
            return
        rows = target.missing.filter(target.compared("gte", times.local(end.replace(tzinfo=None))))


def gaps(clock: tzinfo, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The ranges of naive times, end excluded, that ``clock`` skips between two aware times."""

    def offset(at: datetime) -> timedelta:
        return at.astimezone(clock).utcoffset() or timedelta()

    at = start.astimezone(UTC).replace(microsecond=0)
    before = offset(at)
    while at < end:
        after = offset(at + _DAY)
        if after > before:
            low, high = 0, _DAY // _SECOND
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (
                    (low, middle) if offset(at + middle * _SECOND) > before else (middle, high)
                )
            moved = (at + high * _SECOND).replace(tzinfo=None)
            yield moved + before, moved + after
        at, before = at + _DAY, after


def _times(target: Target, rows: Any, end: type[Min | Max]) -> list[datetime]:
    """The first or the last time, of all rows or of each chunk, two days inside the calendar."""
    place = end(target.selected_place)
    results = chunks.asked(rows, lambda part: part.aggregate(sortable_ids_end=place))
    places = [each["sortable_ids_end"] for each in results]
    return [min(max(target.at(each), _BEGIN), _END) for each in places if each is not None]


def _between(target: Target, start: datetime, end: datetime) -> Q:
    name, local = target.place_name, target.times.local
    return Q(**{f"{name}__gte": local(start), f"{name}__lt": local(end)})


def _refuse_skipped(target: Target, times: TimeColumn, rows: Any) -> None:
    row = chunks.first(rows)
    if row is None:
        return
    place, pk = target.first(target.rows.filter(pk=row.pk))
    count = chunks.count(rows)
    raise BackfillError(
        f"{count:,} rows of {target.model._meta.label} have a time that the clock of {times.clock} "
        f"skips, such as {pk}, with the {target.source.name} "
        f"{place if isinstance(place, str) else place.replace(tzinfo=None)}: no instant has it. "
        f"Correct these times, usually by adding an hour; nothing was written."
    )
