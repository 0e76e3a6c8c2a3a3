"""Rows that get their ids at the end of a run: late ones, and those without a time in range."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import DateField, Q, QuerySet, Subquery

from ...db import chunks
from ...errors import BackfillError, counted
from ...fields import LexicalSequenceField
from ...functions.time_columns import last_tick
from ...schemes import ID, LeaseLost, LeaseUnavailable, TimeScheme
from ...workers import counters
from ..engines.base import Engine
from ..sources.base import Row
from ..sources.target import Target
from .batch import NOTHING, Batch, Cursor, Written
from .minting import mint_between
from .writer import Writer

LATE_ROWS = 1000
"""How many late rows are read at a time."""
NEIGHBOURS = 10
"""How many ids are read on each side of a late row, to see which of them are out of order."""


class LateRows:
    """The rows without an id before a cursor: inserted without one, or committed late."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._target = writer.target

    def count(self, cursor: Cursor) -> int:
        return chunks.count(self._before(cursor))

    def some(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """Up to ``most`` of them in order, after the row ``last`` of the previous call."""
        rows = self._before(cursor)
        if last is not None:
            rows = rows.filter(self._target.source.after(*last))
        return self._target.read(rows[: min(most, LATE_ROWS)])

    def batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """The first of the rows, and all others between the same two ids of its tick."""
        target, field = self._target, self._target.field
        with self._writer.naming(rows[0]):
            if (known := target.source.known_ids(target, rows)) is not None:
                return self._batch_of(rows, known)
            if isinstance(field, LexicalSequenceField):
                return self._batch_of(
                    rows, counters.take(field, field.scheme, len(rows), target.using)
                )
            gap, before, after, last = self._gap(rows[0], cursor)
            in_gap = target.read(gap[:LATE_ROWS])
            if rows[0] not in in_gap:
                if not target.lacks_id(rows[0]):
                    return Batch(rows[:1], 1, lambda: Written(0, None))
                # Its time is in an hour that a clock change skips or repeats.
                in_gap = [rows[0]]
            count = gap.count() if len(in_gap) == LATE_ROWS else len(in_gap)
            at = target.source.at(rows[0][0])
            ids = mint_between(target.scheme, at, before, after, last, len(in_gap), count)
            return self._batch_of(in_gap, ids)

    def _batch_of(self, rows: Sequence[Row], ids: Sequence[ID]) -> Batch:
        return Batch(rows, len(rows), lambda: Written(self._writer.send(rows, ids), None, rows[0]))

    def _gap(
        self, row: Row, cursor: Cursor
    ) -> tuple[QuerySet[Any, Any], list[ID], list[ID], ID | None]:
        """The rows without an id around this one, up to the next ids of its tick; the ids before
        and after them; and the id of the cursor, if it is in the tick."""
        target, scheme, name = self._target, self._target.scheme, self._target.field.name
        source = target.source
        start, stop = target.tick_of(row[0])
        # A row whose time was edited may have an id of another tick.
        has_id = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": stop})
        given = target.rows.filter(source.between(start, stop), has_id).order_by(*source.order)
        before = target.read(given.filter(source.before(*row)).reverse()[:NEIGHBOURS], name)
        following = given.filter(source.after(*row))
        last = cursor.last(scheme, target.tick(row[0]))
        if last:
            # Rows after the cursor's row use the rest of the tick, even if that row is gone.
            following = following.filter(source.before(*last[:2]))
        after = target.read(following[:NEIGHBOURS], name)
        gap = target.missing.filter(source.between(start, stop))
        if before:
            gap = gap.filter(source.after(*before[0][:2]))
        if end := after[0] if after else last:
            gap = gap.filter(source.before(*end[:2]))
        return gap, [each[2] for each in before], [each[2] for each in after], last and last[2]

    def _before(self, cursor: Cursor) -> QuerySet[Any, Any]:
        return self._target.missing.filter(self._target.source.before(*cursor.row))


class PolicyRows(ABC):
    """The rows without an id that get ids from one policy.

    Their times are compared in the database only, since Python can't represent all of them.
    """

    which: str
    """Which rows, and which ids they get, as text for the plan."""

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self._writer = Writer(target, engine, with_times=False)

    @property
    def statement(self) -> str:
        return self._writer.sent

    @property
    @abstractmethod
    def rows(self) -> QuerySet[Any]:
        """The rows, in order."""

    def count(self) -> int:
        return chunks.count(self.rows)

    def check(self, count: int) -> None:
        return

    def prepare(self, count: int) -> None:
        """Prepare the next batch, of up to ``count`` rows, outside of its transaction."""
        return

    def batch(self, size: int, last: Any, left: int) -> Batch:
        """The next rows after the one with the key ``last`` (None: the first ones), of ``left``."""
        rows = self.rows if last is None else self.rows.filter(self._after(last))
        keys = _locked_keys(self.target, rows, size)
        if not keys:
            return NOTHING
        rows_of_keys: list[Row] = [(None, key) for key in keys]
        with self._writer.naming(rows_of_keys[0]):
            ids = self._ids(keys, max(left, len(keys)))
        return Batch(
            rows_of_keys, len(keys), lambda: Written(self._writer.send(rows_of_keys, ids), None)
        )

    @abstractmethod
    def _after(self, key: Any) -> Q:
        """The rows after the one with that key."""

    @abstractmethod
    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        """Ids for the rows of these keys, which are the first of ``left`` rows."""


def policy_rows(target: Target, engine: Engine) -> Iterator[PolicyRows]:
    """The rows that get ids from the policies of the target, one entry for each policy."""
    if target.on_null == "now":
        yield _WithoutTime(target, engine)
    scheme = target.field.scheme
    if target.on_out_of_range == "clamp" and isinstance(scheme, TimeScheme) and target.time_range:
        start, end = target.time_range
        first, last = scheme.earliest, last_tick(scheme)
        yield _OutOfRange(target, engine, f"too old for {scheme.title}", first, (None, start))
        yield _OutOfRange(target, engine, f"too new for {scheme.title}", last, (end, None))


class _WithoutTime(PolicyRows):
    """Rows without a time get ids of now, in the order of the key."""

    def __init__(self, target: Target, engine: Engine) -> None:
        super().__init__(target, engine)
        self.which = f"without {target.source.field.name}, with ids of now"
        self._generated: Sequence[ID] = ()

    @property
    def rows(self) -> QuerySet[Any]:
        timeless = Q(**{f"{self.target.source.field.name}__isnull": True})
        return self.target.without_id.filter(timeless).order_by("pk")

    def prepare(self, count: int) -> None:
        """Generate the ids. This may write the lease of a worker number on a second connection,
        which on SQLite would wait for the transaction.
        """
        target = self.target
        if isinstance(target.field, LexicalSequenceField):
            return
        try:
            self._generated = target.field.generate_many_for([target.model()] * count, target.using)
        except (LeaseLost, LeaseUnavailable) as error:
            raise BackfillError(f"{target.label}: no ids of now: {error}") from error

    def _after(self, key: Any) -> Q:
        return Q(pk__gt=key)

    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        field, count = self.target.field, len(keys)
        if isinstance(field, LexicalSequenceField):
            return counters.take(field, field.scheme, count, self.target.using)
        return self._generated[:count]


class _OutOfRange(PolicyRows):
    """Rows out of range get ids of the scheme's first or last tick, in the order of the run."""

    def __init__(
        self,
        target: Target,
        engine: Engine,
        what: str,
        at: datetime,
        bounds: tuple[datetime | None, datetime | None],
    ) -> None:
        super().__init__(target, engine)
        self.which = f"{what}, with ids of {at:%Y-%m-%d %H:%M:%S} UTC"
        self._at = at
        self._bounds = bounds

    @property
    def rows(self) -> QuerySet[Any]:
        target = self.target
        return target.without_id.filter(target.source.between(*self._bounds)).order_by(
            *target.source.order
        )

    def check(self, count: int) -> None:
        scheme = self.target.scheme
        capacity = scheme.layout.capacity(scheme.tick(self._at))
        if count > capacity:
            raise BackfillError(
                f"{self.target.label}: {counted(count, 'row')} {self.which}, and {scheme.title} "
                f"has {capacity:,} ids of that time. Correct their times, or choose "
                f"--on-out-of-range=skip; nothing was written."
            )

    def _after(self, key: Any) -> Q:
        return self.target.source.after(self._place(key), key)

    def _ids(self, keys: Sequence[Any], left: int) -> Sequence[ID]:
        target, scheme, name = self.target, self.target.scheme, self.target.field.name
        of_tick = (
            {f"{name}__created_at__lt": scheme.tick_span(self._at)[1]}
            if self._at == scheme.earliest
            else {f"{name}__created_at__gte": self._at}
        )
        given = target.rows.filter(**of_tick).order_by(*target.source.order)
        first, last = keys[0], keys[-1]
        before = given.filter(target.source.before(self._place(first), first)).reverse()
        after = given.filter(target.source.after(self._place(last), last))
        lower, upper = (list(rows.values_list(name, flat=True)[:1]) for rows in (before, after))
        return mint_between(scheme, self._at, lower, upper, None, len(keys), left)

    def _place(self, key: Any) -> Any:
        """The place of a row in the order of the run, as the database has it."""
        target = self.target
        rows = target.rows.filter(pk=key)
        if isinstance(target.source.field, DateField):
            return Subquery(rows.values(target.source.place_name)[:1])
        return target.first(rows)[0]


def _keys(target: Target, rows: QuerySet[Any]) -> list[Any]:
    names = [field.attname for field in target.key_fields]
    if target.model._meta.is_composite_pk:
        return [tuple(key) for key in rows.values_list(*names)]
    return list(rows.values_list("pk", flat=True))


def _locked_keys(target: Target, rows: QuerySet[Any], size: int) -> list[Any]:
    """The keys of the first rows, which are locked: no other transaction gives them a time before
    the commit. By their keys, since PostgreSQL can't lock the nullable side of an outer join."""
    while keys := _keys(target, rows[:size]):
        if not connections[target.using].features.has_select_for_update:
            break
        list(target.rows.filter(pk__in=keys).select_for_update().values_list("pk"))
        if still := _keys(target, rows.filter(pk__in=keys)):
            return still
    return keys
