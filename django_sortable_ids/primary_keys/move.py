"""Checks a change of keys, and executes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import cached_property

from ..db import tables
from ..db.queries import row
from ..errors import BackfillError
from . import programs
from .changes import Change, Column, Table
from .changes.moved import Reference
from .engines import engine_of
from .engines.base import KeyEngine
from .notes import Note
from .texts import generic


@dataclass(frozen=True)
class Move:
    """One change on one database."""

    editor: Any
    planned: Change
    known: frozenset[Reference]
    """The references that the migration lists."""
    note: Note
    allowed: tuple[str, ...] = ()
    """Names and patterns of programs that somebody has read."""

    @cached_property
    def change(self) -> Change:
        """The change without columns that this database doesn't have."""
        found = (replace(each, columns=self._existing(each)) for each in self.planned.tables)
        kept = tuple(each for each in found if each.key or each.columns)
        return replace(self.planned, tables=kept)

    def _existing(self, table: Table) -> tuple[Column, ...]:
        connection = self.editor.connection
        if tables.kind(connection, table.name) != "table":
            return ()
        return tuple(
            each for each in table.columns if tables.has_column(connection, table.name, each.name)
        )

    @cached_property
    def engine(self) -> KeyEngine:
        return engine_of(self.editor, self.change, self.note)

    @property
    def is_done(self) -> bool:
        """Whether the keys are moved; a move that was stopped after its note began is continued."""
        if self.note.steps is not None:
            self.engine.swap()
        return self.note.is_done

    def check(self) -> None:
        """Raise ``BackfillError`` with all that prevents the move. Writes nothing."""
        found = [
            *self._with_old(),
            *self._unlisted(),
            *self._orphans(),
            *generic.problems(self.editor, self.change),
            *self.engine.problems(),
            *programs.problems(
                self.editor.connection, self.engine.programs(), self.change, self.allowed
            ),
        ]
        self._refuse(found)

    def _with_old(self) -> Iterator[str]:
        for key in self.planned.keys:
            if key.old and tables.has_column(self.editor.connection, key.table, key.old):
                yield (
                    f"{key.table} has a column {key.old} already, which a move adds: if the key "
                    f"was moved before, restore the migration as it was then; otherwise rename or "
                    f"drop the column, and migrate again"
                )

    def rehearse(self) -> None:
        """Raise ``BackfillError`` with all that fails on tables without rows, which are dropped."""
        self._refuse(list(self.engine.rehearse()))

    def _refuse(self, found: list[str]) -> None:
        if found:
            raise BackfillError("\n".join(["No key was moved.", *found]))

    def execute(self) -> None:
        """Move the keys: in one transaction, where the database has transactions for DDL."""
        self.engine.move(lambda change: generic.replace_values(self.editor, change))

    def collect(self, prepare: Callable[[], None]) -> None:
        """Add the statements of the move to those that the editor collects, after those that
        ``prepare`` adds; or a comment, if the tables are not those of before. Writes nothing.

        Raises ``BackfillError`` with what the database can't change.
        """
        connection = self.editor.connection
        names = [each.table for each in self.planned.keys]
        missing = [each for each in names if tables.kind(connection, each) != "table"]
        if missing:
            self.engine.comment(
                f"The statements depend on {missing[0]}, which doesn't exist yet: apply earlier "
                "migrations first"
            )
        elif self.note.was_last or self.note.steps is not None:
            self.engine.comment(
                "The keys are moved already, and the statements depend on the tables before that"
            )
        else:
            self._refuse(list(self.engine.problems()))
            prepare()
            self.engine.collect()

    def unmodelled(self) -> Iterator[Reference]:
        """Foreign keys of the database that refer to a changed column, and that no model has."""
        spelled = {self._folded(table.name): table.name for table in self.change.tables}
        changed = {
            self._folded(table.name, name): key
            for table in self.change.tables
            for name, key in table.values
        }
        for found in self.engine.foreign_keys():
            for column, referred in zip(found.columns, found.referenced_columns, strict=True):
                key = changed.get(self._folded(found.referenced_table, referred))
                if key and self._folded(found.table, column) not in changed:
                    table = spelled.get(self._folded(found.table), found.table)
                    yield Reference(table, column, key.label)

    def _folded(self, table: str, column: str = "") -> tuple[str, str]:
        """Both names as the database compares them."""
        connection = self.editor.connection
        return tables.folded_table(connection, table), tables.folded(connection, column)

    def _unlisted(self) -> Iterator[str]:
        modelled = {
            Reference(table.name, each.name, each.key.label)
            for table in self.change.tables
            for each in table.columns
        }
        for table, column, key in sorted({*modelled, *self.unmodelled()} - self.known):
            if self._has_values(table, column):
                yield (
                    f"{table}.{column} refers to {key}, and the migration doesn't list it: write "
                    f"the migration again by `manage.py backfill_ids {key} --primary-key "
                    f"--write-migration`"
                )

    def _has_values(self, table: str, column: str) -> bool:
        quote = self.editor.quote_name
        sql = f"SELECT 1 FROM {quote(table)} WHERE {quote(column)} IS NOT NULL LIMIT 1"
        return row(self.editor.connection, sql) is not None

    def _orphans(self) -> Iterator[str]:
        for table in self.change.tables:
            for column in table.columns:
                if column.is_history:
                    continue
                if count := self.engine.orphans(table, column):
                    yield (
                        f"{count:,} rows of {table.name}.{column.name} refer to no row of "
                        f"{column.key.table}: correct or delete them, and migrate again"
                    )
