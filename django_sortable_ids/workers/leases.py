"""The rows of worker leases: each is taken, extended and given back by one compare-and-set.

There are no row locks and no advisory locks, because a Galera cluster doesn't share them between
its nodes: if two processes write one row concurrently, it rejects one at commit, and that process
tries again. Each statement is its own transaction, so a process that is suspended between two
holds no lock that others would wait for. Call these functions outside of any transaction.
"""

from __future__ import annotations

import os
import random
import secrets
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice

from django.db import DatabaseError, IntegrityError, connections
from django.db.models import QuerySet

from ..db.transactions import apart, retried
from ..models import WorkerLease
from ..schemes import LeaseLost, LeaseUnavailable

MOST_NUMBERS = 2**31
"""How many numbers the column can hold."""

_TRIES = 20
_MOST_CANDIDATES = 1024
_HOSTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a lease lasts, and how long other processes wait after its end, in ms."""

    term: int
    skew: int


@dataclass(frozen=True, slots=True)
class Held:
    """The lease that this process holds; times are Unix ms."""

    number: int
    token: str
    starts: int
    expires: int


def take(places: int, terms: Terms, clock: Callable[[], int], using: str) -> Held:
    """A number below ``places`` that no other process has; ``clock`` returns Unix ms.

    Numbers that were given back or never used come first, the lowest one first; then those whose
    leases have expired, the oldest one first. ``LeaseUnavailable`` if all are taken.
    """
    for attempt in range(_TRIES):
        try:
            held = _try_to_take(places, terms, clock(), attempt, using)
        except IntegrityError:
            continue  # another process inserted the row
        except DatabaseError as error:
            _refuse_without_table(error, using)
            raise
        if held is not None:
            return held
    raise LeaseUnavailable(
        f"no worker number could be leased: {_TRIES} times, another process was faster; try again"
    )


def extend(held: Held, expires: int, using: str) -> None:
    """Move the end of the lease to ``expires``; ``LeaseLost`` if another process has the number.

    If the row is missing, because the table was emptied, it is inserted again.
    """
    work = partial(_extend, held, expires, using)
    try:
        retried(work)
    except IntegrityError:
        retried(work)  # another process inserted the row concurrently


def give_back(held: Held, expires: int, using: str) -> None:
    """Let other processes take the number from ``expires`` on; no effect if one already has it."""
    rows = WorkerLease.objects.using(using).filter(number=held.number, token=held.token)
    apart(lambda: rows.update(token="", expires=expires), using, fresh=True)


def _try_to_take(places: int, terms: Terms, now: int, attempt: int, using: str) -> Held | None:
    """None if another process was faster."""
    rows = WorkerLease.objects.using(using)
    known = {row.number: row for row in rows.filter(number__lt=places)}
    # Processes that start together all see the same lowest number. The losers try one of several.
    window = min(4**attempt, _MOST_CANDIDATES)
    candidates = list(islice(_candidates(known, places, terms, now), window))
    if not candidates:
        raise LeaseUnavailable(_all_taken(list(known.values()), terms, now))
    number = random.choice(candidates)
    held = Held(number, secrets.token_hex(16), starts=now, expires=now + terms.term)
    values = {
        "owner": _owner(),
        "token": held.token,
        "starts": held.starts,
        "expires": held.expires,
    }
    row = known.get(number)
    if row is None:
        retried(lambda: rows.create(number=number, **values))
        return held
    unchanged = rows.filter(number=number, token=row.token, expires=row.expires)
    return held if retried(lambda: unchanged.update(**values)) else None


def _candidates(
    known: dict[int, WorkerLease], places: int, terms: Terms, now: int
) -> Iterator[int]:
    for number in islice(count(), min(places, MOST_NUMBERS)):
        row = known.get(number)
        if row is None or (not row.token and row.expires <= now):
            yield number
    expired = [row for row in known.values() if row.token and row.expires + terms.skew <= now]
    yield from (row.number for row in sorted(expired, key=lambda row: row.expires))


def _extend(held: Held, expires: int, using: str) -> None:
    rows: QuerySet[WorkerLease] = WorkerLease.objects.using(using).filter(number=held.number)
    if rows.filter(token=held.token).update(expires=expires):
        return
    row = rows.first()
    if row is not None:
        owner = row.owner if row.token else f"{row.owner}, which has given it back"
        raise LeaseLost(
            f"worker number {held.number} was leased until {_shown(held.expires)} and has been "
            f"taken by {owner}: this process was suspended, or without its database, for too long. "
            f"It generates no more ids with a worker number; restart it"
        )
    WorkerLease.objects.using(using).create(
        number=held.number, owner=_owner(), token=held.token, starts=held.starts, expires=expires
    )


def _owner() -> str:
    return f"{socket.gethostname()[:180]} pid {os.getpid()}"


def _all_taken(rows: list[WorkerLease], terms: Terms, now: int) -> str:
    hosts = Counter(row.owner.rpartition(" pid ")[0] for row in rows if row.token)
    named = [f"{number} by {host}" for host, number in hosts.most_common(_HOSTS_SHOWN)]
    if len(hosts) > _HOSTS_SHOWN:
        named.append(f"others by {len(hosts) - _HOSTS_SHOWN} more hosts")
    free = min(row.expires + (terms.skew if row.token else 0) for row in rows)
    return (
        f"all {len(rows)} worker numbers are leased, {', '.join(named)}. Stop processes that need "
        f"none, or choose a scheme with more worker numbers. The number of a killed process is "
        f"free at {_shown(free)} at the earliest"
    )


def _shown(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _refuse_without_table(error: DatabaseError, using: str) -> None:
    """Raise an error that names the command to run, if the table is missing."""
    table = WorkerLease._meta.db_table
    if table not in connections[using].introspection.table_names():
        raise LeaseUnavailable(
            f"the database {using!r} has no table {table} for worker numbers: run "
            f"`manage.py migrate django_sortable_ids --database={using}`"
        ) from error
