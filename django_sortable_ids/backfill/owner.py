"""The owner of a run: the one process that fills a column, named in the row of the run.

A process takes the row by compare-and-set, since the nodes of a Galera cluster don't share advisory
locks. A process that lost ownership finds another token in the row, and writes nothing more.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from django.db import Error, IntegrityError, connections, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ..errors import BackfillError
from ..models import BackfillRun
from .sources.id_column import last_run, same_options
from .sources.target import Target

if TYPE_CHECKING:
    from .plan import Plan

BEAT_SECONDS = 5.0  # between two heartbeats
SILENCE_SECONDS = 60
"""After this time without a heartbeat, an owner is treated as dead."""

_HOST = socket.gethostname()[:180]
_tokens: set[str] = set()  # of the runs that this process took

logger = logging.getLogger("django_sortable_ids")


def take(plan: Plan, token: str) -> BackfillRun:
    """Take ownership of the plan's run: from now on it belongs to the holder of ``token``.

    A finished run continues where it ended, so that rows before its cursor get ids between the
    existing ones. With other options, or if none of its rows has an id, it starts at the first
    row. Raises ``BackfillError`` if another process owns the run, or has worked on it since the
    plan was made.
    """
    target = plan.target
    _tokens.add(token)
    run = last_run(target.label, target.using)
    if run is not None and run.token == token:
        return run  # this process took it already, but the database's answer was lost
    refuse_if_taken(target, run)
    values = {
        "owner": f"{_HOST} pid {os.getpid()}",
        "token": token,
        "heartbeat": now_ms(),
        "batch_size": plan.batch_size,
        "rate": 0.0,
        "rows_planned": plan.filled_before + plan.rows,
        "options": plan.target.options,
    }
    if run is None and plan.last is None:
        try:
            with transaction.atomic(using=target.using):
                return runs(target).create(target=target.label, **values | _first_values(plan))
        except IntegrityError:
            raise _taken(target, last_run(target.label, target.using)) from None
    if run is None or plan.last is None:
        raise outdated(target)
    if plan.resumed is None:
        values |= _first_values(plan)
        if plan.has_ids and same_options(run, target):
            values |= {"cursor": run.cursor, "ids_since": run.ids_since}
    unchanged = {name: getattr(plan.last, name) for name in ("pk", "batches", "finished_at")}
    same_run = runs(target).filter(**unchanged, token=run.token, heartbeat=run.heartbeat)
    if not same_run.update(**values):
        raise _taken(target, runs(target).filter(pk=run.pk).first())
    return runs(target).get(pk=run.pk)


def remember(plan: Plan) -> None:
    """Store the options of a run that has nothing to do, so that ``--verify`` knows them. Does
    nothing if there is a run already, or if the database is read-only."""
    target, ended = plan.target, {"finished_at": timezone.now()}
    with suppress(Error), transaction.atomic(using=target.using):
        runs(target).get_or_create(target=target.label, defaults=_first_values(plan) | ended)


def refuse_if_taken(target: Target, run: BackfillRun | None = None) -> None:
    """Raise ``BackfillError`` if another living process fills the column."""
    run = run or last_run(target.label, target.using)
    if run is not None and is_alive(run):
        raise _taken(target, run)


def is_alive(run: BackfillRun) -> bool:
    """Whether a process owns the run, and is not known to be dead."""
    is_owned = bool(run.token) and run.finished_at is None
    return is_owned and not is_gone(run) and silence(run) <= SILENCE_SECONDS


def is_gone(run: BackfillRun) -> bool:
    """Whether its owner was a process of this host that no longer exists."""
    host, _, pid = run.owner.rpartition(" pid ")
    if host != _HOST or os.name != "posix":
        return False
    if int(pid) == os.getpid():  # A container that starts again often gives the same number.
        return run.token not in _tokens
    try:
        os.kill(int(pid), 0)  # which sends no signal
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def silence(run: BackfillRun) -> float:
    """Seconds since the last heartbeat; absolute, since clock skew may put it into the future."""
    return abs(now_ms() - run.heartbeat) / 1000


def runs(target: Target) -> QuerySet[BackfillRun]:
    return BackfillRun.objects.using(target.using)


def mine(target: Target, run: BackfillRun) -> QuerySet[BackfillRun]:
    """The row of the run, if this process still owns it."""
    return runs(target).filter(pk=run.pk, token=run.token)


def ownership_lost(target: Target) -> BackfillError:
    """The error that another process has taken the run, or that its row was deleted."""
    run = last_run(target.label, target.using)
    what = "its BackfillRun was deleted while it was used"
    if run is not None:
        what = (
            f"it was taken over by {run.owner}: this process sent no heartbeat for "
            f"{SILENCE_SECONDS} s, or its container has the host name of another one"
        )
    return BackfillError(f"{target.label}: {what}. It stops, and has written nothing since")


def outdated(target: Target) -> BackfillError:
    return BackfillError(
        f"another process has filled {target.label} since the plan was made: nothing was written. "
        f"Start the command again"
    )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def _first_values(plan: Plan) -> dict[str, Any]:
    return {
        "options": plan.target.options,
        "cursor": None,
        "ids_since": plan.ids_since,
        "rows_filled": 0,
        "last_error": "",
        "started_at": timezone.now(),
        "updated_at": timezone.now(),
        "finished_at": None,
    }


def _taken(target: Target, run: BackfillRun | None) -> BackfillError:
    if run is None or not is_alive(run):
        return outdated(target)
    return BackfillError(
        f"{target.label} is being filled by {run.owner}, whose last heartbeat is "
        f"{silence(run):.0f} s old. Only one process may fill it: this one stops, and has written "
        f"nothing. SIGTERM ends the other one after its batch; if it has died, start again "
        f"{SILENCE_SECONDS} s after its last heartbeat"
    )


@contextmanager
def heartbeats(target: Target, run: BackfillRun, seconds: float = BEAT_SECONDS) -> Iterator[None]:
    """Write heartbeats during long batches and pauses, until the end of the block: in a thread, on
    a connection of its own."""
    end = Event()

    def beat() -> None:
        while not end.wait(seconds):
            try:
                mine(target, run).update(heartbeat=now_ms())
            except Error as error:
                logger.debug("no heartbeat of the backfill of %s: %s", target.label, error)
            finally:
                connections[target.using].close()

    thread = Thread(target=beat, name="sortable-ids-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        # With a timeout, since the thread may wait for a lock or for the network.
        thread.join(timeout=seconds)
