"""PostgreSQL arrays of ids: ``contains``, ``contained_by``, ``overlap`` and ``exact``.

Django passes the members of a list to the database as they are in Python. Here each one is stored
as the id's column stores it.
"""

import sys
from typing import Any

from django.db.models import Value

from ..fields import SortableIDField

_MODULE = "django.contrib.postgres.fields.array"
_LOOKUPS = ("ArrayContains", "ArrayContainedBy", "ArrayOverlap", "ArrayExact")


class _OfIDs:
    def __init__(self, lhs: Any, rhs: Any) -> None:
        base = lhs.output_field.base_field
        if isinstance(base, SortableIDField) and isinstance(rhs, list | tuple):
            rhs = [each if each is None else _stored(base, each) for each in rhs]
        super().__init__(lhs, rhs)  # type: ignore[call-arg]


def _stored(field: SortableIDField, member: Any) -> Any:
    is_expression = hasattr(member, "resolve_expression")
    return member if is_expression else Value(member, output_field=field)


def register() -> None:
    """Register the lookups; called after ``ArrayField`` is imported, which needs psycopg."""
    arrays: Any = sys.modules[_MODULE]
    for name in _LOOKUPS:
        usual = getattr(arrays, name)
        # A pickled query refers to the class by its name in this module.
        ours = type(name, (_OfIDs, usual), {"__module__": __name__})
        globals()[name] = arrays.ArrayField.register_lookup(ours)
