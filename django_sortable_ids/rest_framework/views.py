"""Views that look up an object by the public text in the URL."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.http import Http404

from ..fields.of_model import id_at, id_field, id_fields
from ..mixins import Leftmost

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

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
        for reason in () if field else self.needed_lookup(model, self.lookup_field):
            raise ImproperlyConfigured(reason)
        if field is None or argument not in self.kwargs:
            return super().get_object()
        url_kwargs = self.kwargs
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
    def needed_lookup(cls, model: Any, path: str) -> Iterator[str]:
        """What is wrong where a forgotten ``lookup_field`` shows other keys, as the system check
        says, too."""
        if path == "pk" and any(field.unique for field in id_fields(model)):
            name, kind = id_field(model).name, type(model._meta.pk).__name__
            yield (
                f"{cls.__name__} looks up {model._meta.label} by its key, which is of type {kind} "
                f"and no sortable id: set lookup_field = {name!r}"
            )
