"""The index on the creation time from which MariaDB and MySQL read the rows of a batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...db import tables
from ...db.queries import named_rows
from ..target import Target

_TABLE = """
SELECT engine, create_options FROM information_schema.tables
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
"""


class TimeIndex(NamedTuple):
    name: str
    is_in_order: bool
    """Whether a range of it gives the rows in the order of (creation time, key) without a sort."""


def time_index(target: Target, connection: Any) -> TimeIndex | None:
    """An index that begins with the time, preferably one in order; None if there is none.

    An index of InnoDB ends in the primary key. An UPDATE reads a range of it in its order, whatever
    ``mrr`` in ``optimizer_switch`` is, and so does an index-only query. This is not guaranteed for
    a partitioned table.
    """
    with connection.cursor() as cursor:
        table = target.model._meta.db_table
        cursor.execute(f"SHOW INDEX FROM {connection.ops.quote_name(table)}")
        parts = named_rows(cursor)
        cursor.execute(_TABLE, tables.split(connection, table))
        engine, options = cursor.fetchone()
    for part in parts:
        part["Column_name"] = tables.folded(connection, part["Column_name"] or "")
    keys = [tables.folded(connection, str(key.column)) for key in target.key_fields]
    ends_in_key = (
        engine == "InnoDB"
        and "partitioned" not in (options or "")
        and _columns_in_order(parts, "PRIMARY") == keys
    )
    time = tables.folded(connection, str(target.source.column))
    found = [
        TimeIndex(name, ends_in_key and _columns_in_order(parts, name) == [time])
        for name in (part["Key_name"] for part in parts if _begins_with(part, time))
    ]
    return max(found, key=lambda index: index.is_in_order, default=None)


def _begins_with(part: dict[str, Any], column: str) -> bool:
    # A hint with an invisible or ignored index is an error.
    is_off = part.get("Visible") == "NO" or part.get("Ignored") == "YES"
    return part["Seq_in_index"] == 1 and part["Column_name"] == column and not is_off


def _columns_in_order(parts: Sequence[dict[str, Any]], name: str) -> list[str] | None:
    """The columns of an index; None if one of them descends, or if only a prefix is indexed."""
    of_index = [part for part in parts if part["Key_name"] == name]
    if any(part["Collation"] != "A" or part["Sub_part"] for part in of_index):
        return None
    return [part["Column_name"] for part in sorted(of_index, key=lambda part: part["Seq_in_index"])]
