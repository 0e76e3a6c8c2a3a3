"""Copies a table of MariaDB or MySQL into one with another definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....db.queries import rows, value
from . import session
from .definition import Definition, Element, redefined

if TYPE_CHECKING:
    from ...changes import Key, Table
    from ..base import KeyEngine

_COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = %s AND COALESCE(generation_expression, '') = ''
ORDER BY ordinal_position
"""
_COLLATION = """
SELECT table_collation FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = %s
"""
_KEY = """
SELECT column_name FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND table_name = %s AND constraint_name = 'PRIMARY'
"""
_TEXT = re.compile(r"(var)?char\b|(tiny|medium|long)?text\b", re.IGNORECASE)


class Copy:
    """One table of a change, and its copy. ``last_number`` is the largest one that its new key
    ever had; 0 if that has no numbers.

    Use it within ``session.copying``.
    """

    def __init__(self, engine: KeyEngine, table: Table, last_number: int = 0) -> None:
        self._engine = engine
        self._editor = engine.editor
        self._connection = engine.connection
        self._table = table
        self._last_number = last_number
        self.name = session.plain(engine.connection, table.name)
        self.copy = session.copy_name(engine.connection, table.name)

    def definition(self) -> Definition:
        return Definition(session.definition_of(self._connection, self.name))

    def create(self) -> None:
        """Make the copy, without rows. One that a killed process made is replaced. Most of its
        indexes are added by ``add_indexes``: they are built from sorted rows in less time."""
        self.drop()
        definition = self.definition()
        elements = ", ".join(self._elements(definition))
        options = definition.options(self._next_number(definition))
        name = self._editor.quote_name(self.copy)
        session.execute(self._editor, f"CREATE TABLE {name} ({elements}) {options}")

    def drop(self) -> None:
        session.execute(self._editor, f"DROP TABLE IF EXISTS {self._editor.quote_name(self.copy)}")

    def add_indexes(self) -> None:
        indexes = [f"ADD {text}" for text in self._later_indexes(self.definition())]
        if indexes:
            name = self._editor.quote_name(self.copy)
            session.execute(self._editor, f"ALTER TABLE {name} {', '.join(indexes)}")

    def fill(self) -> None:
        quote = self._editor.quote_name
        selected = dict(self._selected())
        names = ", ".join(map(quote, selected))
        order = ", ".join(self._order(list(selected)))
        self._editor.execute(
            f"INSERT INTO {quote(self.copy)} ({names}) SELECT {', '.join(selected.values())} "
            f"FROM {quote(self.name)} t{self._joined()}{order and f' ORDER BY {order}'}",
            None,
        )
        self.add_indexes()
        # Without it, plans are made for a table without rows.
        self._editor.execute(f"ANALYZE TABLE {quote(self.copy)}", None)

    def _order(self, selected: list[str]) -> Iterator[str]:
        """The places of the primary key among the selected columns, if its values change."""
        key = [name for (name,) in rows(self._connection, _KEY, [self.name])]
        changed = {each.lower() for each in self._table.changed}
        if changed & {each.lower() for each in key}:
            yield from (str(selected.index(each) + 1) for each in key)

    def _selected(self) -> Iterator[tuple[str, str]]:
        """Each column of the copy, and where its values come from."""
        quote, key = self._editor.quote_name, self._table.key
        changed = {each.name.lower(): self._engine.new_value(each) for each in self._table.columns}
        if key:
            mapped = f"m.{quote(key.live.next)}"
            changed[key.column.lower()] = mapped if key.is_mapped else f"t.{quote(key.next)}"
        for (name,) in rows(self._connection, _COLUMNS, [self.name]):
            if key is None or name.lower() != key.next.lower():
                yield name, changed.get(name.lower(), f"t.{quote(name)}")
        if key and key.old:
            yield key.old, f"t.{quote(key.column)}"

    def _joined(self) -> str:
        """The map of the key. Rows that are inserted after it was filled are left out, and the
        number of rows shows it."""
        key, quote = self._table.key, self._editor.quote_name
        if key is None or not key.is_mapped:
            return ""
        live = key.live
        same = f"m.{quote(live.column)} = t.{quote(key.column)}"
        return f" JOIN {quote(live.table)} m ON {same}"

    def _later_indexes(self, definition: Definition) -> Iterator[str]:
        key = self._table.key
        if key and key.old and key.old_field.unique:
            yield f"UNIQUE ({self._editor.quote_name(key.old)})"
        for element in definition.elements:
            if _is_later(element, definition) and not (key and element.is_of(key.next.lower())):
                yield element.text

    def _elements(self, definition: Definition) -> Iterator[str]:
        """Those of the copy. Foreign keys are added when it is used."""
        key = self._table.key
        changed = {each.name.lower(): each for each in self._table.columns}
        for element in definition.elements:
            name = element.name.lower()
            if element.is_constraint("FOREIGN") or _is_later(element, definition):
                continue
            if key and element.is_of(key.next.lower()):
                continue
            elif key and element.is_column and name == key.column.lower():
                yield self._key_column(key, element)
                yield from self._old_column(key)
            elif element.is_column and name in changed:
                column = changed[name]
                kind = column.db_type(self._connection)
                yield redefined(element, self._with_collation(kind, column.key), is_key=False)
            elif element.is_constraint("CHECK") and not self._connection.mysql_is_mariadb:
                yield from self._check(element)
            else:
                yield element.text

    def _key_column(self, key: Key, column: Element) -> str:
        kind = self._with_collation(key.after.db_type(self._connection), key)
        return redefined(column, kind, is_key=True, default=self._default(key))

    def _old_column(self, key: Key) -> Iterator[str]:
        if key.old:
            sql, _ = self._editor.column_sql(key.old_field.model, key.old_field)
            # ``_later_indexes`` has it.
            yield f"{self._editor.quote_name(key.old)} {sql.removesuffix(' UNIQUE')}"

    def _next_number(self, definition: Definition) -> int:
        return self._last_number + 1 if self._table.key else definition.next_number

    def _default(self, key: Key) -> str:
        if not key.after.has_db_default():
            return ""
        sql, parameters = self._editor.db_default_sql(key.after)
        values = tuple(map(self._editor.quote_value, parameters))
        return f"DEFAULT {sql % values}"

    def _with_collation(self, kind: str, key: Key) -> str:
        """The type of a column with values of the key, which needs the collation of the key."""
        if not _TEXT.match(kind) or "COLLATE" in kind.upper():
            return kind
        own, of_key = (collation_of(self._connection, each) for each in (self.name, key.table))
        given = key.after.db_parameters(self._connection).get("collation")
        wanted = given or of_key
        return f"{kind} COLLATE {wanted}" if given or wanted != own else kind

    def _check(self, check: Element) -> Iterator[str]:
        """Names of checks are unique in a database of MySQL. One that RENAME TABLE renames gets
        another one until then; others are added after it."""
        if is_renamed(self.name, check.name):
            quote = self._editor.quote_name
            new = f"{self.copy}{check.name[len(self.name) :]}"
            yield check.text.replace(quote(check.name), quote(new), 1)


def _is_later(element: Element, definition: Definition) -> bool:
    """Whether the index is added to the filled table. A column with AUTO_INCREMENT always needs
    one, and so does the one that counts the rows of a FULLTEXT index."""
    counted = {
        name
        for name, column in definition.columns.items()
        if any(each.keyword == "AUTO_INCREMENT" for each in column.tokens)
    }
    counted.add("fts_doc_id")
    return element.tokens[0].keyword in ("KEY", "UNIQUE") and not counted & {*element.columns}


def collation_of(connection: Any, table: str) -> str:
    """That of new columns of the table."""
    return str(value(connection, _COLLATION, [session.plain(connection, table)]))


def is_renamed(table: str, check: str) -> bool:
    """Whether the name of a check of MySQL changes with that of its table."""
    return check.startswith(f"{table}_chk_")
