"""Rows that are given their ids in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..target import Row
from .cursor import Cursor


@dataclass(frozen=True, slots=True)
class Written:
    filled: int
    """How many rows still had no id."""
    cursor: Cursor | None
    """Where the run stands then; None where it stays."""
    expected: Row | None = None
    """A row that has an id now, unless another transaction has changed it since it was read."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are given their ids in one transaction."""

    rows: Sequence[Row]
    """Of a batch that the database makes, the first and the last one."""
    size: int
    """How many there are; 0 ends it."""
    write: Callable[[], Written]


NOTHING = Batch([], 0, lambda: Written(0, None))
