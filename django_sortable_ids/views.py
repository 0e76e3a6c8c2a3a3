"""Views whose URLs still work with the ids from before the move of a primary key."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from django.db import models
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
)
from django.urls import reverse

from .fields.of_model import id_at
from .old_ids import old_row

if TYPE_CHECKING:
    from django.views.generic.base import View
    from django.views.generic.detail import SingleObjectMixin

    class DetailView(SingleObjectMixin[Any], View): ...

else:
    DetailView = object

__all__ = ["HasOldID", "RedirectOldIDs", "redirect_to_row"]


class HasOldID(Http404):
    """The URL has the old id of ``row``. Where nothing redirects to the row, it isn't found."""

    def __init__(self, row: models.Model) -> None:
        super().__init__(f"{row._meta.verbose_name} has another id now")
        self.row = row


class RedirectOldIDs(DetailView):
    """For ``DetailView``, ``UpdateView``, ``DeleteView`` and others with ``get_object()``: a URL
    with the old id of a row redirects to the same URL with the public text of its present id.

    It stands to the left of the other classes. ``get_queryset()`` must contain the row: what a
    visitor may not see isn't found by the old id either. A present id needs no further query.
    The path must accept both ids: ``<str:pk>``, a converter of
    ``converters.register(accept_old=True)``, or a second path with ``<int:pk>`` of the same name.
    """

    redirect_permanently: bool = True
    """Answer 301, and 308 for methods other than GET and HEAD; if False, 302 and 307."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            answer = super().dispatch(request, *args, **kwargs)
        except HasOldID as found:
            return self._redirect(found)
        return self._later(answer) if isawaitable(answer) else answer

    def get_object(self, queryset: Any = None) -> Any:
        try:
            return super().get_object(queryset)
        except Http404:
            rows = self.get_queryset() if queryset is None else queryset
            row = old_row(rows, self.kwargs.get(self.pk_url_kwarg))
            if row is None:
                raise
            raise HasOldID(row) from None

    async def _later(self, answer: Awaitable[Any]) -> Any:
        try:
            return await answer
        except HasOldID as found:
            return self._redirect(found)

    def _redirect(self, found: HasOldID) -> HttpResponse:
        return redirect_to_row(
            self.request, self.pk_url_kwarg, found.row, permanently=self.redirect_permanently
        )


def redirect_to_row(
    request: HttpRequest, argument: str, row: models.Model, *, permanently: bool = True
) -> HttpResponse:
    """A redirect to the request's own route, with the public text of the row's key as its
    ``argument``.

    The status is that of ``RedirectOldIDs.redirect_permanently``.
    """
    key = id_at(type(row), "pk")
    if request.resolver_match is None or key is None:
        raise HasOldID(row)
    text = key.public_text.format(row.pk)
    return redirect_to_route(request, {argument: text}, permanently=permanently)


def redirect_to_route(
    request: HttpRequest, changes: dict[str, Any], *, permanently: bool = True
) -> HttpResponse:
    """A redirect to the request's own route with other arguments, and with its query string."""
    match = request.resolver_match
    assert match is not None
    url = reverse(
        match.view_name if match.url_name else match.func,
        urlconf=getattr(request, "urlconf", None),
        kwargs=match.kwargs | changes,
    )
    if query := request.META.get("QUERY_STRING"):
        url = f"{url}?{query}"
    redirect = HttpResponsePermanentRedirect if permanently else HttpResponseRedirect
    return redirect(url, preserve_request=request.method not in ("GET", "HEAD"))
