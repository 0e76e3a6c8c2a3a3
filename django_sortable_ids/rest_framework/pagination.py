"""Django REST framework: cursors whose position is a public text."""

from typing import TYPE_CHECKING, Any

from django.db.models import ForeignObject
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination

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
