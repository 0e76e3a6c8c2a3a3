"""The rows of worker leases: each is taken, extended and given back by one compare-and-set.

There are no row locks and no advisory locks, because a Galera cluster doesn't share them between
its nodes: if two processes write one row concurrently, it rejects one at commit, and that process
tries again. Each statement is its own transaction, so a process that is suspended between two
holds no lock that others would wait for. Call these functions outside of any transaction.
"""

from __future__ import annotations

import logging
import os
import random
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from django.db import IntegrityError, connections
from django.db.models import QuerySet

from ..db import tables
from ..db.transactions import apart, in_a_thread, retried
from ..models import WorkerLease
from ..schemes import LeaseLost, LeaseUnavailable
from ..schemes.clock_and_randomness import system_ns

MOST_NUMBERS = 2**31
"""How many numbers the column can hold."""

_TRIES = 20
_MOST_CANDIDATES = 1024


class Terms(NamedTuple):
    """How long a lease lasts, and how long other processes wait after its end, in ms."""

    term: int
    skew: int


class Held(NamedTuple):
    """The lease that this process holds; times are Unix ms."""

    number: int
    token: str
    starts: int
    expires: int


def take(limit: int, terms: Terms, clock: Callable[[], int], using: str) -> Held:
    """A number below ``limit`` that no other process has; ``clock`` returns Unix ms.

    Numbers that were given back or never used come first, the lowest one first; then those whose
    leases have expired, the oldest one first. ``LeaseUnavailable`` if all are taken.
    """
    rows = WorkerLease.objects.using(using)
    for attempt in range(_TRIES):
        now = clock()
        with tables.needing(WorkerLease, using, LeaseUnavailable):
            known = {row.number: row for row in rows.filter(number__lt=limit)}
        # Processes that start together see the same lowest number. The losers try one of several.
        window = min(4**attempt, _MOST_CANDIDATES)
        candidates = list(islice(_candidates(known, limit, terms, now), window))
        if not candidates:
            ends = (row.expires + (terms.skew if row.token else 0) for row in known.values())
            raise LeaseUnavailable(
                f"all {len(known)} worker numbers are leased, which the admin lists. Stop "
                f"processes that need none, or choose a scheme with more worker numbers. The "
                f"number of a killed process is free at {_shown(min(ends))} at the earliest"
            )
        number = random.choice(candidates)
        held = Held(number, secrets.token_hex(16), starts=now, expires=now + terms.term)
        columns, row = _owned(held, held.expires), known.get(number)
        if row is None:
            with suppress(IntegrityError):  # another process inserted the row
                retried(partial(rows.create, number=number, **columns))
                return held
        else:
            unchanged = rows.filter(number=number, token=row.token, expires=row.expires)
            if retried(partial(unchanged.update, **columns)):
                return held
    raise LeaseUnavailable(
        f"no worker number could be leased: {_TRIES} times, another process was faster; try again"
    )


def extend(held: Held, expires: int, using: str) -> None:
    """Move the end of the lease to ``expires``; ``LeaseLost`` if another process has the number.

    If the row is missing, because the table was emptied, it is inserted again.
    """

    def work() -> None:
        rows: QuerySet[WorkerLease] = WorkerLease.objects.using(using).filter(number=held.number)
        if rows.filter(token=held.token).update(expires=expires):
            return
        row = rows.first()
        if row is not None:
            owner = row.owner if row.token else f"{row.owner}, which has given it back"
            raise LeaseLost(
                f"worker number {held.number} was leased until {_shown(held.expires)} and has been "
                f"taken by {owner}: this process was suspended, or without its database, for too "
                f"long. It generates no more ids with a worker number; restart it"
            )
        rows.create(number=held.number, **_owned(held, expires))

    try:
        retried(work)
    except IntegrityError:
        retried(work)  # another process inserted the row concurrently


def give_back(held: Held, expires: int, using: str) -> None:
    """Let other processes take the number from ``expires`` on; no effect if one already has it."""
    rows = WorkerLease.objects.using(using).filter(number=held.number, token=held.token)
    apart(lambda: rows.update(token="", expires=expires), using, fresh=True)


def _candidates(known: dict[int, WorkerLease], limit: int, terms: Terms, now: int) -> Iterator[int]:
    for number in islice(count(), min(limit, MOST_NUMBERS)):
        row = known.get(number)
        if row is None or (not row.token and row.expires <= now):
            yield number
    expired = [row for row in known.values() if row.token and row.expires + terms.skew <= now]
    yield from (row.number for row in sorted(expired, key=lambda row: row.expires))


def _owned(held: Held, expires: int) -> dict[str, Any]:
    """The columns of the row while this process has the number."""
    owner = f"{socket.gethostname()[:180]} pid {os.getpid()}"
    return {"owner": owner, "token": held.token, "starts": held.starts, "expires": expires}


