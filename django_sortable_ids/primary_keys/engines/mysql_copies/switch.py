"""Exchanges tables of MariaDB or MySQL with their copies: at one instant, after steps that are
repeated without harm, and before others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....db.queries import value
from . import triggers
from .session import execute, exists

_EXISTS = """
SELECT 1 FROM information_schema.table_constraints
WHERE table_schema = DATABASE() AND table_name = %s AND constraint_name = %s
    AND constraint_type = %s
"""


class Constraint(NamedTuple):
    table: str
    name: str
    text: str


class Steps(NamedTuple):
    """What the switch needs to know; the note has it as JSON. All names are plain."""

    tables: list[list[str]]
    """Table, copy, and the name of the old table until it is dropped."""
    foreign_keys: list[list[str]]
    """``Constraint``: those from and to these tables."""
    checks: list[list[str]]
    """``Constraint``: those that the copies don't have."""
    triggers: list[triggers.Trigger]


class Switch:
    def __init__(self, editor: Any, steps: Steps) -> None:
        self._editor = editor
        self._connection = editor.connection
        self._steps = steps
        self._are_there = True
        """Of a switch that is only collected: whether what is dropped at first is still there."""

    def execute(self) -> None:
        """Whatever stops it: run again, it continues."""
        if self._renames():
            self._free()
            self._rename()
            self._are_there = False
        for _, _, old in self._steps.tables:
            self._run(f"DROP TABLE IF EXISTS {self._quote(old)}")
        self._add(self._steps.checks, "CHECK")
        self._add(self._steps.foreign_keys, "FOREIGN KEY")
        for trigger in self._steps.triggers:
            if not self._has_trigger(trigger):
                triggers.create(self._editor, trigger)

    def _free(self) -> None:
        """Drop what would follow the old tables to their new names."""
        for trigger in self._steps.triggers:
            if self._has_trigger(trigger):
                triggers.drop(self._editor, trigger)
        for each in map(Constraint._make, self._steps.foreign_keys):
            if self._has(each, "FOREIGN KEY"):
                table, name = self._quote(each.table), self._quote(each.name)
                self._run(f"ALTER TABLE {table} DROP FOREIGN KEY {name}")

    def _rename(self) -> None:
        pairs = (f"{self._quote(a)} TO {self._quote(b)}" for a, b in self._renames())
        self._run(f"RENAME TABLE {', '.join(pairs)}")

    def _renames(self) -> list[tuple[str, str]]:
        return [pair for each in self._steps.tables for pair in self._renames_of(*each)]

    def _renames_of(self, table: str, copy: str, old: str) -> Iterator[tuple[str, str]]:
        """The renames of a table that are still to do."""
        if self._editor.collect_sql:
            yield from ((table, old), (copy, table))
        elif exists(self._connection, copy):
            if not exists(self._connection, old):
                yield table, old
            yield copy, table

    def _add(self, constraints: list[list[str]], kind: str) -> None:
        """Add those that are missing, those of a table in one statement."""
        missing: dict[str, list[str]] = {}
        for each in map(Constraint._make, constraints):
            if not self._has(each, kind):
                missing.setdefault(each.table, []).append(f"ADD {each.text}")
        for table, changes in missing.items():
            self._run(f"ALTER TABLE {self._quote(table)} {', '.join(changes)}")

    def _has(self, constraint: Constraint, kind: str) -> bool:
        if self._editor.collect_sql:
            return self._are_there
        found = value(self._connection, _EXISTS, [constraint.table, constraint.name, kind])
        return found is not None

    def _has_trigger(self, trigger: triggers.Trigger) -> bool:
        if self._editor.collect_sql:
            return self._are_there
        return triggers.exists(self._connection, trigger)

    def _quote(self, name: str) -> str:
        quoted: str = self._editor.quote_name(name)
        return quoted

    def _run(self, sql: str) -> None:
        execute(self._editor, sql)
