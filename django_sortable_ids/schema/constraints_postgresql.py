"""NOT NULL and uniqueness on PostgreSQL, without long locks.

The slow steps, building the index and searching for NULL, don't block writers. Locks that block
writers are held only for changes of the catalogue. PostgreSQL can't build an index concurrently on
a partitioned table, so each partition gets its own index this way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, models
from django.db.models import Index

from ..db import partitions, tables
from ..db.locks import with_short_lock_timeout
from ..db.queries import row


def alter(editor: Any, old: Any, new: Any) -> None:
    """Add unique and NOT NULL if ``new`` has them and ``old`` doesn't, or drop NOT NULL.

    Must run outside a transaction: CREATE INDEX CONCURRENTLY refuses to run in one.
    """
    column = _Column(editor, new)
    if new.unique and not old.unique:
        if old.db_index:
            column.drop_plain_indexes()
        column.make_unique()
        column.add_like_index()
    if old.null and not new.null:
        column.make_required()
    elif new.null and not old.null:
        column.alter(f"ALTER COLUMN {column.quoted} DROP NOT NULL")


class _Column:
    def __init__(self, editor: Any, field: models.Field[Any, Any], table: str = "") -> None:
        self.editor = editor
        self.quote: Callable[[str], str] = editor.quote_name
        self.field = field
        self.table = table or field.model._meta.db_table
        self.column = str(field.column)
        self.quoted = self.quote(self.column)
        leaves = partitions.leaves(editor.connection, self.table)
        self.leaves = [_Column(editor, field, leaf) for leaf in leaves]
        self.is_partitioned = bool(partitions.key_columns(editor.connection, self.table))

    def make_unique(self) -> None:
        """Add the constraint that Django's AlterField would add."""
        name = self._name("_uniq")
        index = self._look_up(_INDEX, name)
        if self.is_partitioned:
            for leaf in self.leaves:
                leaf.make_unique()
            if not index:  # PostgreSQL attaches the constraints of the partitions.
                self.alter(f"ADD CONSTRAINT {self.quote(name)} UNIQUE ({self.quoted})")
            return
        if not index or not index[0]:
            # An interrupted build leaves an INVALID index: it rejects duplicates, but no query
            # uses it.
            self._build_index("UNIQUE ", name, "", exists=bool(index))
        if not index or not index[1]:
            self.alter(f"ADD CONSTRAINT {self.quote(name)} UNIQUE USING INDEX {self.quote(name)}")

    def add_like_index(self) -> None:
        """Add the second index that Django creates for a ``varchar``."""
        if self.editor._create_like_index_sql(self.field.model, self.field) is None:
            return
        name = self._name("_like")
        index = self._look_up(_INDEX, name)
        for leaf in self.leaves:
            leaf.add_like_index()
        if not index or not index[0]:
            self._build_index("", name, " varchar_pattern_ops", exists=bool(index))

    def drop_plain_indexes(self) -> None:
        """Drop the indexes of ``db_index=True``, which the unique index replaces."""
        if self.editor.collect_sql:
            return
        plain = {"index": True, "unique": False, "type": Index.suffix}
        for name in tables.unnamed(self.editor.connection, self.field, self.table, **plain):
            if name != self._name("_like"):
                self._drop_index(name)

    def make_required(self) -> None:
        """SET NOT NULL without a scan under its lock: a validated CHECK proves it."""
        editor, table = self.editor, self.table
        if not editor.collect_sql and not tables.may_be_null(editor.connection, table, self.column):
            return
        check_name = self._name("_notnull")
        name = self.quote(check_name)
        check = self._look_up(_CHECK, check_name)
        if not check:
            self.alter(f"ADD CONSTRAINT {name} CHECK ({self.quoted} IS NOT NULL) NOT VALID")
        if not check or not check[0]:
            try:
                self.editor.execute(
                    f"ALTER TABLE {self.quote(self.table)} VALIDATE CONSTRAINT {name}"
                )
            except IntegrityError:
                self.alter(f"DROP CONSTRAINT {name}")
                raise
        self.alter(f"ALTER COLUMN {self.quoted} SET NOT NULL", f"DROP CONSTRAINT {name}")

    def alter(self, *changes: str) -> None:
        """Run ALTER TABLE for each change of the catalogue, in one transaction."""
        table = self.quote(self.table)
        self._execute_together(*(f"ALTER TABLE {table} {each}" for each in changes))

    def _execute_together(self, *statements: str) -> None:
        def execute() -> None:
            for sql in statements:
                self.editor.execute(sql)

        with_short_lock_timeout(self.editor, execute)

    def _build_index(self, kind: str, name: str, operators: str, exists: bool) -> None:
        if exists:
            self._drop_index(name)
        index = (
            f"{self.quote(name)} ON {self.quote(self.table)} ({self.quote(self.column)}{operators})"
        )
        if self.is_partitioned:  # PostgreSQL attaches the indexes of the partitions.
            self._execute_together(f"CREATE {kind}INDEX {index}")
            return
        try:
            self.editor.execute(f"CREATE {kind}INDEX CONCURRENTLY {index}")
        except IntegrityError:
            self._drop_index(name)
            raise

    def _drop_index(self, name: str) -> None:
        schema, _ = tables.split(self.editor.connection, self.table)
        index = f"{self.quote(schema)}.{self.quote(name)}" if schema else self.quote(name)
        if self.is_partitioned:
            self._execute_together(f"DROP INDEX IF EXISTS {index}")
        else:
            self.editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")

    def _look_up(self, query: str, name: str) -> Any:
        if self.editor.collect_sql:
            return None
        return row(self.editor.connection, query, [self.quote(self.table), name])

    def _name(self, suffix: str) -> str:
        name: str = self.editor._create_index_name(self.table, [self.column], suffix=suffix)
        return name


_INDEX = """
    SELECT indisvalid, EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = %s::regclass AND relname = %s
"""
_CHECK = """
    SELECT convalidated FROM pg_constraint
    WHERE conrelid = %s::regclass AND conname = %s AND contype = 'c'
"""
