"""A text of SQL that the database keeps and executes."""

from __future__ import annotations

from typing import NamedTuple


class Program(NamedTuple):
    kind: str
    """``trigger``, ``view``, ``function``, ``procedure`` or ``event``."""
    name: str
    sql: str | None
    """Its body, or the statement that created it; None if the user may not read it."""
    pattern: str
    """How ``schema.sql_tokens`` splits it."""
    tables: tuple[str, ...] = ()
    """The tables whose rows fire it, of which it reads NEW and OLD."""

    @property
    def title(self) -> str:
        of = f" of {', '.join(self.tables)}" if self.tables else ""
        return f"{self.kind} {self.name}{of}"
