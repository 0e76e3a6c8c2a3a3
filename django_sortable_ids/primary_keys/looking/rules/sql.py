"""Which texts are SQL that names a table and a column that change."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...changes import Change

_TABLE = r"(?:from|join|into|update|table)\s+(?:only\s+)?[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?({})\b"


class Statements:
    def __init__(self, change: Change) -> None:
        self._columns: Mapping[str, list[str]] = {
            each.name.lower(): [name.lower() for name in each.changed] for each in change.tables
        }
        tables = "|".join(map(re.escape, sorted(self._columns, key=len, reverse=True)))
        self._tables = re.compile(_TABLE.format(tables or "(?!)"), re.IGNORECASE)
        references = {each.name.lower() for table in change.tables for each in table.columns}
        self._references = _words(references)
        self._in_tables = {name: _words(set(names)) for name, names in self._columns.items()}

    def named(self, text: str) -> str:
        """The table and the columns of a statement; empty if there are none that change."""
        tables = {each.lower() for each in self._tables.findall(text)}
        found = {
            f"{table}.{column.lower()}"
            for table in tables
            for column in self._in_tables[table].findall(text)
        }
        return ", ".join(sorted(found))

    def references_in(self, text: str) -> str:
        """The columns that refer to moved keys in a part of a statement; empty without any."""
        return ", ".join(sorted({each.lower() for each in self._references.findall(text)}))


def _words(names: set[str]) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"\b(?:{listed or '(?!)'})\b", re.IGNORECASE)
