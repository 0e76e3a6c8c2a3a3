"""NOT NULL and uniqueness on SQLite, without a copy of the table.

Django's AlterField rebuilds the table from the model, and drops what the model doesn't know:
triggers, indexes, columns, types. Here uniqueness is an index, and NOT NULL is added to the
definition in ``sqlite_master``. No row is written.
"""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, IntegrityError, models, transaction

from ..db import rows, tables, value
from ..db.tables import folded_in_sqlite as folded
from ..db.tables import quoted_in_sqlite as _quoted
from ..errors import BackfillError, counted
from .table_definition import (
    SQLITE,
    NotUnderstood,
    columns,
    split,
    stored_in_sqlite,
    tokens_of,
    with_null,
)

_CONSTRAINT = "sqlite_"
"""The first letters of the name of an index that belongs to a UNIQUE in CREATE TABLE."""


def alter(editor: Any, old: Any, new: Any, backwards: bool = False) -> None:
    """Change uniqueness and NULL of the column from ``old`` to ``new``, in one transaction.

    Raises ``BackfillError``, before anything is written, for changes that need a copy.
    """
    column = _Column(editor, new)
    if tables.kind(editor.connection, column.table) == "view":
        raise BackfillError(
            f"{new}: {column.table} is a view: constrain the column of the table after its FROM, "
            f"with a model of that table"
        )
    if backwards and old.unique and not new.unique and column.is_unique_by_a_copy(old):
        editor.alter_field(old.model, old, new)
        return
    try:
        with transaction.atomic(editor.connection.alias):
            column.lock()
            if new.unique and not old.unique and not column.indexes(unique=True):
                column.create_index("UNIQUE ", "_uniq")
            if old.unique and not new.unique:
                column.drop_unique(only_own=backwards)
            # The index of ``db_index=True``, which a unique index replaces.
            had, has = (bool(field.db_index and not field.unique) for field in (old, new))
            name = editor._create_index_name(column.table, [column.column])
            existing = column.indexes(unique=False)
            if had and not has and name in existing:
                column.drop_index(name)
            if has and not had and not existing:
                column.create_index("", "")
            if old.null != new.null:
                column.set_null(new.null)
    finally:
        # The connection reloads the definitions from the file, and can't write them.
        if editor.connection.connection is not None:
            rows(editor.connection, "PRAGMA writable_schema = RESET")


def drop_column(editor: Any, field: Any) -> None:
    """Drop the column and its own indexes, and nothing else of the table."""
    column = _Column(editor, field)
    connection = editor.connection
    refuse_orphans(connection, field)
    if column.is_unique_by_a_copy(field):
        editor.remove_field(field.model, field)
        return
    with transaction.atomic(connection.alias):
        column.lock()
        column.drop_unique()
        for name in column.indexes(unique=False):
            column.drop_index(name)
        try:
            editor.execute(f"ALTER TABLE {column.quoted_table} DROP COLUMN {column.quoted}", None)
        except DatabaseError as error:
            raise BackfillError(
                f"{field}: SQLite can't drop the column: {error}. Drop what uses the column first"
            ) from error


def refuse_orphans(connection: Any, label: object) -> None:
    """Raise ``BackfillError`` if a row of any table refers to a row that doesn't exist.

    Django checks this at the end of every migration on SQLite, when the change is already made.
    """
    try:
        orphans = rows(connection, _ORPHANS)
    except DatabaseError as error:  # such as a foreign key to a column that isn't unique
        reasons = [str(error)]
    else:
        reasons = [
            f"{counted(count, 'row')} of {table}.{column} without a row of {parent}"
            for table, column, parent, count in orphans
        ]
    if reasons:
        raise BackfillError(
            f"{label}: {', '.join(reasons)}. Django refuses to finish a migration on SQLite with "
            f"such rows: correct or delete those that `PRAGMA foreign_key_check` lists, and "
            f"migrate again"
        )


_ORPHANS = """
SELECT found."table", "from", parent, COUNT(*) FROM pragma_foreign_key_check found
JOIN pragma_foreign_key_list(found."table") ON id = fkid AND seq = 0
GROUP BY found."table", fkid ORDER BY 1, 2
"""
_FOREIGN_KEYS = """
SELECT m.name, f."from", f."table", f."to"
FROM main.sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq
"""
_SET_DEFINITION = (
    "UPDATE main.sqlite_master SET sql = %s WHERE type = 'table' AND name = %s COLLATE NOCASE"
)


