"""Views that find a row by the public text in the URL."""

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
    """For generic views and viewsets: the id in the URL is a public text and nothing else.

    Without it, a bare id is found as well as one with its prefix. Either way a malformed id is
    404.
    """

    def get_object(self) -> Any:
        argument = self.lookup_url_kwarg or self.lookup_field
        field = id_at(self.get_queryset().model, self.lookup_field)
        if field is None or argument not in self.kwargs:
            return super().get_object()
        given = self.kwargs
        try:
            value = field.parse_public(given[argument])
        except ValidationError as error:
            raise Http404(error.messages[0]) from None
        self.kwargs = given | {argument: value}
        try:
            return super().get_object()
        finally:
            self.kwargs = given
