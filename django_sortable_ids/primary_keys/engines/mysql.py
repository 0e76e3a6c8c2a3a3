"""MariaDB and MySQL commit each DDL statement: each table is copied into one with another
definition, and one RENAME TABLE exchanges all of them.

Until the note begins, copies are only made, and made again after a stop. From then on, the steps in
the note are continued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction

from ...db import tables
from ...db.queries import row, rows, value
from ...errors import BackfillError
from ..changes import Change, Column, Key, Values
from .base import ForeignKey, KeyEngine
from .mysql_copies import triggers
from .mysql_copies.copy import Copy, collation_of, is_renamed
from .mysql_copies.definition import Definition
from .mysql_copies.problems import Problems
from .mysql_copies.session import alone, copying, definition_of, old_name, plain
from .mysql_copies.switch import Steps, Switch

_FOREIGN_KEYS = """
SELECT constraint_name, table_name, column_name, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE()
ORDER BY table_name, constraint_name, ordinal_position
"""
_WRITTEN = """
SELECT update_time FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = %s
"""
_COLLATION = """
SELECT character_set_name, collation_name FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = %s AND column_name = %s
    AND collation_name IS NOT NULL
"""
_PROGRAMS = """
SELECT 'trigger', trigger_name, NULLIF(action_statement, ''), event_object_table
FROM information_schema.triggers WHERE event_object_schema = DATABASE()
UNION ALL SELECT 'view', table_name, NULLIF(view_definition, ''), NULL
FROM information_schema.views WHERE table_schema = DATABASE()
UNION ALL SELECT LOWER(routine_type), routine_name, NULLIF(routine_definition, ''), NULL
FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type IN ('FUNCTION', 'PROCEDURE')
UNION ALL SELECT 'event', event_name, NULLIF(event_definition, ''), NULL
FROM information_schema.events WHERE event_schema = DATABASE()
ORDER BY 1, 2
"""


class MySQLKeys(KeyEngine):
    programs_sql = _PROGRAMS

    def foreign_keys(self) -> Iterator[ForeignKey]:
        found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for name, table, column, parent, referenced in rows(self.connection, _FOREIGN_KEYS):
            child, of = (tables.folded_table(self.connection, each) for each in (table, parent))
            found.setdefault((name, child, of), []).append((column, referenced))
        for (name, table, parent), pairs in found.items():
            own, referenced_columns = zip(*pairs, strict=True)
            yield ForeignKey(name, table, own, parent, referenced_columns)

    def problems(self) -> Iterator[str]:
        with copying(self.connection):
            yield from Problems(self).found()

    def rehearse(self) -> Iterator[str]:
        with alone(self.connection), copying(self.connection):
            yield from Problems(self).rehearsed()

    def last_counted(self, key: Key) -> int:
        return self.note.last_number(key.label)

    def move(self, replace_generic: Callable[[Change], None]) -> None:
        with alone(self.connection), copying(self.connection):
            written = self._written()
            for copy in self._copies():
                copy.create()
                copy.fill()
            self._refuse_written(written)
            with transaction.atomic(self.connection.alias):
                self._replace_in_copies(replace_generic)
                self.note.begin(self._steps()._asdict(), self._last_numbers())
            self.swap()

    def collect(self) -> None:
        with copying(self.connection):
            for copy in self._copies():
                copy.create()
                copy.fill()
            self.collect_generic()
            Switch(self.editor, self._steps()).execute()
        self.drop_maps()

    def swap(self) -> None:
        with alone(self.connection), copying(self.connection):
            if steps := self.note.steps:
                Switch(self.editor, Steps(**steps)).execute()
                self.note.write()

    def _copies(self) -> Iterator[Copy]:
        for table in self.change.tables:
            key = table.key
            is_counted = key and "AUTO_INCREMENT" in key.after.db_type(self.connection)
            yield Copy(self, table, self.last_number(key) if key and is_counted else 0)

    def _written(self) -> dict[str, Any]:
        """When each table was written last, in seconds; None if the server doesn't know."""
        names = [plain(self.connection, each.name) for each in self.change.tables]
        return {each: value(self.connection, _WRITTEN, [each]) for each in names}

    def _refuse_written(self, before: dict[str, Any]) -> None:
        self.refuse_unfilled()
        for copy in self._copies():
            counted = [self._count(each) for each in (copy.name, copy.copy)]
            now = value(self.connection, _WRITTEN, [copy.name])
            # The server forgets the time when it closes the table.
            is_written = now is not None and now != before[copy.name]
            if is_written or counted[0] != counted[1]:
                raise BackfillError(
                    f"{copy.name} was written during the migration. No key was moved: stop the "
                    f"application, and migrate again"
                )

    def is_unfilled(self, key: Key) -> bool:
        """Rows that are not in the map are missing in the copy."""
        return not key.is_mapped and super().is_unfilled(key)

    def _count(self, table: str) -> int:
        return int(value(self.connection, f"SELECT COUNT(*) FROM {self.quote(table)}"))

    def _replace_in_copies(self, replace_generic: Callable[[Change], None]) -> None:
        try:
            replace_generic(self._with_copies())
        except BackfillError as error:
            text = str(error)
            for copy in self._copies():
                text = text.replace(copy.copy, copy.name)
            raise BackfillError(text) from error

    def _with_copies(self) -> Change:
        """The change with the names of copies in generic references: their values are replaced
        where they stay."""
        copies = {copy.name: copy.copy for copy in self._copies()}
        texts = (
            each._replace(
                table=copies.get(plain(self.connection, each.table), each.table),
                content_types=copies.get(each.content_types, each.content_types),
            )
            for each in self.change.texts
        )
        return replace(self.change, texts=tuple(texts))

    def _last_numbers(self) -> dict[str, int]:
        """Of the keys that lose their AUTO_INCREMENT."""
        found = {}
        for key in self.change.keys:
            name = plain(self.connection, key.table)
            number = Definition(definition_of(self.connection, name)).next_number - 1
            if number:
                found[key.label] = number
        return found

    def _steps(self) -> Steps:
        names = [copy.name for copy in self._copies()]
        referring = {each.table for each in self.foreign_keys() if each.referenced_table in names}
        found = {
            name: Definition(definition_of(self.connection, name))
            for name in sorted({*names, *referring})
        }
        return Steps(
            tables=[
                [copy.name, copy.copy, old_name(self.connection, copy.name)]
                for copy in self._copies()
            ],
            foreign_keys=list(self._foreign_keys(found, names)),
            checks=[
                [name, check, text]
                for name in names
                for check, text in found[name].constraints("CHECK").items()
                if not self.connection.mysql_is_mariadb and not is_renamed(name, check)
            ],
            triggers=[each for name in names for each in triggers.of_table(self.connection, name)],
        )

    def _foreign_keys(self, found: dict[str, Definition], names: list[str]) -> Iterator[list[str]]:
        """All of the tables that change, and those of other tables that refer to them."""
        referring = {
            (each.table, each.name)
            for each in self.foreign_keys()
            if each.referenced_table in names
        }
        for table, definition in found.items():
            for name, text in definition.constraints("FOREIGN").items():
                if table in names or (table, name) in referring:
                    yield [table, name, text]

    def options_like(self, table: str) -> str:
        return f" COLLATE {collation_of(self.connection, table)}"

    def refers(self, column: Column, values: Values) -> str:
        """Texts of different collations can't be compared: the column takes that of the key."""
        table = next(each for each in self.change.tables if column in each.columns)
        # A plan has no table of deleted keys yet.
        is_there = tables.kind(self.connection, values.table)
        key = values if is_there else column.key
        wanted = self._collation(key.table, key.column)
        found = self._collation(table.name, column.name)
        if wanted == found or wanted is None or found is None:
            return super().refers(column, values)
        charset, collation = wanted
        quote = self.quote
        own = f"CONVERT(t.{quote(column.name)} USING {charset}) COLLATE {collation}"
        return f"p.{quote(values.column)} = {own}"

    def _collation(self, table: str, column: str) -> tuple[str, str] | None:
        """The character set and collation of a column; None if it contains no texts."""
        found: tuple[str, str] | None = row(
            self.connection, _COLLATION, [plain(self.connection, table), column]
        )
        return found
