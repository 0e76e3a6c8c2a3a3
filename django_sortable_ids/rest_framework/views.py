"""Views that look up an object by the public text in the URL."""

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
        if field is None:
            self._refuse_other_key(model)
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

    def _refuse_other_key(self, model: Any) -> None:
        """Raises ``ImproperlyConfigured`` where a forgotten ``lookup_field`` shows other keys."""
        if self.lookup_field == "pk" and any(field.unique for field in id_fields(model)):
            name, kind = id_field(model).name, type(model._meta.pk).__name__
            raise ImproperlyConfigured(
                f"{type(self).__name__} looks up {model._meta.label} by its key, which is of type "
                f"{kind} and no sortable id: set lookup_field = {name!r}"
            )
