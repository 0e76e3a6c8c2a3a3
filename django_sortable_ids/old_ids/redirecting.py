"""Views whose URLs still work with the ids from before the move of a primary key."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.urls import ResolverMatch, get_script_prefix, resolve, reverse

from ..fields.of_model import id_at
from ..mixins import Leftmost
from ..schemes import TimeScheme
from .resolving import old_key, present_key, resolve_ids

if TYPE_CHECKING:
    from django.views.generic.base import View
else:
    View = object

__all__ = ["RedirectOldIDs"]

_READING = ("GET", "HEAD")
_OF_CACHES = ("Cache-Control", "Vary")


class RedirectOldIDs(Leftmost, View):
    """For class-based views of one row, of Django and of Django REST framework: a URL with the old
    id of a row redirects to the same URL with the public text of its present id.

    The view runs as if the present id had been in the URL. Only a successful answer (2xx) to GET or
    HEAD is replaced by the redirect. The class stands to the left of the others, and needs
    ``model`` or ``queryset``. In REST, ``lookup_field`` must be the primary key.
    """

    redirect_permanently: bool = True
    """Answer 301; if False, 302."""

    @classmethod
    def as_view(cls, *args: Any, **options: Any) -> Any:
        usual: Any = super().as_view(*args, **options)
        of_view = _Argument.of(cls(**options))

        if iscoroutinefunction(usual):
            raise ImproperlyConfigured(
                f"{cls.__name__} is async, and RedirectOldIDs is not: call resolve_id() in the view"
            )

        @wraps(usual)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            present = of_view.present(request, kwargs)
            if present is None:
                return usual(request, *args, **kwargs)
            return present.answer(present.match.func(request, *args, **present.match.kwargs))

        return view


class _Present(NamedTuple):
    """A request as it would be with the present id."""

    request: HttpRequest
    url: str
    match: ResolverMatch
    permanently: bool

    def answer(self, found: Any) -> Any:
        """What the view answered, or the redirect if that was a success."""
        if self.request.method not in _READING or not 200 <= found.status_code < 300:
            return found
        redirect: Any = redirect_to(self.request, self.url, permanently=self.permanently)
        for name in _OF_CACHES:
            if name in found.headers:
                redirect.headers[name] = found.headers[name]
        redirect._resource_closers.extend(found._resource_closers)  # the files of a FileResponse
        return redirect


class _Argument(NamedTuple):
    """The argument of a view's URLs that may be an old id."""

    name: str
    rows: QuerySet[Any]
    permanently: bool

    @classmethod
    def of(cls, view: Any) -> _Argument:
        queryset: Any = getattr(view, "queryset", None)
        model: Any = getattr(view, "model", None) if queryset is None else queryset.model
        if model is None:
            raise ImproperlyConfigured(
                f"{type(view).__name__} has neither a model nor a queryset, so RedirectOldIDs has "
                f"no rows with old ids: set `model` in the class, also next to a get_queryset()"
            )
        lookup = getattr(view, "lookup_field", None)
        if lookup is None:
            name = getattr(view, "pk_url_kwarg", "pk")
        else:
            is_key = lookup in ("pk", model._meta.pk.name)
            name = (view.lookup_url_kwarg or lookup) if is_key else ""
        # The view itself decides which rows are seen, so all are looked up here.
        rows = model._base_manager.using(None if queryset is None else queryset._db)
        return cls(name, rows, view.redirect_permanently)

    def present(self, request: HttpRequest, kwargs: dict[str, Any]) -> _Present | None:
        """The request with the present id, if that of the URL is none."""
        model, given = self.rows.model, kwargs.get(self.name)
        key, old = id_at(model, "pk"), old_key(model)
        if request.resolver_match is None or not (key and old and old.values(given)):
            return None
        found = resolve_ids(self.rows, [given]).get(given)
        presents = present_key(model).values(given)
        if presents and found in (None, *presents):
            return None
        if found is None:
            if request.method not in _READING or not isinstance(key.scheme, TimeScheme):
                return None
            # The view answers as for a present id that no row has, by as many queries as for a row
            # that it hides.
            found = key.scheme.generate()
        url = url_with(request, {self.name: key.public_text.format(found)})
        path = "/" + unquote(url).removeprefix(get_script_prefix())
        match = resolve(path, getattr(request, "urlconf", None))
        request.resolver_match = match
        return _Present(request, url, match, self.permanently)


def url_with(request: HttpRequest, changes: dict[str, Any]) -> str:
    """The URL of the request's own route with other arguments."""
    match = request.resolver_match
    assert match is not None
    return reverse(
        match.view_name if match.url_name else match.func,
        urlconf=getattr(request, "urlconf", None),
        kwargs=match.kwargs | changes,
    )


def redirect_to(
    request: HttpRequest, url: str, *, permanently: bool
) -> HttpResponseRedirect | HttpResponsePermanentRedirect:
    """A redirect to the URL, with the query string and the method of the request."""
    if query := request.META.get("QUERY_STRING"):
        url = f"{url}?{query}"
    redirect = HttpResponsePermanentRedirect if permanently else HttpResponseRedirect
    return redirect(url, preserve_request=request.method not in _READING)
