"""Who fills a column: one process at a time, which the row of the run names.

The row is taken by compare-and-set: advisory locks are not shared by the nodes of a Galera cluster.
Whoever lost it finds its token gone, and writes nothing more.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol

from django.db import Error, IntegrityError, connections, transaction
from django.db.models import QuerySet
from django.utils import timezone

from ...errors import BackfillError
from ...models import BackfillRun
from ..target import Target

BEAT_SECONDS = 5.0
"""From one sign of life of an owner to the next."""
SILENCE_SECONDS = 60
"""After so long without a sign, an owner that can't be looked for is taken for dead."""

logger = logging.getLogger("django_sortable_ids")


class Planned(Protocol):
    """What of a plan is kept with its run."""

    @property
    def target(self) -> Target: ...

    @property
    def batch_size(self) -> int: ...

    @property
    def rows(self) -> int: ...

    @property
    def given_from(self) -> datetime | None: ...

    @property
    def resumed(self) -> BackfillRun | None: ...


def take(plan: Planned, token: str) -> BackfillRun:
    """The run of the plan, which belongs to who knows the ``token`` from now on.

    A run that has ended begins again where it ended, so that rows in front of its cursor get ids
    between those that are there; with other options, or where no row has an id, at the beginning.
    Raises ``BackfillError`` where another process has it, or has done work since the plan was made.
    """
    target = plan.target
    run = runs(target).filter(target=target.label).first()
    if run is not None and run.token == token:
        return run  # the answer to its taking was lost
    refuse_if_taken(target, run)
    filled_before = plan.resumed.rows_filled if plan.resumed else 0
    own = {
        "owner": f"{socket.gethostname()[:180]} pid {os.getpid()}",
        "process": _name(os.getpid()),
        "token": token,
        "heartbeat": now_ms(),
        "batch_size": plan.batch_size,
        "rate": 0.0,
        "rows_planned": filled_before + plan.rows,
    }
    if run is None and plan.resumed is None:
        return _create(target, own | _fresh(plan))
    if run is None or (run.finished_at is None) != (plan.resumed is not None):
        raise outdated(target)
    if plan.resumed is not None:
        if plan.resumed.pk != run.pk or plan.resumed.batches != run.batches:
            raise outdated(target)
    else:
        own |= _fresh(plan)
        if run.options == target.options and _has_ids(target):
            own |= {"cursor": run.cursor, "given_from": run.given_from}
    unchanged = {"pk": run.pk, "token": run.token, "batches": run.batches}
    if not runs(target).filter(**unchanged, heartbeat=run.heartbeat).update(**own):
        raise _taken(target, runs(target).filter(pk=run.pk).first())
    return runs(target).get(pk=run.pk)


def remember(plan: Planned) -> None:
    """Keep the options of a run that has nothing to do, so that ``--verify`` knows them; nothing
    where there was a run, or where the database can't be written to.
    """
    target, ended = plan.target, {"finished_at": timezone.now()}
    with suppress(Error), transaction.atomic(using=target.using):
        runs(target).get_or_create(target=target.label, defaults=_fresh(plan) | ended)


def give_back(target: Target, run: BackfillRun, **changes: Any) -> None:
    """Let others take the run; nothing where another has it already."""
    mine(target, run).update(token="", heartbeat=now_ms(), **changes)


def beat(target: Target, run: BackfillRun) -> None:
    """Give a sign."""
    mine(target, run).update(heartbeat=now_ms())


def refuse_if_taken(target: Target, run: BackfillRun | None = None) -> None:
    """Raise ``BackfillError`` where another process fills the column, and lives."""
    run = run or runs(target).filter(target=target.label).first()
    if run is not None and is_alive(run):
        raise _taken(target, run)


def is_alive(run: BackfillRun) -> bool:
    """Whether a process has the run, of which nobody knows that it has died."""
    held = bool(run.token) and run.finished_at is None
    return held and not is_gone(run) and silence(run) <= SILENCE_SECONDS


def is_gone(run: BackfillRun) -> bool:
    """Whether its owner was a process of this machine, and is none any more."""
    machine = _machine(run.process)
    if not machine or machine != _machine(_name(os.getpid())):
        return False
    pid = run.process.removeprefix(f"{machine} pid ").split()[0]
    return _name(int(pid)) != run.process


