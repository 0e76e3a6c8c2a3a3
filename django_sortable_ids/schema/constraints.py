"""Make a filled column NOT NULL and unique online, while writers are active.

Each step first checks what already exists. After a crash at any statement, the same change
continues from there.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import DataError, IntegrityError, NotSupportedError, OperationalError, models
from django.db.models import Index, QuerySet

from ..db import row, tables
from ..db.errors import error_number
from ..db.tables import may_be_null, unnamed
from ..db.transactions import strict, with_short_lock_timeout
from ..errors import BackfillError, counted
from ..fields import SortableIDField
from . import constraints_sqlite
from .table_definition import MYSQL, columns

_NOT_IN_PLACE = (1845, 1846)
_NULL_FOUND = 1138
"""MySQL's error, an OperationalError, if a row with NULL was inserted concurrently."""


def constrain(editor: Any, old: Any, new: Any, backwards: bool = False) -> None:
    """Change NULL and uniqueness of the column from the field ``old`` to the field ``new``.

    ``backwards`` undoes such a change. On SQLite it keeps a UNIQUE that existed before the change.

    Raises ``BackfillError`` with what to do, for rows without an id and for ids that are not
    unique; ``ValueError`` if the two fields differ in anything else of the column.
    """
    ours = {"null", "unique", "db_index", "blank"}
    if (
        new.primary_key
        or old.primary_key
        or old.column != new.column
        or editor._field_should_be_altered(old, new, ignore=ours)
    ):
        raise ValueError(
            f"{old} and {new} differ in more than null, unique, db_index and blank: change the "
            f"rest of the column with an AlterField"
        )
    check_before(editor, old, new)
    becomes_required = old.null and not new.null
    if becomes_required:
        _check_filled(editor, old)
    try:
        match editor.connection.vendor:
            case "postgresql":
                _alter_on_postgresql(editor, old, new)
            case "mysql":
                with strict(editor.connection):
                    _alter_in_place(editor, old, new)
            case "sqlite":
                constraints_sqlite.alter(editor, old, new, backwards)
    except (IntegrityError, DataError) as error:
        if becomes_required:
            _check_filled(editor, old)
        raise BackfillError(
            f"{old}: {error}. Its ids are not unique: run `manage.py backfill_ids {old} --verify` "
            f"to count them"
        ) from error


def redefined(field: Any, *without: str, **options: Any) -> Any:
    """A field with the same definition, but without some options and with others."""
    _, _, args, kwargs = field.deconstruct()
    kept = {key: value for key, value in kwargs.items() if key not in without}
    return type(field)(*args, **kept | options)


def check_before(editor: Any, old: Any, new: Any) -> None:
    """Raise ``BackfillError`` early for what would make the change fail at its end. That is a
    unique column of a partitioned table, and on SQLite a broken foreign key."""
    if editor.connection.vendor == "sqlite":
        constraints_sqlite.refuse_orphans(editor.connection, old)
    if old.unique or not new.unique:
        return
    reason = why_not_unique(editor.connection, old)
    if reason:
        raise BackfillError(f"{old}: {reason}")


def _check_filled(editor: Any, field: models.Field[Any, Any]) -> None:
    rows: QuerySet[Any] = QuerySet(field.model, using=editor.connection.alias)
    missing = rows.filter(**{f"{field.name}__isnull": True}).order_by()
    if missing.exists():
        raise BackfillError(
            f"{counted(missing.count(), 'row')} of {field} without an id: run `manage.py "
            f"backfill_ids {field}`, and migrate again"
        )


