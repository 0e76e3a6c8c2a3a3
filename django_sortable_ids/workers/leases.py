"""The rows of worker leases: each is taken, extended and given back by one compare-and-set.

Neither row locks nor advisory ones, which a Galera cluster doesn't have for all of its nodes: of
two processes that write one row at a time, it refuses one at the commit, and that one tries again.
Each statement is its own transaction, so a process that is stopped between two holds no lock that
others would wait for. So these functions are called outside of any transaction.
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
"""How many the column has room for."""

_TRIES = 20
_MOST_CANDIDATES = 1024
_HOSTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a lease lasts, and how long others wait behind its end, in ms."""

    term: int
    skew: int


@dataclass(frozen=True, slots=True)
class Held:
    """A row that this process holds; times are Unix ms."""

    number: int
    token: str
    starts: int
    expires: int


def take(places: int, terms: Terms, clock: Callable[[], int], using: str) -> Held:
    """A number below ``places`` that nobody else has; ``clock`` gives Unix ms.

    Numbers that were given back or never used come first, the lowest one in front; then that whose
    owner has been silent for the longest time. ``LeaseUnavailable`` where all are taken.
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
        f"{_TRIES} times, another process was faster to take a worker number; try again"
    )


def extend(held: Held, expires: int, using: str) -> None:
    """Let the lease end at ``expires``, later than before; ``LeaseLost`` where it is another's.

    A row that is gone, because the table was emptied, is written again.
    """
    work = partial(_extend, held, expires, using)
    try:
        retried(work)
    except IntegrityError:
        retried(work)  # another process inserted the row meanwhile


def give_back(held: Held, expires: int, using: str) -> None:
    """Let others take the number from ``expires`` on; nothing where it is another's already."""
    rows = WorkerLease.objects.using(using).filter(number=held.number, token=held.token)
    apart(lambda: rows.update(token="", expires=expires), using, fresh=True)


def _try_to_take(places: int, terms: Terms, now: int, attempt: int, using: str) -> Held | None:
    """None where another process was faster."""
    rows = WorkerLease.objects.using(using)
    known = {row.number: row for row in rows.filter(number__lt=places)}
    # Many that start together all see the same lowest number: who loses it tries one of several.
    window = min(4**attempt, _MOST_CANDIDATES)
    candidates = list(islice(_candidates(known, places, terms, now), window))
    if not candidates:
        raise LeaseUnavailable(_all_taken(list(known.values()), terms, now))
    number = random.choice(candidates)
    held = Held(number, secrets.token_hex(16), starts=now, expires=now + terms.term)
    written = {
        "owner": _owner(),
        "token": held.token,
        "starts": held.starts,
        "expires": held.expires,
    }
    row = known.get(number)
    if row is None:
        retried(lambda: rows.create(number=number, **written))
        return held
    unchanged = rows.filter(number=number, token=row.token, expires=row.expires)
    return held if retried(lambda: unchanged.update(**written)) else None


def _candidates(
    known: dict[int, WorkerLease], places: int, terms: Terms, now: int
) -> Iterator[int]:
    for number in islice(count(), min(places, MOST_NUMBERS)):
        row = known.get(number)
        if row is None or (not row.token and row.expires <= now):
            yield number
    silent = [row for row in known.values() if row.token and row.expires + terms.skew <= now]
    yield from (row.number for row in sorted(silent, key=lambda row: row.expires))


def _extend(held: Held, expires: int, using: str) -> None:
    rows: QuerySet[WorkerLease] = WorkerLease.objects.using(using).filter(number=held.number)
    if rows.filter(token=held.token).update(expires=expires):
        return
    row = rows.first()
    if row is not None:
        now_whose = row.owner if row.token else f"{row.owner}, which has given it back"
        raise LeaseLost(
            f"worker number {held.number} was leased until {_shown(held.expires)}, and has been "
            f"taken by {now_whose}: this process was stopped or without its database for too "
            f"long. It makes no more ids with a worker number; restart it"
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
        f"none, or choose a scheme with more of them; one whose process has died is free at "
        f"{_shown(free)} at the earliest"
    )


def _shown(ms: int) -> str:
    return datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _refuse_without_table(error: DatabaseError, using: str) -> None:
    """Say what to run, where a database says that it has no table."""
    table = WorkerLease._meta.db_table
    if table not in connections[using].introspection.table_names():
        raise LeaseUnavailable(
            f"the database {using!r} has no table {table} for worker numbers: run "
            f"`manage.py migrate django_sortable_ids --database={using}`"
        ) from error
