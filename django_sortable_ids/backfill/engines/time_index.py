"""The index on the creation time by which MariaDB and MySQL read the rows of a batch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...db import tables
from ...db.introspection import named_rows
from ..target import Target

_TABLE = """
SELECT engine, create_options FROM information_schema.tables
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
"""


class TimeIndex(NamedTuple):
    name: str
    is_in_order: bool
    """Whether a range of it gives the rows in the order of (creation time, key) by itself."""


def time_index(target: Target, connection: Any) -> TimeIndex | None:
    """One that begins with the time, and rather one in order; None without any.

    An index of InnoDB ends in the primary key. An UPDATE reads a range of it in its order, whatever
    ``mrr`` in ``optimizer_switch`` says, and so does what needs nothing but the index; nobody
    promises that for a table in partitions.
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
    # A hint that names an index which is switched off is an error.
    is_off = part.get("Visible") == "NO" or part.get("Ignored") == "YES"
    return part["Seq_in_index"] == 1 and part["Column_name"] == column and not is_off


def _columns_in_order(parts: Sequence[dict[str, Any]], name: str) -> list[str] | None:
    """None where one of them descends, or only its beginning is in the index."""
    of_index = [part for part in parts if part["Key_name"] == name]
    if any(part["Collation"] != "A" or part["Sub_part"] for part in of_index):
        return None
    return [part["Column_name"] for part in sorted(of_index, key=lambda part: part["Seq_in_index"])]
