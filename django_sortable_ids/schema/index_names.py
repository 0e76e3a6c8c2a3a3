"""Names of indexes and constraints that Django derives from the names of their columns.

When columns swap their names, these names must follow. Otherwise a later migration fails because
the name of its new index is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import models

from ..db import tables

_SUFFIXES = ("", "_uniq", "_like", "_notnull")
Quote = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Renaming:
    old: str
    new: str
    columns: tuple[str, ...]
    """Their names after the swap."""
    unique: bool
    is_constraint: bool

    @property
    def temporary(self) -> str:
        return f"swapped__{self.old}"[:60]

    def on_mysql(self, quote: Quote) -> str:
        return f"RENAME INDEX {quote(self.old)} TO {quote(self.new)}"

    def free_old_name(self, quote: Quote, table: str, vendor: str) -> str:
        """The statement that frees the old name, which another index may get."""
        if vendor == "sqlite":
            return f"DROP INDEX {quote(self.old)}"
        return self._rename(quote, table, self.old, self.temporary)

    def take_new_name(self, quote: Quote, table: str, vendor: str) -> str:
        if vendor == "sqlite":
            columns = ", ".join(map(quote, self.columns))
            kind = "UNIQUE INDEX" if self.unique else "INDEX"
            return f"CREATE {kind} {quote(self.new)} ON {quote(table)} ({columns})"
        return self._rename(quote, table, self.temporary, self.new)

    def _rename(self, quote: Quote, table: str, old: str, new: str) -> str:
        if self.is_constraint:
            return f"ALTER TABLE {quote(table)} RENAME CONSTRAINT {quote(old)} TO {quote(new)}"
        return f"ALTER INDEX {quote(old)} RENAME TO {quote(new)}"


def renamings(editor: Any, model: type[models.Model], moves: dict[str, str]) -> list[Renaming]:
    """How to rename the indexes and constraints whose names derive from the columns in ``moves``,
    which maps old names of columns to new ones."""
    table = model._meta.db_table
    read = {"postgresql": _postgresql, "mysql": _mysql, "sqlite": _sqlite}
    connection, fold = editor.connection, tables.folded
    new_names = {fold(connection, old): new for old, new in moves.items()}
    indexes = read[connection.vendor](connection, table)
    renamed = []
    for name, columns, unique, is_constraint in indexes:
        after = tuple(new_names.get(fold(connection, column), column) for column in columns)
        new = _derived(editor, table, name, columns, after)
        if new and new != name:
            renamed.append(Renaming(name, new, after, unique, is_constraint))
    taken = {name for name, *_ in indexes} - {each.old for each in renamed}
    return [each for each in renamed if each.new not in taken]


def _derived(
    editor: Any, table: str, name: str, columns: tuple[str, ...], after: tuple[str, ...]
) -> str | None:
    """The name for the columns ``after``, if ``name`` derives from ``columns``; else None."""
    for suffix in _SUFFIXES:
        if name == editor._create_index_name(table, list(columns), suffix=suffix):
            return str(editor._create_index_name(table, list(after), suffix=suffix))
    inline = {"postgresql": "{table}_{column}_key", "mysql": "{column}"}.get(
        editor.connection.vendor
    )
    if inline and len(columns) == 1 and name == inline.format(table=table, column=columns[0]):
        return inline.format(table=table, column=after[0])
    return None


Index = tuple[str, tuple[str, ...], bool, bool]
"""Its name, its columns, whether it is unique, and whether it belongs to a constraint."""


def _postgresql(connection: Any, table: str) -> list[Index]:
    with connection.cursor() as cursor:
        cursor.execute(_POSTGRESQL, [connection.ops.quote_name(table)])
        return [(name, tuple(columns), *rest) for name, columns, *rest in cursor.fetchall()]


_POSTGRESQL = """
    SELECT relname,
        array_agg(attname::text ORDER BY place),
        indisunique,
        EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND conrelid = indrelid
            AND contype IN ('u', 'p', 'x'))
    FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    CROSS JOIN LATERAL unnest(indkey::smallint[]) WITH ORDINALITY AS key (number, place)
    JOIN pg_attribute ON attrelid = indrelid AND attnum = key.number
    WHERE indrelid = %s::regclass AND indisvalid
    GROUP BY relname, indisunique, indexrelid, indrelid
"""


def _mysql(connection: Any, table: str) -> list[Index]:
    with connection.cursor() as cursor:
        cursor.execute(_MYSQL, tables.split(connection, table))
        indexes: dict[str, tuple[list[str], bool]] = {}
        for name, column, not_unique in cursor.fetchall():
            indexes.setdefault(name, ([], not not_unique))[0].append(column)
    return [(name, tuple(columns), unique, False) for name, (columns, unique) in indexes.items()]


_MYSQL = """
    SELECT index_name, column_name, non_unique FROM information_schema.statistics
    WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s AND column_name IS NOT NULL
    ORDER BY index_name, seq_in_index
"""


def _sqlite(connection: Any, table: str) -> list[Index]:
    """Only plain lists of columns: no partial indexes, expressions, DESC or collations."""
    indexes: list[Index] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, \"unique\" FROM pragma_index_list(%s) WHERE origin = 'c' AND NOT partial",
            [table],
        )
        for name, unique in cursor.fetchall():
            cursor.execute(
                'SELECT name, "desc", coll FROM pragma_index_xinfo(%s) WHERE "key" ORDER BY seqno',
                [name],
            )
            parts = cursor.fetchall()
            if all(column and not desc and coll == "BINARY" for column, desc, coll in parts):
                indexes.append((name, tuple(part[0] for part in parts), bool(unique), False))
    return indexes
