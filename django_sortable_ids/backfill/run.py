"""Runs a plan: batch after batch, each in one transaction with the cursor behind it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError, OperationalError, connections, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from .. import counters
from ..fields import LexicalSequenceField
from ..models import BackfillRun
from ..schemes import ID, OutOfRange, SequenceExhausted, TimeScheme
from .cursor import Cursor
from .errors import BackfillError
from .minting import Position, ascending, mint, mint_between
from .plan import Plan, options
from .target import Target, aware, from_aware

TRIES = 5
"""How often a batch is made anew: when one of its ids is taken, as may be with 64 bits, or when the
database gave way to another transaction."""

SWEEP_ROWS = 1000
"""How many late rows are looked up at a time."""

Row = tuple[datetime, Any]
"""Creation time and key."""

Progress = Callable[[int], None]
"""Is told how many rows were filled since it was told last."""


@dataclass(frozen=True, slots=True)
class Result:
    filled: int
    remaining: int
    """Rows that were inserted without an id meanwhile and still have none."""


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: Sequence[Row]
    ids: Sequence[ID]
    cursor: Cursor | None
    """Where the run stands then; None where it stays."""


def execute(plan: Plan, progress: Progress = lambda _: None) -> Result:
    """Fill every row of the plan, and those that appear meanwhile, as far as it comes to an end.

    Raises ``BackfillError`` where another process fills the same column or an id can't be made.
    Whatever stops it: executing a new plan of the same target goes on where it stopped.
    """
    if not plan.missing and plan.resumed is None:
        # A new run would forget how far the last one came, which --verify judges by.
        return Result(0, 0)
    runner = _Runner(plan, progress)
    runner.fill(plan.missing)
    # Those that appeared meanwhile: once, so that it ends though inserts go on.
    runner.fill(runner.behind().count())
    runner.sweep()
    runner.finish()
    return Result(runner.filled, plan.target.missing.count())


class _Runner:
    def __init__(self, plan: Plan, progress: Progress) -> None:
        self.target = plan.target
        self.plan = plan
        self.progress = progress
        self.run = plan.resumed or _start(plan.target)
        self.filled = 0

    def fill(self, count: int) -> None:
        """Fill ``count`` rows behind the cursor, if there are so many, and the rest of a batch."""
        while count > 0 and (rows := self._commit(self._next_batch)):
            count -= len(rows)

    def behind(self) -> QuerySet[Any, Any]:
        """The rows without an id behind the cursor, in order."""
        cursor = self._cursor()
        missing = self._missing()
        return missing.filter(self.target.after(*cursor.place)) if cursor else missing

    def sweep(self) -> None:
        """Fill the rows that appeared in front of the cursor: inserted without an id, or committed
        late. As many as there are now, so that it ends though inserts go on.
        """
        cursor = self._cursor()
        if cursor is None:
            return
        late = self._missing().filter(self.target.before(*cursor.place))
        count = late.count()
        while count > 0 and (rows := self.target.read(late[: min(count, SWEEP_ROWS)])):
            count -= len(rows)
            while rows:
                filled = set(self._commit(partial(self._late_batch, rows)))
                rows = [row for row in rows[1:] if row not in filled]

    def finish(self) -> None:
        self._runs().filter(pk=self.run.pk).update(finished_at=timezone.now())

    def _commit(self, make: Callable[[], _Batch]) -> Sequence[Row]:
        """Make a batch and write it, in one transaction; its rows."""
        for attempt in range(1, TRIES + 1):
            try:
                with transaction.atomic(using=self.target.using):
                    self._claim()
                    batch = make()
                    changes = self._write(batch)
            except IntegrityError as error:
                if attempt == TRIES:
                    raise self._stopped(batch.rows[0], error) from error
            except OperationalError:
                # A deadlock, or a lock that another transaction has held for too long.
                if attempt == TRIES:
                    raise
            else:
                self._written(changes)
                return batch.rows
        raise AssertionError("unreachable")

    def _claim(self) -> None:
        """Lock the run until the transaction ends."""
        run = self.run
        if not self._runs().filter(pk=run.pk, batches=run.batches).update(batches=run.batches + 1):
            raise _another_process(self.target)

    def _write(self, batch: _Batch) -> dict[str, Any]:
        """Write ids and cursor; what has changed of the run."""
        run, filled = self.run, self._update(batch) if batch.rows else 0
        changes = {
            "cursor": batch.cursor.dump() if batch.cursor else run.cursor,
            "rows_filled": run.rows_filled + filled,
            "updated_at": timezone.now(),
        }
        self._runs().filter(pk=run.pk).update(**changes)
        return changes | {"batches": run.batches + 1}

    def _update(self, batch: _Batch) -> int:
        """Write the ids; how many rows still had none."""
        target = self.target
        connection = connections[target.using]
        save = target.field.get_db_prep_save
        parameters = [
            [save(value, connection), *target.stored_key(pk)]
            for (_, pk), value in zip(batch.rows, batch.ids, strict=True)
        ]
        with connection.cursor() as statement:
            statement.executemany(self.plan.update_sql, parameters)
            return int(statement.rowcount)

    def _written(self, changes: dict[str, Any]) -> None:
        filled = changes["rows_filled"] - self.run.rows_filled
        for name, value in changes.items():
            setattr(self.run, name, value)
        self.filled += filled
        if filled:
            self.progress(filled)

    def _next_batch(self) -> _Batch:
        cursor = self._cursor()
        rows = self.target.read(self.behind()[: self.plan.batch_size])
        if not rows:
            return _Batch([], [], None)
        created, pk = rows[-1]
        ids, position = self._mint(rows, cursor.position if cursor else None)
        return _Batch(rows, ids, Cursor(created, pk, position))

    def _mint(
        self, rows: Sequence[Row], position: Position | None
    ) -> tuple[Sequence[ID], Position | None]:
        field, scheme = self.target.field, self.target.field.scheme
        with self._naming(rows[-1]):
            if isinstance(field, LexicalSequenceField):
                return counters.take(field, field.scheme, len(rows), self.target.using), None
            assert isinstance(scheme, TimeScheme), "every other scheme has a time"
            times = ascending(scheme, [aware(created) for created, _ in rows], position)
            return mint(scheme, times, position, self._beyond(rows, scheme, times[-1]))

    def _beyond(self, rows: Sequence[Row], scheme: TimeScheme, last: datetime) -> int:
        """How many rows behind a full batch share the tick of its last row."""
        if len(rows) < self.plan.batch_size:
            return 0
        created, pk = rows[-1]
        end = from_aware(scheme.tick_span(last)[1], like=created)
        behind = self._missing().filter(self.target.after(created, pk))
        return behind.filter(**{f"{self.target.source.name}__lt": end}).count()

    def _late_batch(self, rows: Sequence[Row]) -> _Batch:
        """The first of the late rows, and those that lie between the same two ids of its tick."""
        field, scheme = self.target.field, self.target.field.scheme
        with self._naming(rows[0]):
            if isinstance(field, LexicalSequenceField):
                return _Batch(
                    rows, counters.take(field, field.scheme, len(rows), self.target.using), None
                )
            assert isinstance(scheme, TimeScheme), "every other scheme has a time"
            gap, before, behind = self._gap(scheme, rows[0])
            found = self.target.read(gap[:SWEEP_ROWS])
            if rows[0] not in found:
                # It has gone, or its hour is one that a clock change skips or repeats.
                found = [rows[0]]
            count = gap.count() if len(found) == SWEEP_ROWS else len(found)
            at = aware(rows[0][0])
            return _Batch(found, mint_between(scheme, at, before, behind, len(found), count), None)

    def _gap(self, scheme: TimeScheme, row: Row) -> tuple[QuerySet[Any, Any], ID | None, ID | None]:
        """The rows without an id around this one, up to the next ids of its tick, and these."""
        target, time, name = self.target, self.target.source.name, self.target.field.name
        start, end = scheme.tick_span(aware(row[0]))
        start, end = from_aware(start, like=row[0]), from_aware(end, like=row[0])
        in_tick = Q(**{f"{time}__gte": start, f"{time}__lt": end})
        of_tick = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": end})
        given = target.rows.filter(in_tick, of_tick).order_by(*target.order)
        before = target.first(given.filter(target.before(*row)).reverse(), name)
        behind = target.first(given.filter(target.after(*row)), name)
        gap = self._missing().filter(in_tick)
        if before:
            gap = gap.filter(target.after(*before[:2]))
        if behind:
            gap = gap.filter(target.before(*behind[:2]))
        return gap, before and before[2], behind and behind[2]

    def _cursor(self) -> Cursor | None:
        return Cursor.load(self.target, self.run.cursor) if self.run.cursor else None

    def _missing(self) -> QuerySet[Any, Any]:
        return self.target.missing.order_by(*self.target.order)

    def _runs(self) -> QuerySet[BackfillRun]:
        return BackfillRun.objects.using(self.target.using)

    @contextmanager
    def _naming(self, row: Row) -> Iterator[None]:
        try:
            yield
        except (OutOfRange, SequenceExhausted) as error:
            raise self._stopped(row, error) from error

    def _stopped(self, row: Row, error: Exception) -> BackfillError:
        return BackfillError(
            f"stopped at {self.target.model._meta.label} {row[1]}, created at {row[0]}: {error}"
        )


def _start(target: Target) -> BackfillRun:
    """A new run; it takes the place of the last one, if that has ended."""
    runs = BackfillRun.objects.using(target.using)
    fresh = {
        "options": options(target),
        "cursor": None,
        "rows_filled": 0,
        "started_at": timezone.now(),
        "updated_at": timezone.now(),
        "finished_at": None,
    }
    if runs.filter(target=target.label, finished_at__isnull=False).update(**fresh):
        return runs.get(target=target.label)
    try:
        with transaction.atomic(using=target.using):
            return runs.create(target=target.label, **fresh)
    except IntegrityError:
        raise _another_process(target) from None


def _another_process(target: Target) -> BackfillError:
    return BackfillError(
        f"another process fills {target.label}, and one is enough: this one stops. Every batch of "
        f"both is whole"
    )
