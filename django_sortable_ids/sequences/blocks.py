"""Blocks of a sequence: reserved in the database as a whole, assigned from memory.

The idea is SnowMaker's. Here an atomic UPDATE reserves a block, and no id is assigned before it is
committed. Ids that are unused when the process ends leave a gap.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from django.db import connections, models

from ..db.transactions import apart, in_transaction
from ..schemes import LexicalSequence
from . import counters


@dataclass(eq=False)
class _Stock:
    """Ids of one sequence that this process has reserved but not assigned yet."""

    ids: deque[str] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)


_Key = tuple[str, str, LexicalSequence]
_stocks: dict[_Key, _Stock] = {}


def take(
    column: models.Field[Any, Any], scheme: LexicalSequence, count: int, using: str, block: int
) -> list[str]:
    """The next ``count`` ids of a column's sequence for this process, ``block`` reserved at a time.

    They stay taken if the caller's transaction rolls back, and no other process waits for its end.
    Raises ``SequenceExhausted`` if the width allows no more.
    """
    if in_transaction(using) and connections[using].vendor == "sqlite":
        # SQLite has one writer at a time: a second connection would wait for this one forever.
        # Memory must not keep numbers that this transaction may still roll back.
        return counters.take(column, scheme, count, using)
    stock = _stocks.setdefault((using, counters.key_of(column), scheme), _Stock())
    with stock.lock:
        missing = count - len(stock.ids)
        if missing > 0:
            reserved = apart(
                lambda: counters.take(column, scheme, max(missing, block), using, at_least=missing),
                using,
            )
            stock.ids.extend(reserved)
        return [stock.ids.popleft() for _ in range(count)]


def drop() -> None:
    """Discard the ids reserved in memory: they become a gap."""
    _stocks.clear()


# Without this, a forked child would assign its parent's numbers.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=drop)
