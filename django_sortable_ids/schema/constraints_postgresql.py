"""NOT NULL and uniqueness on PostgreSQL, without long locks.

The slow steps, building the index and searching for NULL, don't block writers. Locks that block
writers are held only for changes of the catalogue.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError
from django.db.models import Index

from ..db import tables
from ..db.locks import with_short_lock_timeout
from ..db.queries import row


def alter(editor: Any, old: Any, new: Any) -> None:
    """Add unique and NOT NULL if ``new`` has them and ``old`` doesn't, or drop NOT NULL.

    Must run outside a transaction: CREATE INDEX CONCURRENTLY refuses to run in one.
    """
    quote, connection = editor.quote_name, editor.connection
    table, column = new.model._meta.db_table, str(new.column)
    quoted = quote(column)
    like, unique = (tables.index_name(editor, table, column, each) for each in ("_like", "_uniq"))
    notnull = str(editor._create_index_name(table, [column], suffix="_notnull"))

    def change(*changes: str) -> None:
        def execute() -> None:
            for each in changes:
                editor.execute(f"ALTER TABLE {quote(table)} {each}")

        with_short_lock_timeout(editor, execute)

    def look_up(query: str, name: str) -> Any:
        return row(connection, query, [quote(table), name])

    def drop_index(name: str) -> None:
        schema, _ = tables.split(connection, table)
        index = f"{quote(schema)}.{quote(name)}" if schema else quote(name)
        editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")

    def build_index(kind: str, name: str, columns: str) -> Any:
        """What was there of the index before."""
        index = look_up(_INDEX, name)
        if not index or not index[0]:
            if index:
                # An interrupted build leaves an INVALID index: it rejects duplicates, but no query
                # uses it.
                drop_index(name)
            try:
                editor.execute(
                    f"CREATE {kind} CONCURRENTLY {quote(name)} ON {quote(table)} ({columns})"
                )
            except IntegrityError:
                drop_index(name)
                raise
        return index

    if new.unique and not old.unique:
        if old.db_index:
            # Those of ``db_index=True``, which the unique index replaces.
            plain = {"index": True, "unique": False, "type": Index.suffix}
            for name in tables.unnamed(connection, new, **plain):
                if name != like:
                    drop_index(name)
        index = build_index("UNIQUE INDEX", unique, quoted)
        if not index or not index[1]:  # The constraint that Django's AlterField would add.
            change(f"ADD CONSTRAINT {quote(unique)} UNIQUE USING INDEX {quote(unique)}")
        if editor._create_like_index_sql(new.model, new) is not None:
            # The second index that Django creates for a ``varchar``.
            build_index("INDEX", like, f"{quoted} varchar_pattern_ops")
    if new.null and not old.null:
        change(f"ALTER COLUMN {quoted} DROP NOT NULL")
    if new.null or not old.null:
        return
    if not tables.may_be_null(connection, table, column):
        return
    # SET NOT NULL without a scan under its lock: a validated CHECK proves it.
    check, name = look_up(_CHECK, notnull), quote(notnull)
    if not check:
        change(f"ADD CONSTRAINT {name} CHECK ({quoted} IS NOT NULL) NOT VALID")
    if not check or not check[0]:
        try:
            editor.execute(f"ALTER TABLE {quote(table)} VALIDATE CONSTRAINT {name}")
        except IntegrityError:
            change(f"DROP CONSTRAINT {name}")
            raise
    change(f"ALTER COLUMN {quoted} SET NOT NULL", f"DROP CONSTRAINT {name}")


_INDEX = """
    SELECT indisvalid, EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = %s::regclass AND relname = %s
"""
_CHECK = """
    SELECT convalidated FROM pg_constraint
    WHERE conrelid = %s::regclass AND conname = %s AND contype = 'c'
"""
