"""Checks of URLs and views, as far as the classes of views show it: URLs that take only digits for
an id that is no number, views that look up another key, and views that reveal the time of masked
ids."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize
from django.views.generic.detail import BaseDetailView
from django.views.generic.edit import BaseUpdateView

from ..fields import SortableIDField
from ..fields.of_model import id_at, usable_fields
from ..old_ids import old_key
from . import message
from .definitions import Configs, masked_user_key

_USUAL = ("django.views.generic.", "rest_framework.", "django_sortable_ids.")
"""Modules with a ``get_object`` that finds the object by the attributes of the view."""
_DETAIL_ACTIONS = ("retrieve", "update", "destroy")


def check_views(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    if not getattr(settings, "ROOT_URLCONF", None) or not usable_fields(apps.get_models()):
        return []
    user_key = masked_user_key()
    problems: list[CheckMessage] = []
    routes: dict[str, _Route] = {}
    for route in _routes(get_resolver().url_patterns):
        routes.setdefault(route.url, route)  # No request reaches another one of the same URL.
    for route in routes.values():
        problems += _check_lookups(route)
        problems += _check_masks(route.callback, user_key)
    return [problem for place, problem in enumerate(problems) if problem not in problems[:place]]


def _check_lookups(route: _Route) -> Iterator[CheckMessage]:
    """URLs of detail views that match no id of the view's model, and views without what
    ``SortableIDLookupMixin`` needs."""
    for view, model, name, path in _lookups(route.callback):
        field = id_at(model, path) if name else None
        if field is None and (needed := getattr(view, "needed_lookup", None)):
            if reason := needed(model, path):
                yield message("E020", view, reason=reason)
        elif field and not field.wrong_options and _takes_only_numbers(route, view, name, field):
            example, pattern = field.public_text.example, field.public_text.pattern
            pattern += r"|\d+" if field.primary_key and old_key(field.model) else ""
            values = {"url": route.url, "parameter": name, "field": field, "pattern": pattern}
            yield message("W007", view, **values, example=example)


class _Route(NamedTuple):
    parts: tuple[Any, ...]
    """Django's patterns, from the root to the view."""
    callback: Any

    @property
    def url(self) -> str:
        return "".join(map(str, self.parts))

    def takes(self, parameter: str, text: str) -> bool:
        """Whether a URL may have that text as its parameter: whether the pattern matches the URL
        that ``reverse()`` would write."""
        for part in self.parts:
            for url, names in normalize(part.regex.pattern):
                if parameter in names:
                    for name in names:
                        url = url.replace(f"%({name})s", text if name == parameter else "1")
                    return part.match(url) is not None
        return False


def _routes(patterns: Iterable[Any], before: tuple[Any, ...] = ()) -> Iterator[_Route]:
    for url in patterns:
        parts = (*before, url.pattern)
        if isinstance(url, URLResolver):
            yield from _routes(url.url_patterns, parts)
        elif isinstance(url, URLPattern):
            yield _Route(parts, url.callback)


def _lookups(callback: Any) -> Iterator[tuple[type, type[models.Model], Any, Any]]:
    """The class of the view, its model, and URL parameter and path of each comparison by which it
    finds its object. Nothing for views that only list or create: their parameters may be of another
    model."""
    view: Any = getattr(callback, "view_class", None) or getattr(callback, "cls", None)
    passed = getattr(callback, "view_initkwargs", None) or getattr(callback, "initkwargs", None)

    def attribute(name: str) -> Any:
        return (passed or {}).get(name, getattr(view, name, None))

    find = getattr(view, "get_object", None)
    if find is None or not find.__module__.startswith(_USUAL):
        return
    queryset = attribute("queryset")
    model = attribute("model") if queryset is None else getattr(queryset, "model", None)
    if not isinstance(model, type) or not issubclass(model, models.Model):
        return
    if issubclass(view, BaseDetailView | BaseUpdateView):
        yield view, model, attribute("pk_url_kwarg"), "pk"
        yield view, model, attribute("slug_url_kwarg"), attribute("slug_field")
    elif path := attribute("lookup_field"):
        # A router says of each URL of a viewset whether it is of one object.
        has_one = any(hasattr(view, action) for action in _DETAIL_ACTIONS)
        if attribute("detail") if hasattr(callback, "actions") else has_one:
            yield view, model, attribute("lookup_url_kwarg") or path, path


def _takes_only_numbers(route: _Route, view: Any, parameter: str, field: SortableIDField) -> bool:
    # SortableIDLookupMixin takes public texts only.
    bare = () if hasattr(view, "needed_lookup") else (str(field.scheme.example),)
    takes_id = any(route.takes(parameter, text) for text in (field.public_text.example, *bare))
    return route.takes(parameter, "1") and not takes_id


# Masked ids


def _check_masks(callback: Any, user_key: SortableIDField | None) -> Iterator[CheckMessage]:
    """A view that shows masked ids without the mask."""
    if user_key is not None and _sends_unmasked_links(callback):
        yield message("E010", user_key, view=callback.view_class.__name__, field=user_key)
    view: Any = getattr(callback, "cls", None)
    if field := masked_in_cursors(view):
        yield message("W006", view, view=view.__name__, field=field)


def _sends_unmasked_links(callback: Any) -> bool:
    views = sys.modules.get("django.contrib.auth.views")
    view = getattr(callback, "view_class", None)
    if views is None or view is None or not issubclass(view, views.PasswordResetView):
        return False
    form = getattr(callback, "view_initkwargs", {}).get("form_class", view.form_class)
    usual = views.PasswordResetForm
    # A form that builds its own links may be that of this package, or can't be checked.
    return form.save is usual.save and form.send_mail is usual.send_mail


def masked_in_cursors(view: Any) -> SortableIDField | None:
    """A masked id of the model, or of one that it refers to, if the view's list has DRF's own
    cursors: these show the column by which a request or a method of the view orders."""
    pagination = sys.modules.get("rest_framework.pagination")
    paginator = getattr(view, "pagination_class", None)
    model = getattr(getattr(view, "queryset", None), "model", None)
    if model is None:  # A method returns the queryset.
        meta = getattr(getattr(view, "serializer_class", None), "Meta", None)
        model = getattr(meta, "model", None)
    if pagination is None or model is None or not isinstance(paginator, type):
        return None
    from ..rest_framework import SortableIDCursorPagination

    ours = SortableIDCursorPagination
    if issubclass(paginator, ours) or not issubclass(paginator, pagination.CursorPagination):
        return None
    fields = (id_at(model, field.name) for field in model._meta.fields)
    return next((field for field in fields if field is not None and field.masked), None)
