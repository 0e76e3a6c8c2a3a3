"""The leased worker number of this process, renewed by a thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Lock, Thread

from django.db import connections

from ..db.transactions import in_a_thread
from ..schemes import LeaseLost, LeaseUnavailable
from ..schemes.generation.clock import system_ns
from . import leases
from .leases import Terms

logger = logging.getLogger("django_sortable_ids")

_MS = 1_000_000
"""In ns."""
_LOCK_TIMEOUT = 5.0
"""Seconds."""


class ProcessLease:
    """A ``Lease`` stored as a database row: ``ends_ns`` never exceeds the committed end."""

    def __init__(
        self, places: int, terms: Terms, using: str, clock: Callable[[], int] = system_ns
    ) -> None:
        """Takes a number below ``places``; ``clock`` returns Unix ns.

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
        self._held = in_a_thread(lambda: leases.take(places, terms, self._now, using), using)
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
                leases.give_back(self._held, expires, self._using)
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
            leases.extend(self._held, expires, self._using)
        except LeaseLost as error:
            self._end(str(error))
            raise
        self._held = replace(self._held, expires=expires)
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


class UnsharedLease:
    """Number 0 without an end, for a process whose database no other process can see."""

    number = 0
    starts_ns = -(1 << 100)
    ends_ns = 1 << 100
    ended = False

    def extend(self, to_ns: int) -> None:
        """No effect: it has no end."""

    def used_by(self, latest_ns: Callable[[], int]) -> None:
        """No effect: no other process takes the number."""

    def give_back(self) -> None:
        """No effect: no other process takes the number."""

    def hold(self) -> Callable[[], None]:
        """No effect: it has no connection."""
        return lambda: None


def refuse_in_transaction_of_sqlite(using: str) -> None:
    """SQLite has one writer at a time: a second connection would wait for the caller's forever."""
    connection = connections[using]
    if connection.vendor == "sqlite" and (
        connection.in_atomic_block
        or (connection.connection is not None and not connection.autocommit)
    ):
        raise LeaseUnavailable(
            "a worker number can't be leased inside a transaction of SQLite, which has one writer "
            "at a time: call django_sortable_ids.workers.take_lease() before the transaction"
        )
