"""Views whose URLs still work with the ids from before the move of a primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import Http404

from ..old_ids import old_row
from ..views import HasOldID, redirect_to_row

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView[Any]
else:
    View = object


class RedirectOldIDs(View):
    """For generic views and viewsets: a URL with the old id of a row redirects to the same URL with
    the public text of its present id.

    It stands to the left of the other classes. The row must be among those of ``get_queryset()``
    and the view's filters, and its permissions are checked first. A present id needs no further
    query. ``lookup_field`` must be the primary key, and the route must accept both ids, as those of
    DRF's routers do without ``lookup_value_regex``.
    """

    redirect_permanently: bool = True
    """Answer 301, and 308 for methods other than GET and HEAD; if False, 302 and 307."""

    def get_object(self) -> Any:
        try:
            return super().get_object()
        except Http404:
            rows = self.filter_queryset(self.get_queryset())
            is_key = self.lookup_field in ("pk", rows.model._meta.pk.name)
            row = old_row(rows, self.kwargs[self._argument]) if is_key else None
            if row is None:
                raise
        self.check_object_permissions(self.request, row)
        raise HasOldID(row)

    def handle_exception(self, exc: Exception) -> Any:
        if not isinstance(exc, HasOldID):
            return super().handle_exception(exc)
        return redirect_to_row(
            self.request, self._argument, exc.row, permanently=self.redirect_permanently
        )

    @property
    def _argument(self) -> str:
        return self.lookup_url_kwarg or self.lookup_field