def _alter_on_postgresql(editor: Any, old: Any, new: Any) -> None:
    """Add unique and NOT NULL if ``new`` has them and ``old`` doesn't, or drop them.

    The slow steps, building the index and searching for NULL, don't block writers. Locks that do
    are held only for changes of the catalogue. Must run outside a transaction: CREATE INDEX
    CONCURRENTLY refuses to run in one.
    """
    quote, connection = editor.quote_name, editor.connection
    table, column = new.model._meta.db_table, str(new.column)
    quoted = quote(column)
    like, unique = (tables.index_name(editor, table, column, end) for end in ("_like", "_uniq"))
    notnull = str(editor._create_index_name(table, [column], suffix="_notnull"))

    def change(*changes: str) -> None:
        def execute() -> None:
            for change in changes:
                editor.execute(f"ALTER TABLE {quote(table)} {change}")

        with_short_lock_timeout(editor, execute)

    def look_up(query: str, name: str) -> Any:
        return row(connection, query, [quote(table), name])

    def drop_index(name: str) -> None:
        schema, _ = tables.split(connection, table)
        index = f"{quote(schema)}.{quote(name)}" if schema else quote(name)
        editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")

    def build_index(kind: str, name: str, indexed: str) -> Any:
        """Build the index unless it is valid; returns what the catalogue had of it before."""
        index = look_up(_INDEX, name)
        if not index or not index[0]:
            if index:
                # An interrupted build leaves an INVALID index, which only rejects duplicates.
                drop_index(name)
            try:
                editor.execute(
                    f"CREATE {kind} CONCURRENTLY {quote(name)} ON {quote(table)} ({indexed})"
                )
            except IntegrityError:
                drop_index(name)
                raise
        return index

    if new.unique and not old.unique:
        if old.db_index:
            # The indexes of ``db_index=True``, which the unique index replaces.
            plain = {"index": True, "unique": False, "partial": False, "type": Index.suffix}
            for name in unnamed(connection, new, **plain):
                if name != like:
                    drop_index(name)
        index = build_index("UNIQUE INDEX", unique, quoted)
        if not index or not index[1]:  # The constraint that Django's AlterField would add.
            change(f"ADD CONSTRAINT {quote(unique)} UNIQUE USING INDEX {quote(unique)}")
        if editor._create_like_index_sql(new.model, new) is not None:
            # The second index that Django creates for a ``varchar``.
            build_index("INDEX", like, f"{quoted} varchar_pattern_ops")
    if old.unique and not new.unique:
        # Django finds no constraint of a table in another schema.
        if new.db_index:
            build_index("INDEX", tables.index_name(editor, table, column), quoted)
        else:
            drop_index(like)
        for name in unnamed(connection, old, unique=True, primary_key=False):
            if look_up(_INDEX, name)[1]:
                change(f"DROP CONSTRAINT {quote(name)}")
            else:
                drop_index(name)
    if new.null and not old.null:
        change(f"ALTER COLUMN {quoted} DROP NOT NULL")
    if new.null or not old.null:
        return
    if not may_be_null(connection, table, column):
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


def _alter_in_place(editor: Any, old: Any, new: Any) -> None:
    """One statement of MariaDB and MySQL; the table stays readable and writable."""
    connection, table = editor.connection, old.model._meta.db_table
    quote, column = editor.quote_name, str(new.column)
    changes: list[str] = []
    if old.null != new.null and may_be_null(connection, table, column) != new.null:
        changes.append(f"MODIFY {_with_null(editor, new)}")
    unique = unnamed(connection, old, unique=True, primary_key=False)
    plain = unnamed(connection, old, index=True, unique=False, type=Index.suffix)
    if new.unique and not old.unique and not unique:
        name = tables.index_name(editor, table, column, "_uniq")
        changes.append(f"ADD CONSTRAINT {quote(name)} UNIQUE ({quote(column)})")
    if old.unique and not new.unique:
        changes += [f"DROP INDEX {quote(name)}" for name in unique]
    had, has = (bool(field.db_index and not field.unique) for field in (old, new))
    if had and not has:
        changes += [f"DROP INDEX {quote(name)}" for name in plain]
    if has and not had and not plain:
        name = tables.index_name(editor, table, column)
        changes.append(f"ADD INDEX {quote(name)} ({quote(column)})")
    if not changes:
        return
    alter = f"ALTER TABLE {quote(table)} {', '.join(changes)}"
    sql = f"{alter}, ALGORITHM=INPLACE, LOCK=NONE"
    try:
        with_short_lock_timeout(editor, lambda: editor.execute(sql, None))
    except (OperationalError, NotSupportedError) as error:
        number = error_number(error)
        if number == _NULL_FOUND:
            raise IntegrityError(*error.args) from error
        if number in _NOT_IN_PLACE:
            raise BackfillError(
                f"{old}: the server can't change the table online ({error.args[1]}). Stop all "
                f"writers, run this, and migrate again: {alter}"
            ) from error
        raise


