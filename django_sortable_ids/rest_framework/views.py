"""Views that look up an object by the public text in the URL, and cursors of such texts."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db.models.constants import LOOKUP_SEP
from django.http import Http404
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination

from ..fields import SortableIDField
from ..fields.of_model import field_at, id_at, id_field, id_fields
from ..ids import is_converted
from ..old_ids import Leftmost, RedirectOldIDs
from ..pagination import read_signed, signed
from .fields import AcceptOldIDs, ValueText

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.generics import GenericAPIView
    from rest_framework.pagination import Cursor
    from rest_framework.request import Request
    from rest_framework.views import APIView

    View = GenericAPIView[Any]
else:
    View = object


class SortableIDLookupMixin(Leftmost, View):
    """For generic views and viewsets: accepts only a public text as the id in the URL.

    Without it, a bare id is found as well as one with its prefix. Either way, a malformed id
    is 404. It stands to the left of the other classes.
    """

    def get_object(self) -> Any:
        argument = self.lookup_url_kwarg or self.lookup_field
        model = self.get_queryset().model
        field = id_at(model, self.lookup_field)
        if field is None and (reason := self.needed_lookup(model, self.lookup_field)):
            raise ImproperlyConfigured(reason)
        url_kwargs, match = self.kwargs, self.request.resolver_match
        if field is None or argument not in url_kwargs:
            return super().get_object()
        if match and is_converted(argument, match.url_name or match.func, match.namespaces):
            return super().get_object()
        try:
            value = field.parse_public(url_kwargs[argument])
        except ValidationError as error:
            raise Http404(error.messages[0]) from None
        self.kwargs = url_kwargs | {argument: value}
        try:
            return super().get_object()
        finally:
            self.kwargs = url_kwargs

    @classmethod
    def needed_lookup(cls, model: Any, path: str) -> str | None:
        """What is wrong where a forgotten ``lookup_field`` shows other keys; a check says it."""
        if path != "pk" or not any(field.unique for field in id_fields(model)):
            return None
        name, key_type = id_field(model).name, type(model._meta.pk).__name__
        return (
            f"{cls.__name__} looks up {model._meta.label} by its key, which is of type {key_type} "
            f"and no sortable id: set lookup_field = {name!r}"
        )


class SortableIDCursorPagination(CursorPagination):
    """``CursorPagination`` by an id, ``ordering = "-id"``, with the public text in its cursors.

    DRF's own cursors contain the Python value of the id, without its prefix and mask. For a column
    that is no id, this class does what DRF does. A masked text is signed: a forged cursor, or one
    of another column, is 404.
    """

    _id_field: SortableIDField | None
    _attribute: attrgetter[Any]

    def get_ordering(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> tuple[str, ...]:
        ordering = super().get_ordering(request, queryset, view)
        name = ordering[0].lstrip("-")
        self._id_field = id_at(queryset.model, name)
        *relations, last = name.split(LOOKUP_SEP)
        last = getattr(field_at(queryset.model, name), "attname", last)
        self._attribute = attrgetter(".".join([*relations, last]))
        return ordering

    def decode_cursor(self, request: Request) -> Cursor | None:
        cursor = super().decode_cursor(request)
        if cursor is None or cursor.position is None or self._id_field is None:
            return cursor
        try:
            value = read_signed(self._id_field, str(cursor.position))
        except ValueError:
            raise NotFound(self.invalid_cursor_message) from None
        position: Any = ValueText(signed(self._id_field, value), value)
        return cursor._replace(position=position)

    def _get_position_from_instance(self, instance: Any, ordering: Sequence[str]) -> str:
        if self._id_field is None:
            return super()._get_position_from_instance(instance, ordering)
        if isinstance(instance, dict):
            value = instance[ordering[0].lstrip("-")]
        else:
            value = self._attribute(instance)
        if value is None:
            return str(value)  # As in DRF, there is no page after a NULL: its cursor is 404.
        return ValueText(signed(self._id_field, value), value)


def hide_docstrings() -> None:
    """Keep docstrings out of descriptions; called once, when drf-spectacular is imported.

    Where the project's class has none, it shows the docstring of a base class.
    """
    for base in (AcceptOldIDs, SortableIDLookupMixin, RedirectOldIDs):
        base.__doc__ = None
