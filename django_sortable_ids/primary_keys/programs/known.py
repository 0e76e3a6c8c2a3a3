"""The tables and columns that a text may name."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from django.utils.functional import cached_property

from ...db import tables
from ..changes import Change


class Known:
    """All names are in lower case and without schemas, however the database spells them."""

    def __init__(self, connection: Any, change: Change) -> None:
        self._connection = connection
        self._columns: dict[str, Set[str]] = {}
        self.changed: dict[str, set[str]] = {}
        """The columns of each table that change."""
        self.dropped: dict[str, set[str]] = {}
        """The columns of each table that it loses."""
        for table in change.tables:
            name = tables.split(connection, table.name)[1].lower()
            self.changed[name] = {each.lower() for each in table.changed}
            self.dropped[name] = {table.key.next.lower()} if table.key else set()

    @cached_property
    def _names(self) -> dict[str, str]:
        with self._connection.cursor() as cursor:
            found = self._connection.introspection.table_names(cursor, include_views=True)
        return {each.lower(): each for each in found}

    def is_table(self, name: str) -> bool:
        return name in self.changed or name in self._names

    def changes(self, table: str, column: str) -> bool:
        return column in self.changed.get(table, ())

    def has(self, table: str, column: str) -> bool:
        """Whether it is a column of a table, or of a view."""
        if table not in self._columns:
            name = self._names.get(table)
            found = tables.columns(self._connection, name).values() if name else ()
            self._columns[table] = {each.name.lower() for each in found}
        return column in self._columns[table]

    def add_view(self, name: str, columns: Iterable[str]) -> bool:
        """Whether one of these columns, which contain keys that change, was unknown."""
        known = self.changed.setdefault(name.lower(), set())
        before = len(known)
        known.update(columns)
        return len(known) > before
