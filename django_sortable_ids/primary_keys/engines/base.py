"""What every database has to offer for a move of primary keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from ...db.queries import row, value
from ...errors import BackfillError
from ..changes import Change, Column, Key, Table

if TYPE_CHECKING:
    from ..notes import Note


class ForeignKey(NamedTuple):
    """A foreign key as the database has it."""

    name: str
    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]


class KeyEngine(ABC):
    """Replaces the keys of one change, in one database."""

    def __init__(self, editor: Any, change: Change, note: Note) -> None:
        self.editor = editor
        self.connection: Any = editor.connection
        self.change = change
        self.note = note
        self.quote = editor.quote_name

    @abstractmethod
    def foreign_keys(self) -> Iterator[ForeignKey]:
        """Every foreign key of the database."""

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """What can't be moved, each with what to do."""

    def rehearse(self) -> Iterator[str]:
        """What fails when it is tried on tables without rows, which are dropped."""
        return iter(())

    @abstractmethod
    def last_number(self, key: Key) -> int:
        """The largest number that the old key ever had, as far as the database knows."""

    @abstractmethod
    def swap(self) -> None:
        """Give the keys, and all columns that contain them, their next values. Whatever stops it:
        run again, it continues or starts again."""

    def move(self, replace_generic: Callable[[Change], None]) -> None:
        """Replace the keys everywhere, and note that it is done. ``replace_generic`` replaces them
        in the generic references of the change that it is given."""
        with transaction.atomic(self.connection.alias):
            replace_generic(self.change)
            self.swap()
            self.note.write()

    def execute(self, sql: str) -> None:
        self.editor.execute(sql, None)

    def refers(self, column: Column) -> str:
        """The condition that the column of a row ``t`` contains the key of a row ``p``."""
        return f"p.{self.quote(column.key.column)} = t.{self.quote(column.name)}"

    def new_value(self, column: Column) -> str:
        """The next value of the key that the column contains, for a row named ``t``."""
        key = column.key
        return (
            f"(SELECT p.{self.quote(key.next)} FROM {self.quote(key.table)} p "
            f"WHERE {self.refers(column)})"
        )

    def refuse_unfilled(self) -> None:
        """Raise ``BackfillError`` if a row was inserted after the next values were filled."""
        for key in self.change.keys:
            following, table = self.quote(key.next), self.quote(key.table)
            if row(self.connection, f"SELECT 1 FROM {table} WHERE {following} IS NULL LIMIT 1"):
                raise BackfillError(
                    f"{key.label}: rows were inserted during the migration. No key was moved: stop "
                    f"the application, and migrate again"
                )

    def orphans(self, table: Table, column: Column) -> int:
        """The number of rows whose value is no key."""
        key = column.key
        sql = (
            f"SELECT COUNT(*) FROM {self.quote(table.name)} t WHERE t.{self.quote(column.name)} "
            f"IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {self.quote(key.table)} p "
            f"WHERE {self.refers(column)})"
        )
        return int(value(self.connection, sql))
