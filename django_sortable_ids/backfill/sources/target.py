"""The target of a backfill: a column of ids, its rows, and checks of their times."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain
from typing import Any, Literal

from django.conf import settings
from django.db import connections, models
from django.db.models import Max, Min, Q, QuerySet
from django.utils.functional import cached_property

from ...errors import BackfillError, counted
from ...fields import SortableIDField
from ...fields.times import first_moment_when
from ...schemes import OutOfRange, TimeScheme
from ...schemes.clock_and_randomness import MICROSECOND
from .base import Row, Source

POLICIES = "policies"  # their key among the stored options of a run
OnNull = Literal["error", "skip", "now"]
OnOutOfRange = Literal["error", "skip"]

PAGE = 20_000
"""How many rows are read at a time when all of them are read."""
SORTED_AT_ONCE = 50_000
"""How many rows of one sort are kept if no index has their order."""


@dataclass(frozen=True)
class Target:
    """A column of sortable ids that may be NULL, and the source of its rows' times."""

    field: SortableIDField
    source: Source
    on_null: OnNull = "error"
    """What to do with rows without a time."""
    on_out_of_range: OnOutOfRange = "error"
    """What to do with rows whose time is out of the scheme's range."""
    allow_triggers: bool = False
    """Whether an UPDATE may have side effects: fire triggers, add history and the like."""

    @cached_property
    def model(self) -> type[models.Model]:
        return self.source.model

    @cached_property
    def using(self) -> str:
        return self.source.using

    @cached_property
    def scheme(self) -> TimeScheme:
        scheme = self.field.scheme
        assert isinstance(scheme, TimeScheme), "ids of a sequence have no time"
        return scheme

    @cached_property
    def label(self) -> str:
        return str(self.field)

    @property
    def command(self) -> str:
        return f"backfill_ids {self.label} {self.source.as_arguments}".rstrip() + self.more_options

    @property
    def more_options(self) -> str:
        """The policies and the database, on the command line."""
        policies = "".join(
            f" --{name.replace('_', '-')}={getattr(self, name)}"
            for name in ("on_null", "on_out_of_range")
            if getattr(self, name) != "error"
        )
        allowed = " --allow-triggers" if self.allow_triggers else ""
        return f"{policies}{allowed}{database_option(self.using)}"

    @property
    def options(self) -> dict[str, Any]:
        """The values that a run stores; until it is resumed, only the policies may change."""
        policies = {name: getattr(self, name) for name in ("on_null", "on_out_of_range")}
        arguments = self.field.scheme_arguments
        # The zone of naive times; None for UTC.
        zone: str | None = settings.TIME_ZONE
        if settings.USE_TZ:
            session = connections[self.using].timezone_name
            zone = None if session == "UTC" else session
        return {
            "created_from": None,
            "scheme": self.field.scheme_name,
            "time_zone": zone,
            **{f"scheme_{key}": repr(value) for key, value in arguments.items()},
            **self.source.options,
            POLICIES: policies,
        }

    # Rows

    @cached_property
    def time_range(self) -> tuple[datetime, datetime] | None:
        """The times for which there are ids, end excluded; None if it has no bounds."""
        return self.source.time_range(self.field.scheme)

    @property
    def is_out_of_range(self) -> Q:
        if self.time_range is None:
            return Q(pk__in=[])
        start, end = self.time_range
        return self.source.between(None, start) | self.source.between(end, None)

    @property
    def rows(self) -> QuerySet[Any]:
        return self.source.rows

    @property
    def needs_id(self) -> Q:
        return Q(**{f"{self.field.name}__isnull": True})

    @property
    def without_id(self) -> QuerySet[Any]:
        return self.rows.filter(self.needs_id)

    @property
    def is_missing(self) -> Q:
        """Whether a row has no id, except rows that ``on_null`` fills later, and rows that it or
        ``on_out_of_range`` skips."""
        missing = self.needs_id
        if self.on_null != "error":
            missing &= Q(**{f"{self.source.field.name}__isnull": False})
        if self.on_out_of_range != "error" and self.time_range:
            missing &= self.source.between(*self.time_range)
        return missing

    @property
    def missing(self) -> QuerySet[Any]:
        """The rows that a run gives an id, in its order."""
        return self.rows.filter(self.is_missing).order_by(*self.source.order)

    @property
    def skipped_without_time(self) -> QuerySet[Any]:
        """The rows that stay without an id, and would get one by ``--on-null=now``."""
        has_none = Q(**{f"{self.source.field.name}__isnull": True})
        is_skipped = has_none if self.on_null == "skip" else Q(pk__in=[])
        return self.source.outer_rows.filter(self.needs_id, is_skipped)

    @property
    def skipped(self) -> QuerySet[Any]:
        """The rows that stay without an id."""
        is_skipped = self.is_out_of_range if self.on_out_of_range == "skip" else Q(pk__in=[])
        return self.skipped_without_time | self.without_id.filter(is_skipped)

    # Ticks

    def tick(self, place: Any) -> int:
        return self.scheme.tick(self.source.at(place))

    def checked_tick(self, row: Row) -> int:
        """The tick of a row; ``BackfillError`` if it appeared later, without a usable time."""
        if row[0] is None:
            name = self.source.field.name
            raise self.stopped(row, f"it has no {name}. Give it one, or choose --on-null")
        try:
            return self.tick(row[0])
        except OutOfRange as error:
            raise self.stopped(row, error) from error

    def tick_of(self, place: Any) -> tuple[datetime, datetime]:
        """Start and end (excluded) of the tick of that place's time, both aware."""
        return self.scheme.tick_span(self.source.at(place))

    # Reading

    def stored_keys(self, pks: Sequence[Any]) -> list[Sequence[Any]]:
        """The keys as parameters: for each column of the key, its values."""
        columns = zip(*pks, strict=True) if self.model._meta.is_composite_pk else [pks]
        return list(map(self._stored, self.model._meta.pk_fields, columns))

    def _stored(self, field: models.Field[Any, Any], parts: Sequence[Any]) -> Sequence[Any]:
        if isinstance(field, models.IntegerField) and not hasattr(field, "from_db_value"):
            return parts  # as they are: preparing each takes a tenth of the time of a batch
        connection = connections[self.using]
        return [
            # prepared=True: else Django refuses the key 0 of an AutoField on MariaDB and MySQL
            field.get_db_prep_value(field.get_prep_value(part), connection, prepared=True)
            for part in parts
        ]

    def read(self, rows: QuerySet[Any], *names: Any) -> list[Any]:
        """Place, key and the fields ``names`` of each row."""
        place = self.source.selected_place
        if not self.model._meta.is_composite_pk:
            return list(rows.values_list(place, "pk", *names))
        # Django does not convert a foreign key that it selects as a part of "pk".
        keys = [field.attname for field in self.model._meta.pk_fields]
        end = 1 + len(keys)
        columns = rows.values_list(place, *keys, *names)
        return [(row[0], row[1:end], *row[end:]) for row in columns]

    def first(self, rows: QuerySet[Any]) -> Row | None:
        """The first row, as ``read`` returns it; None if there is none."""
        return next(iter(self.read(rows[:1])), None)

    def lacks_id(self, row: Row) -> bool:
        """Whether a row that was read still has no id and the same place.

        The place is read and compared here: on PostgreSQL, a query for a time in an hour that a
        clock change repeats finds nothing.
        """
        return bool(self.first(self.missing.filter(pk=row[1])) == row)

    def pages(self, rows: QuerySet[Any], *names: Any) -> Iterator[list[Any]]:
        """Place, key and the fields ``names`` of rows that have a time, in order, by pages: some
        drivers load a whole result into memory."""
        source = self.source
        timed = rest = rows.filter(source.has_shown_time).order_by(*source.order)
        while page := self.read(rest[:PAGE], *names):
            yield page
            rest = timed.filter(source.after(*page[-1][:2]))

    def stopped(self, row: Row, error: Exception | str) -> BackfillError:
        """The error that ends a run at that row; its place may be unknown (None)."""
        known = f"{self.model._meta.label} {row[1]}" if row[0] is None else self.source.named(row)
        return BackfillError(f"stopped at {known}: {error}")


