"""Views that look up an object by the public text in the URL."""

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.http import Http404

from ..fields.of_model import id_at

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView[Any]
else:
    View = object


class SortableIDLookupMixin(View):
    """For generic views and viewsets: accepts only a public text as the id in the URL.

    Without it, a bare id is found as well as one with its prefix. Either way, a malformed id
    is 404.
    """

    def get_object(self) -> Any:
        argument = self.lookup_url_kwarg or self.lookup_field
        field = id_at(self.get_queryset().model, self.lookup_field)
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
