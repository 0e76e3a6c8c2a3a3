"""Runs a plan.

1. Take the run: one process owns it, and writes heartbeats in a thread.
2. Fill as many rows as the plan counted, batch by batch. A batch is one transaction that writes ids
   and cursor together, so a killed run resumes after its last commit.
3. Fill the rows after the cursor that were inserted concurrently.
4. Fill the late rows before the cursor, between the ids of their neighbours.
5. Fill the rows without a time, for ``--on-null=now``.
6. Mark the run as finished.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from django.db import DatabaseError, Error, IntegrityError, InterfaceError, connections, transaction
from django.utils import timezone

from ..db.errors import is_conflict, is_lock_timeout
from ..db.transactions import in_transaction, is_in_memory, is_lost
from ..errors import BackfillError, counted
from . import owner
from .batch import NOTHING, Batch, Cursor, RowLeftEmpty
from .engines import engine_of
from .owner import heartbeats
from .pace import BatchSize, Control, Limits, Pace, Stopped
from .plan import Plan
from .writer import Writer

TRIES = 5
"""How often a batch is tried if one of its ids exists already, as may happen with 64 bits, or if it
is rolled back by ``RowLeftEmpty``."""

LONGEST_ERROR = 1000  # stored characters of a message

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0
"""Seconds."""

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Result:
    filled: int
    remaining: int
    """Rows that still have no id, such as those that were inserted at the end of the run."""


def execute(
    plan: Plan,
    progress: Callable[[int], None] = lambda _: None,
    limits: Limits | None = None,
    control: Control | None = None,
) -> Result:
    """Fill every row of the plan, then those that appeared during the run, as the steps above say.

    ``progress`` gets the number of rows that were filled since its last call. Raises
    ``BackfillError`` if another process fills the same column or an id can't be generated, and
    ``Stopped`` if ``control`` stops the run. Whatever stops it, a new plan of the same target
    continues where it stopped.
    """
    if not plan.rows and not (plan.last and plan.last.finished_at is None):
        # Nothing runs: the record of the last run stays, which --verify needs.
        owner.remember(plan)
        return Result(0, 0)
    return _Runner(plan, progress, limits or Limits(), control or Control()).run()


class _Runner:
    def __init__(
        self, plan: Plan, progress: Callable[[int], None], limits: Limits, control: Control
    ) -> None:
        self._plan = plan
        self._target = plan.target
        self._progress = progress
        self._filled = 0
        self._size = BatchSize(plan.batch_size, limits)
        self._pace = Pace(limits, control)
        self._control, self._retry_time = control, limits.retry_time
        self._retries = not in_transaction(plan.target.using)
        """Inside a transaction of the caller, nothing can be retried."""
        self._session: object = None
        """The driver's connection that was last prepared."""
        self._last_error: str | None = None
        self._last_size = 0
        self._tried = NOTHING
        token = secrets.token_hex(16)
        self._run = self._retried(lambda: owner.take(plan, token))
        self._started = time.monotonic()

    def run(self) -> Result:
        with self._owning():
            self._retried(self._plan.writer.catch_up)
            self._fill(self._plan.missing)
            # Once, like the next steps, so that it ends even if inserts continue.
            pending = self._plan.writer.pending
            self._fill(self._retried(lambda: pending.after(self._cursor).count()))
            if remaining := self._count_missing():
                self._fill_late_rows()
                remaining = self._count_missing()
            if timeless := self._plan.timeless:
                remaining = self._fill_without_time(timeless) + self._count_missing()
            ended = {"finished_at": timezone.now(), "last_error": ""}
            if not self._retried(lambda: owner.mine(self._target, self._run).update(**ended)):
                raise owner.ownership_lost(self._target)
        return Result(self._filled, remaining)

    @contextmanager
    def _owning(self) -> Iterator[None]:
        """Write heartbeats in the block, and release the run on any error."""
        # No other process sees a transaction of the caller, nor a database in memory.
        is_private = not self._retries or is_in_memory(self._target.using)
        with nullcontext() if is_private else heartbeats(self._target, self._run):
            try:
                yield
            except BaseException as error:
                if not isinstance(error, Stopped | KeyboardInterrupt):
                    text = " ".join(f"{error}".split())[:LONGEST_ERROR]
                    self._last_error = text or type(error).__name__
                changes = {} if self._last_error is None else {"last_error": self._last_error}
                with suppress(Error):
                    if self._retries:
                        connections[self._target.using].close_if_unusable_or_obsolete()
                    row = owner.mine(self._target, self._run)
                    row.update(token="", heartbeat=owner.now_ms(), **changes)
                raise
            finally:
                if self._retries:
                    with suppress(Error):
                        engine_of(self._target.using).end_session()

    def _fill(self, count: int) -> None:
        """Fill up to ``count`` rows after the cursor, rounded up to whole batches and spans."""
        end = self._filled + count

        def make() -> Batch:
            return self._plan.writer.next_batch(self._cursor, self._size.rows)

        while self._filled < end or ((cursor := self._cursor) and cursor.span):
            if not self._write_batch(make).size:
                return

    def _count_missing(self) -> int:
        return self._retried(self._target.missing.count)

    def _fill_late_rows(self) -> None:
        """Fill the rows before the cursor that were inserted without an id, or committed late."""
        cursor = self._cursor
        if cursor is None:
            return
        writer, last = self._plan.writer, None
        count = self._retried(writer.late_rows(cursor).count)
        find = writer.some_late_rows

        def make() -> Batch:
            return writer.late_batch(rows[: self._size.rows], cursor)

        while count > 0 and (rows := self._retried(partial(find, cursor, count, last))):
            count, last = count - len(rows), rows[-1]
            while rows:
                filled = set(self._write_batch(make).rows)
                rows = [row for row in rows if row not in filled]

    def _fill_without_time(self, writer: Writer) -> int:
        """Fill as many rows as there are now; returns how many have no id then."""
        target = writer.target
        left = self._retried(target.missing.count)
        while left > 0:
            # An id that nobody gets: it may need the lease of a worker number, which on SQLite
            # would wait for the transaction of the batch.
            target.source.known_ids(target, [(None, None)])
            size = self._write_batch(lambda: writer.next_batch(None, self._size.rows)).size
            if not size:
                break
            left -= size
        return self._retried(target.missing.count)

    def _write_batch(self, make: Callable[[], Batch]) -> Batch:
        """Pause, then make a batch and write it, in one transaction."""
        self._pace.rest(self._last_size)
        batch = self._retried(partial(self._write_in_transaction, make), self._size.halve)
        self._last_size = batch.size
        return batch

    def _write_in_transaction(self, make: Callable[[], Batch]) -> Batch:
        for attempt in range(1, TRIES + 1):
            started = time.monotonic()
            try:
                with transaction.atomic(using=self._target.using):
                    self._begin()
                    batch = make()
                    self._tried = batch
                    changes = self._write(batch)
            except _ChangedRun:  # the COMMIT of this batch, if its answer was lost
                run = owner.mine(self._target, self._run).first()
                if run is None:
                    raise owner.ownership_lost(self._target) from None
                committed = ("cursor", "rows_filled", "batches")
                self._apply({name: getattr(run, name) for name in committed})
                return self._tried
            except RowLeftEmpty:
                if attempt == TRIES:
                    (_, first), (_, last) = self._tried.rows[0], self._tried.rows[-1]
                    raise BackfillError(
                        f"stopped: a batch of {counted(self._tried.size, 'row')}, from "
                        f"{self._target.model._meta.label} {first} to {last}, was written, but "
                        f"one of them has no id. A trigger, a rule or row-level security "
                        f"prevents it, or other sessions insert rows of its time: disable it, or "
                        f"wait for them, and start again; the batch was rolled back"
                    ) from None
                self._plan.writer.computes = False
            except IntegrityError as error:
                if attempt == TRIES:
                    raise self._target.stopped(self._tried.rows[0], error) from error
            else:
                self._plan.writer.computes = True
                self._size.took(batch.size, time.monotonic() - started)
                self._apply(changes)
                return batch
        raise AssertionError("unreachable")

    def _begin(self) -> None:
        """Check that the run is unchanged: the last batch may have been committed although the
        answer was lost, and another process may have taken the run."""
        engine = engine_of(self._target.using)
        row = owner.mine(self._target, self._run).filter(batches=self._run.batches)
        if self._retries:
            engine.begin_batch()
        if engine.writes_first:
            unchanged = bool(row.update(heartbeat=owner.now_ms()))
        else:
            # Without a lock, so that heartbeats don't wait for the batch.
            unchanged = row.exists()
        if not unchanged:
            raise _ChangedRun

    def _write(self, batch: Batch) -> dict[str, Any]:
        """Write ids and cursor; returns the changed values of the run."""
        run, written = self._run, batch.write()
        if not written.filled and (row := written.must_have_id) and self._target.lacks_id(row):
            raise RowLeftEmpty
        seconds = max(time.monotonic() - self._started, 1e-6)
        changes = {
            "cursor": written.cursor.dump() if written.cursor else run.cursor,
            "rows_filled": run.rows_filled + written.filled,
            "batches": run.batches + 1,
            "updated_at": timezone.now(),
            "heartbeat": owner.now_ms(),
            "batch_size": self._size.rows,
            "rate": (self._filled + written.filled) / seconds,
        }
        if self._last_error is not None:
            changes["last_error"] = self._last_error
        if not owner.mine(self._target, run).update(**changes):
            raise _ChangedRun
        return changes

    def _retried(
        self, work: Callable[[], Outcome], on_conflict: Callable[[], None] = lambda: None
    ) -> Outcome:
        """The result of ``work``, which is retried for the retry time after its first failure;
        ``on_conflict`` is called after a conflict or a lock timeout.

        Raises ``TriedTooLong`` when the time is over, and all other errors of ``work``.
        """
        give_up, pause, away = None, _FIRST_PAUSE, False
        using = self._target.using
        connection = connections[using]
        while True:
            try:
                connection.ensure_connection()
                if self._retries and connection.connection is not self._session:
                    engine_of(using).prepare_session()
                self._session = connection.connection
                result = work()
            except (DatabaseError, InterfaceError) as error:
                # At the end of the transaction, Django may have connected again.
                changed = connection.connection is not self._session
                lost = self._retries and (changed or is_lost(error, using))
                if not self._retries or not (lost or is_conflict(error) or is_lock_timeout(error)):
                    raise
                give_up = give_up or time.monotonic() + self._retry_time
                text = " ".join(str(error).split())
                self._last_error = f"{type(error).__name__}: {text}"[:LONGEST_ERROR]
                if time.monotonic() >= give_up:
                    what = "other transactions were in the way"
                    if lost:
                        what = "the database could not be reached"
                    raise TriedTooLong(f"{what} for {self._retry_time:g} s: {text}") from error
                if lost:
                    connection.close()
                    if not away:
                        self._control.say(f"the connection is lost, trying again: {error}")
                    away = True
                else:
                    on_conflict()
            else:
                if away:
                    self._control.say("connected again")
                return result
            # The length is random, or two conflicting transactions would meet again.
            self._control.pause(random.uniform(0.5, 1) * pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _apply(self, changes: dict[str, Any]) -> None:
        filled = changes["rows_filled"] - self._run.rows_filled
        for name, value in changes.items():
            setattr(self._run, name, value)
        self._filled += filled
        if filled:
            self._progress(filled)

    @property
    def _cursor(self) -> Cursor | None:
        return Cursor.load(self._target, self._run.cursor)


class _ChangedRun(Exception):
    """Another process, or a lost COMMIT, has changed the row of the run."""


class TriedTooLong(BackfillError):
    """For the whole retry time, the database was unreachable, or other transactions conflicted."""