class EveryRow(Target):
    """A target whose ids are in another table, or whose column is still to be added."""

    needs_id = Q()


def database_option(using: str) -> str:
    """The option for a database, with a leading space; empty for the default one."""
    return "" if using == "default" else f" {shlex.quote(f'--database={using}')}"


def first_named(rows: QuerySet[Any]) -> tuple[Any, str] | None:
    """The key of the first row, and text for a message about all rows; None if there are no rows.

    Only the key is read: Python may be unable to represent another value, and an instance without
    its fields may load them.
    """
    names = [field.attname for field in rows.model._meta.pk_fields]
    key = rows.order_by("pk").values_list(*names).first()
    if key is None:
        return None
    pk = key if len(key) > 1 else key[0]
    return pk, f"{rows.model._meta.label} {pk}{others(rows.count())}"


def others(count: int) -> str:
    """The suffix of a message that names one of ``count`` rows."""
    return f" (and {counted(count - 1, 'other row')})" if count > 1 else ""


def check_times(target: Target, missing: int) -> None:
    """Raise ``BackfillError``, naming a row, if one of the ``missing`` rows has no time or place of
    which an id can be generated."""
    scheme, name = target.field.scheme, target.source.field.name
    if target.on_null == "error":
        rows = target.source.outer_rows.filter(target.needs_id, **{f"{name}__isnull": True})
        _refuse(target, rows, f"has no {name}", "Give it one, or choose --on-null")
    target.source.check_places(target)
    if not target.source.is_by_time:
        return
    if isinstance(scheme, TimeScheme):
        span, rows = target.time_range, target.without_id
        is_strict = target.on_out_of_range == "error"
        if is_strict and span and rows.filter(target.is_out_of_range).exists():
            between, title, advice = target.source.between, scheme.title, "Correct its time"
            old, new = rows.filter(between(None, span[0])), rows.filter(between(span[1], None))
            _refuse(target, old, f"is too old: {title} begins at {scheme.earliest}", advice)
            _refuse(target, new, f"is too new: {title} ends at {scheme.latest}", advice)
        if missing > scheme.layout.new.suffixes:
            # Count the rows of each tick, which reads all of them.
            last, count = None, 0
            for place, pk in chain.from_iterable(target.pages(target.missing)):
                tick = target.tick(place)
                last, count = tick, count + 1 if tick == last else 1
                if count > scheme.layout.capacity(tick):
                    raise BackfillError(
                        f"{target.model._meta.label} {pk}: more than {count - 1:,} rows were "
                        f"created at {target.source.at(place).isoformat()}, and {scheme.title} has "
                        f"no more ids of that time. Choose a scheme of 128 bits; nothing was "
                        f"written."
                    )
        _check_skipped_hours(target)
    elif target.on_out_of_range != "skip":
        # A sequence has no range of times, but its rows are read in the order of their times.
        rows = target.without_id.filter(target.is_out_of_range)
        _refuse(target, rows, f"has the {name} before year 1 or after 9999", "Correct its time")


