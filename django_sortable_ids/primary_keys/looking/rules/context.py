"""What a rule knows about the file that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .keys import Keys
from .sql import Statements

Found = Iterator[tuple[str, str]]
"""The kind of each finding, and what is there; empty for the line of the file."""


@dataclass(frozen=True, slots=True)
class Context:
    moved: Keys
    numbers: Keys
    """Of the moved keys, those that become no numbers."""
    has_uuids: bool
    """Whether a key becomes a UUID."""
    statements: Statements
