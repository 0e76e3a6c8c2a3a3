"""Django REST framework: cursors whose position is a public text, and counts of large tables.

Import the public names from ``rest_framework``.
"""

from typing import TYPE_CHECKING, Any, get_args

from django.db.models import ForeignObject
from django.utils.translation import gettext
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.response import Response

from ..db.counting import Count, Precision, count
from ..fields import SortableIDField
from ..fields.of_model import field_at, id_at
from ..pagination import read_signed, signed
from ..schemes import ID
from .fields import ValueText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from rest_framework.pagination import Cursor
    from rest_framework.request import Request
    from rest_framework.views import APIView


class SortableIDCursorPagination(CursorPagination):
    """``CursorPagination`` by an id, ``ordering = "-id"``, with the public text in its cursors.

    DRF's own cursors contain the Python value of the id, without its prefix and mask. For a column
    that is no id, this class does what DRF does. A masked text is signed: a forged cursor, or one
    of another column, is 404.
    """

    _id_field: SortableIDField | None
    _attname: str

    def get_ordering(
        self, request: "Request", queryset: "QuerySet[Any]", view: "APIView"
    ) -> tuple[str, ...]:
        ordering = super().get_ordering(request, queryset, view)
        name = ordering[0].lstrip("-")
        annotation = queryset.query.annotations.get(name)
        if annotation is not None:
            # Such as F("id").
            field = getattr(annotation, "_output_field_or_none", None)
            self._id_field = field if isinstance(field, SortableIDField) else None
            self._attname = name
            return ordering
        self._id_field = id_at(queryset.model, name)
        column = field_at(queryset.model, name)
        self._attname = column.attname if isinstance(column, ForeignObject) else name
        return ordering

    def decode_cursor(self, request: "Request") -> "Cursor | None":
        cursor = super().decode_cursor(request)
        if cursor is None or cursor.position is None or self._id_field is None:
            return cursor
        try:
            value = read_signed(self._id_field, str(cursor.position))
        except ValueError:
            raise NotFound(self.invalid_cursor_message) from None
        position: Any = _position(self._id_field, value)
        return cursor._replace(position=position)

    def _get_position_from_instance(self, instance: Any, ordering: "Sequence[str]") -> str:
        if self._id_field is None:
            return super()._get_position_from_instance(instance, ordering)
        if isinstance(instance, dict):
            value = instance[ordering[0].lstrip("-")]
        else:
            value = getattr(instance, self._attname)
        # As in DRF, there is no page after a NULL: its cursor is 404.
        return str(value) if value is None else _position(self._id_field, value)


def _position(field: SortableIDField, value: ID) -> ValueText:
    return ValueText(signed(field, value), value)


class SortableIDCountedCursorPagination(SortableIDCursorPagination):
    """``SortableIDCursorPagination`` whose answers also have the number of all rows.

    ``count`` is exact up to ``exact_up_to`` rows; ``count_precision`` is then ``"exact"``. Above
    that it is ``"estimated"`` by PostgreSQL, MariaDB or MySQL, or the ``"minimum"`` that there are.
    """

    exact_up_to: int = 10_000
    """The number of rows up to which the count is exact."""
    count: Count

    def paginate_queryset(
        self, queryset: Any, request: "Request", view: "APIView | None" = None
    ) -> "list[Any] | None":
        page: list[Any] | None = super().paginate_queryset(queryset, request, view)
        if page is not None:
            self.count = count(queryset, self.exact_up_to)
        return page

    def get_paginated_response(self, data: Any) -> Response:
        answer = super().get_paginated_response(data)
        known = {"count": int(self.count), "count_precision": self.count.precision}
        answer.data = known | answer.data
        return answer

    def get_paginated_response_schema(self, schema: Any) -> dict[str, Any]:
        described: dict[str, Any] = super().get_paginated_response_schema(schema)
        return {
            **described,
            "required": ["count", "count_precision", *described["required"]],
            "properties": {
                "count": {"type": "integer", "minimum": 0, "example": 123},
                "count_precision": {
                    "type": "string",
                    "enum": [*get_args(Precision)],
                    "description": gettext(
                        "Whether the count is exact, estimated by the database, or the minimum."
                    ),
                },
                **described["properties"],
            },
        }