def _refuse(target: Target, rows: QuerySet[Any], what: str, advice: str) -> None:
    if first := first_named(rows):
        if not isinstance(target, EveryRow):  # A key can't be skipped.
            skip = "" if "--" in advice else ", or choose --on-out-of-range=skip"
            advice = f"{advice}{skip}, or give it an id yourself"
        raise BackfillError(f"{first[1]} {what}. {advice}; nothing was written.")


_DAY = timedelta(days=1)
_FIRST, _LAST = datetime(1850, 1, 1, tzinfo=UTC), datetime(2150, 1, 1, tzinfo=UTC)
"""Clock changes are searched for between these times."""


def _check_skipped_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a row without an id has a skipped time."""
    source, times = target.source, target.source.times
    if times is None or times.clock is None or times.clock.utcoffset(None) is not None:
        return
    place = source.selected_place
    ends = target.missing.aggregate(least=Min(place), most=Max(place))
    if ends["least"] is None:
        return
    least, most = (source.at(end) for end in ends.values())
    skipped = Q(pk__in=[])
    for change in _put_forward(times.clock, max(least, _FIRST) - _DAY, min(most, _LAST) + _DAY):
        before, after = times.place_at(change - MICROSECOND), times.place_at(change)
        skipped |= source.compared("gt", before) & source.compared("lt", after)
    rows = target.missing.filter(skipped)
    if first := target.first(rows.order_by("pk")):
        shown = first[0] if isinstance(first[0], str) else first[0].replace(tzinfo=None)
        raise BackfillError(
            f"{counted(rows.count(), 'row')} of {target.model._meta.label} with a time that the "
            f"clock of {times.clock} skips, such as {first[1]}, with the {source.field.name} "
            f"{shown}: no instant has it. Correct these times, usually by adding an hour; nothing "
            f"was written."
        )


def _put_forward(clock: tzinfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """When a clock is put forward between two times."""

    def offset(at: datetime) -> timedelta:
        return at.astimezone(clock).utcoffset() or timedelta()

    def is_after(before: timedelta, at: datetime) -> bool:
        return offset(at) > before

    at = start.astimezone(UTC)
    while at < end:
        before, at = offset(at), at + _DAY
        if is_after(before, at):
            yield first_moment_when(partial(is_after, before), at - _DAY, at)