def silence(run: BackfillRun) -> float:
    """Seconds since its owner gave a sign; clocks differ, so that it may be from the future."""
    return abs(now_ms() - run.heartbeat) / 1000


def runs(target: Target) -> QuerySet[BackfillRun]:
    return BackfillRun.objects.using(target.using)


def mine(target: Target, run: BackfillRun) -> QuerySet[BackfillRun]:
    """The row, if it still belongs to this process."""
    return runs(target).filter(pk=run.pk, token=run.token)


def robbed(target: Target) -> BackfillError:
    """That another process has taken the run meanwhile."""
    run = runs(target).filter(target=target.label).first()
    if run is None:
        return BackfillError(
            f"the BackfillRun of {target.label} was deleted while it was used: nothing was written "
            f"since. Start it again"
        )
    return BackfillError(
        f"{target.label} was taken over by {run.owner}, because this process gave no sign for "
        f"{SILENCE_SECONDS} s: it stops, and has written nothing since"
    )


def outdated(target: Target) -> BackfillError:
    return BackfillError(
        f"another process has filled {target.label} since the plan was made: nothing was written. "
        f"Start it again"
    )


def now_ms() -> int:
    """Unix time."""
    return time.time_ns() // 1_000_000


def _create(target: Target, values: dict[str, Any]) -> BackfillRun:
    try:
        with transaction.atomic(using=target.using):
            return runs(target).create(target=target.label, **values)
    except IntegrityError:
        raise _taken(target, runs(target).filter(target=target.label).first()) from None


def _fresh(plan: Planned) -> dict[str, Any]:
    return {
        "options": plan.target.options,
        "cursor": None,
        "given_from": plan.given_from,
        "rows_filled": 0,
        "last_error": "",
        "started_at": timezone.now(),
        "updated_at": timezone.now(),
        "finished_at": None,
    }


def _has_ids(target: Target) -> bool:
    return bool(target.rows.filter(**{f"{target.field.name}__isnull": False}).exists())


def _taken(target: Target, run: BackfillRun | None) -> BackfillError:
    if run is None or not is_alive(run):
        return outdated(target)
    age = silence(run)
    wait = max(1, math.ceil(SILENCE_SECONDS - age))
    advice = (
        "SIGTERM ends it behind its batch"
        if _machine(run.process) == _machine(_name(os.getpid())) != ""
        else f"If it has died, start again in {wait} s, when it has been silent for "
        f"{SILENCE_SECONDS} s"
    )
    return BackfillError(
        f"{target.label} is being filled by {run.owner}, whose last sign is {age:.0f} s old, and "
        f"one process is enough: this one stops, and has written nothing. {advice}"
    )


def _name(pid: int) -> str:
    """Names a process of this machine since it started: numbers of processes are used again.

    Empty where there is no such process, or no Linux to say so.
    """
    try:
        # Behind the name of the program, which may hold spaces, come its state and 18 others.
        state, *stat = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if state in "ZX":  # ended, and nobody has asked how
            return ""
        boot, space = _read("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{boot.strip()} {space} pid {pid} started {stat[18]}"


def _machine(name: str) -> str:
    """What the names of its processes have in common; empty where that is not known."""
    return name.rpartition(" pid ")[0]


def _read(path: str) -> str:
    return Path(path).read_text()


class Heartbeat:
    """Signs of life of a run whose batch takes long, or that pauses: a thread with a connection of
    its own, until the end of the block.
    """

    def __init__(self, target: Target, run: BackfillRun, seconds: float = BEAT_SECONDS) -> None:
        self._target = target
        self._run = run
        self._seconds = seconds
        self._end = Event()
        self._thread = Thread(target=self._beat, name="sortable-ids-heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        # Not for as long as a lock or a network may let it wait.
        self._thread.join(timeout=self._seconds)

    def _beat(self) -> None:
        while not self._end.wait(self._seconds):
            try:
                beat(self._target, self._run)
            except Error as error:
                logger.debug("no sign of the backfill of %s: %s", self._target.label, error)
            finally:
                connections[self._target.using].close()