class _Column:
    def __init__(self, editor: Any, field: models.Field[Any, Any]) -> None:
        self.editor = editor
        self.field = field
        self.table = field.model._meta.db_table
        self.column = str(field.column)
        self.quoted_table: str = editor.quote_name(self.table)
        self.quoted: str = editor.quote_name(self.column)

    def lock(self) -> None:
        """Take the write lock first: after a read, SQLite refuses it without waiting."""
        self._execute(f"UPDATE {self.quoted_table} SET {self.quoted} = {self.quoted} WHERE 0")

    def drop_unique(self, *, only_own: bool = False) -> None:
        """Drop the unique indexes of the column: all, or only those that ``alter`` created.
        A UNIQUE of CREATE TABLE stays on the way back; forwards, only an AlterField drops it."""
        unique = self.indexes(unique=True)
        own_name = str(self.editor._create_index_name(self.table, [self.column], suffix="_uniq"))
        dropped = [name for name in unique if not only_own or name.startswith(own_name)]
        if not only_own and any(name.startswith(_CONSTRAINT) for name in unique):
            raise BackfillError(
                f"{self.field}: its UNIQUE is in the definition of the table. Use an AlterField, "
                f"which copies the table and keeps only what the model knows"
            )
        this_column = [folded(self.table), folded(self.column)]
        is_last = dropped and dropped == unique
        references = [
            f"{table}.{column}"
            for table, column, *referenced in (
                foreign_keys(self.editor.connection) if is_last else ()
            )
            if [*map(folded, referenced)] == this_column
        ]
        if references:
            raise BackfillError(
                f"{self.field}: {', '.join(references)} refers to it by a foreign key, so it must "
                f"stay unique. Nothing was changed: remove the foreign key first, and migrate again"
            )
        for name in dropped:
            self.drop_index(name)

    def is_unique_by_a_copy(self, field: Any) -> bool:
        """Whether Django has copied the table for another migration: then the index is a UNIQUE in
        CREATE TABLE, and what the model doesn't know is gone already."""
        sql = stored_in_sqlite(self.editor.connection, self.table)
        tokens = tokens_of(columns(sql, SQLITE), self.column)
        written = f"{self.quoted} {self.editor.column_sql(field.model, field)[0]}"
        is_copied = sql[tokens[0].start : tokens[-1].end] == written
        unique = self.indexes(unique=True)
        return is_copied and any(name.startswith(_CONSTRAINT) for name in unique)

    def indexes(self, unique: bool) -> list[str]:
        """The indexes on this column alone, without partial ones and those that Meta names."""
        wanted: dict[str, Any] = {"index": True, "partial": False, "unique": unique}
        return tables.unnamed(self.editor.connection, self.field, **wanted)

    def drop_index(self, name: str) -> None:
        self._execute(f"DROP INDEX {_quoted(name)}")

    def create_index(self, kind: str, suffix: str) -> None:
        name = self.editor.quote_name(
            tables.index_name(self.editor, self.table, self.column, suffix)
        )
        self._execute(f"CREATE {kind}INDEX {name} ON {self.quoted_table} ({self.quoted})")

    def set_null(self, null: bool) -> None:
        if tables.may_be_null(self.editor.connection, self.table, self.column) == null:
            return
        wanted = [
            (*row[:3], int(not null), *row[4:]) if folded(row[1]) == folded(self.column) else row
            for row in self._columns("main")
        ]
        connection = self.editor.connection
        try:
            sql = with_null(stored_in_sqlite(connection, self.table), self.column, null)
            # SQLite reads the definition of a table in its temporary database.
            with transaction.atomic(connection.alias):
                _, table, *_ = split(sql, SQLITE)
                self._execute(f"CREATE TEMP {sql[table.start :]}")
                described = self._columns("temp"), self._constraints("temp")
                # DROP TABLE would leave temp.sqlite_sequence, which hides the real one.
                transaction.set_rollback(True, connection.alias)
            if described != (wanted, self._constraints("main")):
                raise NotUnderstood("the new definition would change more than its NULL")
            version = value(connection, "PRAGMA main.schema_version")
            self._execute("PRAGMA writable_schema = ON")
            # SQLite's defensive mode refuses this.
            self._execute(_SET_DEFINITION, [sql, self.table])
        except (NotUnderstood, DatabaseError) as error:
            raise BackfillError(
                f"{self.field}: the definition of the table can't be changed in place: {error}. "
                f"Use an AlterField, which copies the table and keeps only what the model knows"
            ) from error
        # A new version makes every connection, including this one, reload the definitions.
        self._execute(f"PRAGMA main.schema_version = {version + 1}")
        self._execute("PRAGMA writable_schema = RESET")
        if not null and self._rows(
            f"SELECT 1 FROM {self.quoted_table} WHERE {self.quoted} IS NULL LIMIT 1"
        ):
            raise IntegrityError("NULL was found")
        if self._columns("main") != wanted:
            raise BackfillError(f"{self.field}: SQLite did not accept the new definition")

    def _columns(self, schema: str) -> list[Any]:
        return self._rows(f"PRAGMA {schema}.table_xinfo({self.quoted_table})")

    def _constraints(self, schema: str) -> dict[str, Any]:
        """Indexes of constraints by name, in the order of the definition; foreign keys as ""."""
        indexes = [
            (name, (unique, origin, self._rows(f"PRAGMA {schema}.index_xinfo({_quoted(name)})")))
            for _, name, unique, origin, _ in self._rows(
                f"PRAGMA {schema}.index_list({self.quoted_table})"
            )
            if origin != "c"
        ]
        indexes.sort(key=lambda index: int(index[0].rpartition("_")[2]))
        keys = self._rows(f"PRAGMA {schema}.foreign_key_list({self.quoted_table})")
        return {**dict(indexes), "": keys}

    def _execute(self, sql: str, parameters: list[Any] | None = None) -> None:
        self.editor.execute(sql, parameters)

    def _rows(self, query: str) -> list[Any]:
        return rows(self.editor.connection, query)


def foreign_keys(connection: Any) -> list[tuple[str, str, str, str]]:
    """Table, column, parent and column of the parent of each foreign key."""
    keys = rows(connection, _FOREIGN_KEYS)
    for place, (table, column, parent, referenced) in enumerate(keys):
        if not referenced:
            described = rows(connection, f"PRAGMA main.table_info({_quoted(parent)})")
            # Without a name, it refers to the primary key.
            referenced = next((name for _, name, *_, number in described if number == 1), "")
            keys[place] = (table, column, parent, referenced)
    return keys