def _shown(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


logger = logging.getLogger("django_sortable_ids")

_MS = 1_000_000
"""A millisecond in ns."""
_LOCK_TIMEOUT = 5.0
"""Seconds."""


class ProcessLease:
    """A ``Lease`` stored as a database row: ``ends_ns`` never exceeds the committed end."""

    def __init__(
        self, limit: int, terms: Terms, using: str, clock: Callable[[], int] = system_ns
    ) -> None:
        """Takes a number below ``limit``; ``clock`` returns Unix ns.

        Raises ``LeaseUnavailable`` if all are taken, or inside a transaction of SQLite.
        """
        refuse_in_transaction_of_sqlite(using)
        self._terms = terms
        self._using = using
        self._clock = clock
        self._lock = Lock()
        self._latest: set[Callable[[], int]] = set()
        self._why_ended = ""
        self._stop = Event()
        self._held = in_a_thread(lambda: take(limit, terms, self._now, using), using)
        self._database = connections[using].settings_dict["NAME"]
        self.number = self._held.number
        self.starts_ns = self._held.starts * _MS
        self.ends_ns = self._held.expires * _MS
        self.ended = False

    def used_by(self, latest_ns: Callable[[], int]) -> None:
        self._latest.add(latest_ns)

    def extend(self, to_ns: int) -> None:
        """Ensure that ``ends_ns`` is after ``to_ns``.

        Raises ``LeaseLost`` if another process has the number, and always from then on. Raises
        ``LeaseUnavailable`` in a transaction of SQLite. Errors of the database are passed on.
        """
        if not self.ended and to_ns >= self.ends_ns:
            refuse_in_transaction_of_sqlite(self._using)
            with self._lock:
                if not self.ended and to_ns >= self.ends_ns:
                    in_a_thread(lambda: self._extend(to_ns // _MS), self._using)
        if self.ended:
            raise LeaseLost(self._why_ended)

    def keep(self) -> None:
        """Renew it in a thread until it ends."""
        Thread(target=self._keep_renewing, name="sortable-ids-lease", daemon=True).start()

    def give_back(self) -> None:
        """Generate no more ids with it, and free the number for times after the last id."""
        if self.ended:
            return
        self._end(f"worker number {self.number} was given back: the process ends")
        # With a timeout: the database may block the renewing thread for longer.
        if not self._lock.acquire(timeout=_LOCK_TIMEOUT):
            raise TimeoutError("a renewal is in progress")
        try:
            if self._is_in_its_database():
                latest = max((latest_ns() for latest_ns in self._latest), default=0)
                expires = min(self._held.expires, max(self._held.starts, latest // _MS + 1))
                give_back(self._held, expires, self._using)
        finally:
            self._lock.release()

    def _keep_renewing(self) -> None:
        third = self._terms.term / 3000
        pause = third
        while not self._stop.wait(pause):
            pause = third
            try:
                self.renew()
            except LeaseLost as error:
                logger.error("%s", error)
            except Exception as error:
                logger.warning("worker number %d was not renewed: %s", self.number, error)
                pause = third / 4

    def renew(self) -> None:
        """Extend it to a full term from now; no effect if it has ended."""
        with self._lock:
            if not self.ended and self._is_in_its_database():
                in_a_thread(lambda: self._extend(0), self._using)

    def hold(self) -> Callable[[], None]:
        """Keep the lease from opening a connection until the returned function is called."""
        locked = self._lock.acquire(timeout=_LOCK_TIMEOUT)
        return self._lock.release if locked else lambda: None

    def _extend(self, to: int) -> None:
        expires = max(self._held.expires, max(self._now(), to) + self._terms.term)
        try:
            extend(self._held, expires, self._using)
        except LeaseLost as error:
            self._end(str(error))
            raise
        self._held = self._held._replace(expires=expires)
        self.ends_ns = expires * _MS

    def _end(self, why: str) -> None:
        self._why_ended = self._why_ended or why
        self.ended = True
        self._stop.set()

    def _is_in_its_database(self) -> bool:
        """False after a test run: its database is gone, and Django restores the original name."""
        return bool(connections[self._using].settings_dict["NAME"] == self._database)

    def _now(self) -> int:
        return self._clock() // _MS


def refuse_in_transaction_of_sqlite(using: str) -> None:
    """SQLite has one writer at a time: a second connection would wait for the caller's forever."""
    connection = connections[using]
    is_open = connection.connection is not None
    if connection.vendor == "sqlite" and (
        connection.in_atomic_block or (is_open and not connection.autocommit)
    ):
        raise LeaseUnavailable(
            "a worker number can't be leased inside a transaction of SQLite, which has one writer "
            "at a time: call django_sortable_ids.workers.take_lease() before the transaction"
        )
