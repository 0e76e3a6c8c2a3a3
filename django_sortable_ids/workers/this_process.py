"""The worker number of this process, where the database leases it: ``SORTABLE_IDS["WORKER"]`` is
``"lease"``.

It is taken at the first id that needs one and serves all fields. A thread renews it, the process
gives it back at its end, and a forked child takes one of its own. The ids of a process carry times
inside of its lease and no other, and what one owner's lease ends with, the next one's begins with:
so no clock can make an id come twice. A process that finds its number taken by another one, because
it was stopped or without its database for too long, makes no more ids with it: ``LeaseLost``.

Where the leases are in a database that no other process can see, SQLite in memory, there are none:
each process has number 0.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core.signals import request_started
from django.db import connections, router

from .. import conf
from ..db.transactions import is_in_memory
from ..schemes import TimeScheme
from ..schemes.generation.leased_generator import Lease

if TYPE_CHECKING:
    from .process_lease import ProcessLease, UnsharedLease

logger = logging.getLogger("django_sortable_ids")


@dataclass(eq=False)
class _Process:
    """What this process has leased."""

    lock: Lock = field(default_factory=Lock)
    lease: ProcessLease | UnsharedLease | None = None
    go_on: Callable[[], None] | None = None
    """To be called behind a fork."""


_process = _Process()


def take_lease() -> int | None:
    """Lease the worker number of this process now, unless it has one, and return it.

    Otherwise the first id does it; on SQLite that can't be inside a transaction. None where the
    setting ``WORKER`` isn't ``"lease"`` or no field has a place for a worker number. Raises
    ``LeaseUnavailable`` where all numbers are taken.
    """
    places = min(_places(), default=None)
    if conf.worker() != conf.LEASE or places is None:
        return None
    return lease(places).number


def lease(places: int) -> Lease:
    """The lease of this process, for a scheme with so many worker numbers: a ``LeaseSource``.

    One that is taken now has a number that is right for the fields of all models. Raises
    ``LeaseUnavailable`` where all are taken.
    """
    with _process.lock:
        if _process.lease is None:
            _process.lease = _take(min([places, *_places()]))
        return _process.lease


def register() -> None:
    """Have Django call what is due before a request; once, when the app is ready."""
    request_started.connect(_before_request, dispatch_uid="django_sortable_ids.workers")


def _before_request(**_: Any) -> None:
    """Take it before the transaction of a request, inside of which SQLite can't."""
    if _process.lease is None and conf.worker() == conf.LEASE and _is_on_sqlite():
        # The first id says what is wrong, if it ever comes.
        with suppress(Exception):
            take_lease()


def _is_on_sqlite() -> bool:
    from ..models import WorkerLease

    return connections[router.db_for_write(WorkerLease)].vendor == "sqlite"


def _take(places: int) -> ProcessLease | UnsharedLease:
    # The models are not ready when fields are imported.
    from ..models import WorkerLease
    from .leases import Terms
    from .process_lease import ProcessLease, UnsharedLease

    using = router.db_for_write(WorkerLease)
    if is_in_memory(using):
        return UnsharedLease()
    term, skew = (int(seconds * 1000) for seconds in conf.lease_seconds())
    taken = ProcessLease(places, Terms(term, skew), using)
    taken.keep()
    # Processes of multiprocessing end without atexit.
    multiprocessing: Any = sys.modules.get("multiprocessing.util")
    if multiprocessing:
        multiprocessing.Finalize(None, _give_back, exitpriority=-100)
    return taken


def _places() -> Iterator[int]:
    """How many worker numbers the ids of each field have a place for."""
    for model in apps.get_models(include_auto_created=True):
        for each in model._meta.local_fields:
            scheme = getattr(each, "scheme", None)
            if isinstance(scheme, TimeScheme) and getattr(each, "generates_ids", False):
                workers = scheme.layout.workers
                if workers:
                    yield workers


def _give_back() -> None:
    taken = _process.lease
    if taken is None:
        return
    try:
        taken.give_back()
    except Exception as error:
        logger.warning("worker number %d was not given back: %s", taken.number, error)


def _hold() -> None:
    """No connection is open in a thread while the process forks.

    SQLite would take the locks of the parent for the child's own, and never get one.
    """
    if _process.lease is not None:
        _process.go_on = _process.lease.hold()


def _go_on() -> None:
    if _process.go_on is not None:
        _process.go_on()
        _process.go_on = None


def _forget() -> None:
    """A child has no lease: its parent's is renewed and given back by the parent."""
    global _process
    _process = _Process()


atexit.register(_give_back)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_go_on, after_in_child=_forget)
