"""Views whose URLs still work with the ids from before the move of a primary key."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.urls import get_script_prefix, resolve, reverse

from ..fields.of_model import id_at
from ..schemes import TimeScheme
from .resolving import old_key, present_key, resolve_ids

if TYPE_CHECKING:
    from django.views.generic.base import View
else:
    View = object

_READING = ("GET", "HEAD")
_OF_CACHES = ("Cache-Control", "Vary")


class Leftmost:
    # To the left of what it extends. A docstring would describe each view of a project in OpenAPI.
    def __init_subclass__(cls, **options: Any) -> None:
        """Raises ``ImproperlyConfigured`` where a class of Django or of REST framework hides it."""
        super().__init_subclass__(**options)
        order = cls.__mro__
        for place, mixin in enumerate(order):
            if Leftmost not in mixin.__bases__:
                continue
            extended = {name for name in vars(mixin) if not name.startswith("_")}
            for base in order[:place]:
                is_hidden = not extended.isdisjoint(vars(base))
                if is_hidden and base.__module__.partition(".")[0] in ("django", "rest_framework"):
                    raise ImproperlyConfigured(
                        f"{cls.__name__}: {mixin.__name__} stands to the right of {base.__name__}, "
                        f"where it has no effect: write it first in the parentheses"
                    )


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
        if iscoroutinefunction(usual):
            raise ImproperlyConfigured(
                f"{cls.__name__} is async, and RedirectOldIDs is not: call resolve_id() in the view"
            )
        of_view: Any = cls(**options)
        name, rows = _argument_and_rows(of_view)

        @wraps(usual)
        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            url = _present_url(request, rows, name, kwargs.get(name))
            if url is None:
                return usual(request, *args, **kwargs)
            path = "/" + unquote(url).removeprefix(get_script_prefix())
            match: Any = resolve(path)
            request.resolver_match = match
            answer = match.func(request, *args, **match.kwargs)
            if request.method not in _READING or not 200 <= answer.status_code < 300:
                return answer
            redirect: Any = redirect_to(request, url, permanently=of_view.redirect_permanently)
            for header in _OF_CACHES:
                if header in answer.headers:
                    redirect.headers[header] = answer.headers[header]
            redirect._resource_closers.extend(answer._resource_closers)  # files of a FileResponse
            return redirect

        return view


def _argument_and_rows(view: Any) -> tuple[str, QuerySet[Any]]:
    """The argument of the view's URLs that may be an old id, empty for none; and all rows."""
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
    return name, model._base_manager.using(None if queryset is None else queryset._db)


def _present_url(request: HttpRequest, rows: QuerySet[Any], name: str, argument: Any) -> str | None:
    """The URL with the present id, if the URL of the request has an old one."""
    model = rows.model
    key, old = id_at(model, "pk"), old_key(model)
    if request.resolver_match is None or not (key and old and old.values(argument)):
        return None
    pk = resolve_ids(rows, [argument]).get(argument)
    presents = present_key(model).values(argument)
    if presents and pk in (None, *presents):
        return None
    if pk is None:
        if request.method not in _READING or not isinstance(key.scheme, TimeScheme):
            return None
        # The view answers as for a present id that no row has, by as many queries as for a row
        # that it hides.
        pk = key.scheme.generate()
    return url_with(request, {name: key.public_text.format(pk)})


def url_with(request: HttpRequest, changes: dict[str, Any]) -> str:
    """The URL of the request's own route with other arguments."""
    match = request.resolver_match
    assert match is not None
    return reverse(
        match.view_name if match.url_name else match.func,
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