_AFTER_NULL = {"DEFAULT", "ON", "COMMENT", "CHECK", "INVISIBLE", "WITHOUT", "WITH"}
"""NOT NULL must stand before these words; on MariaDB nothing can follow CHECK."""
_COMMENTS = re.compile(r"(?: */\*.*?\*/)*", re.DOTALL)
"""Comments after a column, such as MySQL's ``/*!80023 INVISIBLE */``."""


def _with_null(editor: Any, new: models.Field[Any, Any]) -> str:
    """The column's definition for MODIFY: that of the database, with the new NULL.

    Call it in the context of ``strict``, which fixes the form of SHOW CREATE TABLE.
    """
    table = editor.quote_name(new.model._meta.db_table)
    _, sql = row(editor.connection, f"SHOW CREATE TABLE {table}")
    name = str(new.column).lower()
    tokens = next(column for column in columns(sql, MYSQL) if column[0].name.lower() == name)
    wanted = "NULL" if new.null else "NOT NULL"
    outer = [token for token in tokens[1:] if token.depth == 1]
    words = [token.keyword for token in outer]
    trailing = _COMMENTS.match(sql, tokens[-1].end)
    end = trailing.end() if trailing else tokens[-1].end
    place = next((n for n, word in enumerate(words) if word == "NULL"), None)
    if place is not None:
        has_two_words = words[place - 1] in ("NOT", "DEFAULT")
        start = outer[place - 1 if has_two_words else place].start
        return f"{sql[tokens[0].start : start]}{wanted}{sql[outer[place].end : end]}"
    start = next((token.start for token in outer if token.keyword in _AFTER_NULL), end)
    before = sql[tokens[0].start : start].rstrip()
    return f"{before} {wanted} {sql[start:end]}".rstrip()


_PARTITIONED = {
    "postgresql": "SELECT 1 FROM pg_partitioned_table WHERE partrelid = to_regclass(%s)",
    "mysql": f"SELECT 1 FROM information_schema.partitions WHERE {tables.OF_MYSQL} "
    "AND partition_method <> 'SYSTEM_TIME' LIMIT 1",
}
"""SYSTEM_TIME partitions don't count: MariaDB adds their column to every unique index itself."""


def why_not_unique(connection: Any, field: models.Field[Any, Any]) -> str | None:
    """Why the column can't become unique by itself and online, and what to do; None if it can."""
    table, sql = field.model._meta.db_table, _PARTITIONED.get(connection.vendor)
    names = [connection.ops.quote_name(table)]
    if connection.vendor == "mysql":
        names = [*tables.split(connection, table)]
    if sql is None or row(connection, sql, names) is None:
        return None
    return (
        f"{table} is partitioned, and a unique index of it must contain the whole partition key: "
        f"add a UniqueConstraint of {field.name} and the partition key to the model. For NOT NULL, "
        f"use ConstrainSortableID without unique=True, which --write-migration writes after that"
    )


# Tables that no migration changes, because of ``managed = False``.


def add_column(field: SortableIDField, connection: Any) -> str:
    """The statement that adds the column, without constraints because it is empty at first."""
    plain = redefined(field, "unique", "db_index", null=True)
    plain.set_attributes_from_name(field.name)
    plain.model = field.model
    editor = connection.schema_editor(collect_sql=True, atomic=False)
    definition, _ = editor.column_sql(field.model, plain)
    table, column = map(connection.ops.quote_name, (field.model._meta.db_table, plain.column))
    return f"ALTER TABLE {table} ADD COLUMN {column} {definition}"
