"""Neighbours on the disk are written in different transactions, where that saves PostgreSQL work.

An UPDATE writes a new version of each row, and seldom is there room for it in the page of the old
one: it goes into another page, with a new entry in every index. Where earlier transactions have
left old versions in the page, the new one takes their room, and no index has to know (a heap-only
tuple, HOT). So a span of rows is written in parts, each in a transaction of its own: that takes
half the time, and the table grows by three fifths where it would double. All rows of a tick are in
one part, which puts them in order.
"""

from typing import Any

from ..target import Target

_ALIGNED = 0.5
"""The least correlation of places on the disk with times, at which neighbours meet in a batch."""

_CORRELATION = """
SELECT correlation FROM pg_stats
WHERE to_regclass(quote_ident(schemaname) || '.' || quote_ident(tablename)) = to_regclass(%s)
AND attname = %s
"""
_INDEXES_WITH_COLUMN = """
SELECT count(*) FROM pg_attribute JOIN pg_index ON indrelid = attrelid
WHERE attrelid = to_regclass(%s) AND attname = %s AND (
  attnum = ANY(indkey)
  -- its expressions, and its condition
  OR EXISTS (
    SELECT FROM pg_depend WHERE objid = indexrelid AND refobjid = indrelid AND refobjsubid = attnum
  )
)
"""


def saves_work(target: Target, connection: Any) -> bool:
    """Whether neighbours in time are neighbours on the disk, and no index has the column."""
    if connection.vendor != "postgresql" or target.source.model is not target.model:
        return False
    table = connection.ops.quote_name(target.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES_WITH_COLUMN, [table, target.field.column])
        if cursor.fetchone()[0]:
            return False
        cursor.execute(_CORRELATION, [table, target.source.column])
        found = cursor.fetchone()
    return found is None or abs(found[0] or 0.0) >= _ALIGNED
