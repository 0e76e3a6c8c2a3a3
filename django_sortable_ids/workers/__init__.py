"""Worker numbers that the database leases to processes: for ``SORTABLE_IDS["WORKER"] = "lease"``.

The number is taken at the first id that needs one and serves all fields. A thread renews it, the
process gives it back when it ends, and a forked child takes its own. The ids of a process only
carry times inside its lease, and the next owner's lease starts where the last one ended: so no
clock can cause duplicate ids. If another process has taken the number, because this one was
suspended, or without its database, for too long, it generates no ids with it: ``LeaseLost``.

If the leases are in a database that no other process can see (SQLite in memory), nothing is leased
and each process has number 0.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, local
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import connections, router

from .. import conf
from ..db.transactions import is_in_memory

if TYPE_CHECKING:
    from ..schemes.leased_generator import Lease, LeaseSource
    from .leases import ProcessLease

__all__ = ["take_lease"]

logger = logging.getLogger("django_sortable_ids")


@dataclass(eq=False)
class _Process:
    lock: Lock = field(default_factory=Lock)
    lease: ProcessLease | None = None


_process = _Process()
_forking = local()
"""For each thread that forks, ``release``: called after the fork, in the parent."""


def take_lease() -> int | None:
    """Lease the worker number of this process now, unless it has one, and return it.

    Without this call, the first id leases it; on SQLite, that is impossible inside a transaction.
    None if the setting ``WORKER`` isn't ``"lease"``, or if no field has bits for a worker number.
    Raises ``LeaseUnavailable`` if all numbers are taken.
    """
    limit = min(_limits(), default=None)
    if conf.worker() != conf.LEASE or limit is None:
        return None
    worker = worker_or_lease()
    return worker(limit).number if callable(worker) else worker


def worker_or_lease() -> int | LeaseSource:
    """The source of this process's number, or 0 if no other process can see the leases."""
    from ..models import WorkerLease

    return 0 if is_in_memory(router.db_for_write(WorkerLease)) else lease


def lease(limit: int) -> Lease:
    """The lease of this process, for a scheme with ``limit`` worker numbers: a ``LeaseSource``.

    A new lease has a number that fits the fields of all models. Raises ``LeaseUnavailable`` if all
    are taken.
    """
    # The models are not ready when fields are imported.
    from ..models import WorkerLease
    from .leases import ProcessLease, Terms

    with _process.lock:
        if _process.lease is None:
            keys = "WORKER_LEASE_SECONDS", "WORKER_CLOCK_SKEW_SECONDS"
            term, skew = (int(conf.get(key) * 1000) for key in keys)
            using, most = router.db_for_write(WorkerLease), min([limit, *_limits()])
            new_lease = ProcessLease(most, Terms(term, skew), using)
            new_lease.keep()
            # Processes of multiprocessing end without atexit.
            multiprocessing: Any = sys.modules.get("multiprocessing.util")
            if multiprocessing:
                multiprocessing.Finalize(None, _give_back, exitpriority=-100)
            _process.lease = new_lease
        return _process.lease


def before_request(**_: Any) -> None:
    """On SQLite, lease the number before a request's transaction; inside it, that is refused."""
    if _process.lease is not None or conf.worker() != conf.LEASE:
        return
    from ..models import WorkerLease

    using = router.db_for_write(WorkerLease)
    if connections[using].vendor == "sqlite" and not is_in_memory(using):
        # The first id, if any, raises the error.
        with suppress(Exception):
            take_lease()


def _limits() -> Iterator[int]:
    """How many worker numbers fit into the ids of each field."""
    models = apps.get_models(include_auto_created=True)
    columns: Any = (column for model in models for column in model._meta.local_fields)
    for column in columns:
        # Only a sortable id has such a list, empty if its options are right.
        if getattr(column, "wrong_options", None) == [] and column.generates_ids and column.workers:
            yield column.workers


def _give_back() -> None:
    held = _process.lease
    if held is None:
        return
    try:
        held.give_back()
    except Exception as error:
        logger.warning("worker number %d was not given back: %s", held.number, error)


def _pause_lease() -> None:
    """Keep a thread from having an open connection while the process forks.

    In the child, SQLite would treat the parent's locks as its own, and never get one.
    """
    if _process.lease is not None:
        _forking.release = _process.lease.hold()


def _resume_lease() -> None:
    if release := vars(_forking).pop("release", None):
        release()


def _reset() -> None:
    """A child starts without a lease: the parent renews and gives back its own."""
    global _process
    _process = _Process()


atexit.register(_give_back)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause_lease, after_in_parent=_resume_lease, after_in_child=_reset)
