"""What every database has to offer for a move of primary keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from ...db import row, rows, tables, value
from ...errors import BackfillError
from .change import Change, Key, KeyColumn, ReferringColumn
from .texts import replace_values

if TYPE_CHECKING:
    from ..notes import Note


class ForeignKey(NamedTuple):
    name: str
    table: str
    columns: tuple[str, ...]
    referenced_table: str
    referenced_columns: tuple[str, ...]
    definition: str = ""
    comment: str | None = None


class Program(NamedTuple):
    """A text of SQL that the database keeps and executes."""

    kind: str
    """Such as ``trigger``, ``view``, ``function``, ``event`` or ``virtual table``."""
    name: str
    sql: str | None
    """None if the user may not read it."""
    table: str | None = None
    """The table whose rows fire it."""


class KeyEngine(ABC):
    """Replaces the keys of one change, in one database. Its methods in order: ``resume``, since a
    move may have been stopped; ``problems``, ``rehearse``, ``create_maps`` (which ``key_map.py``
    then fills), ``move`` and ``drop_maps``."""

    create_map = "CREATE TABLE"

    locks: str
    """What is locked during a move, in the words of the plan."""
    programs_sql: str
    """Selects kind, name, text and table of each program."""
    in_order_of_the_file = ""
    """What makes a query read the rows of a table in the order of the file."""

    def __init__(self, editor: Any, change: Change, note: Note) -> None:
        self.editor = editor
        self.connection: Any = editor.connection
        self.change = change
        self.note = note
        self.using: str = editor.connection.alias
        self.quote = editor.quote_name

    def problems_of_undo(self) -> Iterator[str]:
        """Why a move can't be undone: rows had old keys at its end, and none has one now."""
        had = self.note.had_old_keys if self.note.backwards else ()
        for key in (key for key in self.change.keys if key.label in had):
            name, present = key.dropped.name, key.model._base_manager.using(self.using)
            if present.exists() and not present.filter(**{f"{name}__isnull": False}).exists():
                yield (
                    f"no row of {key.label} has its old key in {name} any more: only a backup has "
                    f"them. Fill {name} from it, or set that of one row to any value if all rows "
                    f"are newer than the move, and migrate again"
                )

    def with_old_keys(self) -> list[str]:
        """The models with a row that has its old key, after the move."""
        return [
            key.label
            for key in self.change.keys
            if key.old is not None and key.old.model._base_manager.using(self.using).exists()
        ]

    def resume(self) -> bool:
        """Continue a move that was stopped in the middle; returns whether the keys are moved."""
        return self.note.is_done

    def problems(self) -> Iterator[str]:
        """What can't be moved, each with what to do."""
        return iter(())

    @abstractmethod
    def rehearse(self) -> Iterator[str]:
        """Errors of a dry run on empty copies of the tables."""

    def create_maps(self) -> None:
        """Create the empty maps of the change. Those that a killed run filled are replaced."""
        self.drop_maps()
        for key in self.change.keys:
            self.create_table(key.map.model, like=key.table, create=self.create_map)

    @abstractmethod
    def move(self) -> None:
        """Replace the keys everywhere, and note that it is done."""

    def drop_maps(self) -> None:
        for key in self.change.keys:
            self.drop_table(key.map.table)

    def drop_table(self, table: str) -> None:
        self.execute(f"DROP TABLE IF EXISTS {self.quote(table)}")

    def execute(self, sql: str) -> None:
        self.editor.execute(sql, None)

    @abstractmethod
    def foreign_keys(self) -> Iterable[ForeignKey]:
        """Every foreign key of the database."""

    def programs(self) -> Iterator[Program]:
        """The programs of the database that the engine doesn't create again."""
        yield from (Program(*entry) for entry in rows(self.connection, self.programs_sql))

    def views(self) -> Iterable[str]:
        """The names of the views that the engine creates again."""
        return ()

    def last_number(self, key: Key) -> int:
        """The largest number that the old key ever had, as far as the database knows, but for the
        last one of the type: that marks a special row."""
        numbers = [self.note.last_numbers.get(key.label, 0), self.last_counted(key) or 0]
        last = self.connection.ops.integer_field_range(key.after.get_internal_type())[1]
        for key_map in (key.map, key.kept_keys):
            if key_map and tables.kind(self.connection, key_map.table):
                number, table = map(self.quote, (key_map.next, key_map.table))
                sql = f"SELECT MAX({number}) FROM {table} WHERE {number} <> {last}"
                numbers.append(value(self.connection, sql))
        return max(number for number in numbers if isinstance(number, int))

    @abstractmethod
    def last_counted(self, key: Key) -> int | None:
        """The last number that the database gave to the key; None if it doesn't number it."""

    def all_counted(self) -> dict[str, int]:
        """``last_counted`` of each key that has one, by its label."""
        numbers = {key.label: self.last_counted(key) for key in self.change.keys}
        return {label: number for label, number in numbers.items() if number is not None}

    def create_table(self, model: Any, *, like: str, create: str = "CREATE TABLE") -> None:
        """Create the table of a model, whose texts are compared as those of the table ``like``."""
        sql, parameters = self.editor.table_sql(model)
        sql = sql.replace("CREATE TABLE", create, 1)
        self.editor.execute(f"{sql}{self.options_like(like)}", parameters or None)

    def options_like(self, table: str) -> str:
        """What makes texts of a new table compare as those of another one."""
        return ""

    def default_of(self, key: Key) -> str:
        """What gives the key its ``db_default``; empty if it has none."""
        if not key.after.has_db_default():
            return ""
        sql, parameters = self.editor.db_default_sql(key.after)
        return f"DEFAULT {sql % tuple(map(self.editor.quote_value, parameters))}"

    def new_value(self, column: Key | ReferringColumn) -> str:
        """The next value of a column, for a row named ``t``."""
        key_map = column.key.map
        return (
            f"(SELECT p.{self.quote(key_map.next)} FROM {self.quote(key_map.table)} p "
            f"WHERE p.{self.quote(key_map.column)} = t.{self.quote(column.name)})"
        )

    def refuse_unfilled(self) -> None:
        """Raise ``BackfillError`` if a row was inserted after the maps were filled."""
        for table in self.change.tables:
            may_lack = (it for it in table.changed if isinstance(it, Key) or it.is_history)
            for column in may_lack:
                sql = f"SELECT 1 {self.with_orphans(table.name, column, column.key.map)} LIMIT 1"
                if row(self.connection, sql) is not None:
                    raise BackfillError(
                        f"{table.name}: rows were inserted during the migration. No key was moved: "
                        f"stop the application, and migrate again"
                    )

    def with_orphans(self, table: str, column: Key | ReferringColumn, values: KeyColumn) -> str:
        """The clauses FROM and WHERE of the rows whose value is none of these keys, named ``t``."""
        of_row, of_key = f"t.{self.quote(column.name)}", f"p.{self.quote(values.column)}"
        key = f"SELECT 1 FROM {self.quote(values.table)} p WHERE {of_key} = {of_row}"
        if values is column.key.map:
            key += f" AND p.{self.quote(values.next)} IS NOT NULL"
        order = self.in_order_of_the_file if column is column.key else ""
        return (
            f"FROM {self.quote(table)} t{order} WHERE {of_row} IS NOT NULL AND NOT EXISTS ({key})"
        )


class InOneTransaction(KeyEngine):
    """Moves in databases with transactions for DDL: one that stops has changed nothing."""

    def move(self) -> None:
        numbers = self.all_counted()
        with transaction.atomic(self.connection.alias):
            replace_values(self.connection, self.change)
            self.replace_keys()
            self.note.complete(numbers, self.with_old_keys())

    @abstractmethod
    def replace_keys(self) -> None:
        """Give the keys, and all columns that contain them, their next values."""
