"""django-tree-queries: the path of a node has values of its key, by which ancestors are found.

Descendants are found by the text of a key in the path. Where the database has no arrays, that of
bytes can't be.
"""

from typing import Any

from django.db import NotSupportedError
from tree_queries.compiler import SEPARATOR, TreeArrayContains, TreeArrayField

from ..fields import SortableIDField
from ..fields.values.storage import BinaryStorage

_usual_path = TreeArrayField.from_db_value
_usual_contains = TreeArrayContains.as_sql


def register() -> None:
    TreeArrayField.from_db_value = _from_db_value
    TreeArrayContains.as_sql = _contains


def _from_db_value(column: Any, stored: Any, expression: Any, connection: Any) -> Any:
    key = column.source_field
    if stored is None or not isinstance(key, SortableIDField):
        return _usual_path(column, stored, expression, connection)
    members = stored.split(SEPARATOR)[1:-1] if isinstance(stored, str) else stored
    if key.scheme.value_type is int:
        members = map(int, members)
    return list(map(key.stored(connection).reader(key.scheme, key), members))


def _contains(lookup: Any, compiler: Any, connection: Any) -> Any:
    key = lookup.lhs.output_field.source_field
    if isinstance(key, SortableIDField) and isinstance(key.stored(connection), BinaryStorage):
        raise NotSupportedError(
            f"{key}: {connection.vendor} can't search the trees of keys that are stored as bytes. "
            "Store them otherwise, such as by storage='uuid'"
        )
    return _usual_contains(lookup, compiler, connection)
