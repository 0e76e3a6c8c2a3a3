"""URLs that take only digits for an id that is no number, as far as a view's class shows it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.conf import settings
from django.core.checks import CheckMessage
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.regex_helper import normalize
from django.views.generic.detail import BaseDetailView, SingleObjectMixin
from django.views.generic.edit import BaseUpdateView

from ..fields import SortableIDField
from ..fields.of_model import id_at
from .definitions import Configs, usable
from .messages import message

_DETAIL_ACTIONS = ("retrieve", "update", "partial_update", "destroy")


def check_url_patterns(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """URLs of detail views that match no id of the view's model."""
    if not getattr(settings, "ROOT_URLCONF", None) or all(
        field.scheme.value_type is int for field in usable(None)
    ):
        return []
    return [
        message(
            "W007",
            _view(route.callback),
            url=route.url,
            parameter=name,
            field=field,
            example=field.scheme.format(field.scheme.example),
            pattern=field.public_text.pattern,
        )
        for route in routes(get_resolver().url_patterns)
        for name, field in _lookups(route.callback)
        if _takes_only_numbers(route, name, field)
    ]


class Route(NamedTuple):
    parts: tuple[Any, ...]
    """Django's patterns, from the root to the view."""
    callback: Any

    @property
    def url(self) -> str:
        return "".join(map(str, self.parts))

    def takes(self, parameter: str, text: str) -> bool | None:
        """Whether a URL may have that text as its parameter; None if it has no such parameter.

        As ``reverse()`` finds out: the text is filled in, and the pattern must match.
        """
        for part in self.parts:
            for url, names in normalize(part.regex.pattern):
                if parameter in names:
                    filled = url % {**dict.fromkeys(names, "1"), parameter: text}
                    return part.match(filled) is not None
        return None


def routes(patterns: Iterable[Any], before: tuple[Any, ...] = ()) -> Iterator[Route]:
    for each in patterns:
        parts = (*before, each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, parts)
        elif isinstance(each, URLPattern):
            yield Route(parts, each.callback)


def _view(callback: Any) -> Any:
    return getattr(callback, "view_class", None) or getattr(callback, "cls", None)


def _lookups(callback: Any) -> Iterator[tuple[str, SortableIDField]]:
    """URL parameter and id of each comparison by which the view finds its object.

    Nothing for views that find it in their own way, or that only list or create: their parameters
    may be of another model.
    """
    view = _view(callback)
    if not isinstance(view, type):
        return
    given = getattr(callback, "view_initkwargs", None) or getattr(callback, "initkwargs", None)

    def attribute(name: str) -> Any:
        return (given or {}).get(name, getattr(view, name, None))

    queryset = attribute("queryset")
    model = attribute("model") if queryset is None else getattr(queryset, "model", None)
    if not isinstance(model, type) or not issubclass(model, models.Model):
        return
    found = []
    if issubclass(view, BaseDetailView | BaseUpdateView):
        if view.get_object is SingleObjectMixin.get_object:
            found.append((attribute("pk_url_kwarg"), "pk"))
            found.append((attribute("slug_url_kwarg"), attribute("slug_field")))
    elif _finds_as_rest_framework(view, attribute("detail"), getattr(callback, "actions", None)):
        path = attribute("lookup_field")
        found.append((attribute("lookup_url_kwarg") or path, path))
    for name, path in found:
        field = id_at(model, path) if name else None
        if field is not None and not field.wrong_options:
            yield name, field


def _finds_as_rest_framework(view: Any, detail: bool | None, actions: Any) -> bool:
    """Whether it looks up one object; a router says so of its viewsets."""
    generics = sys.modules.get("rest_framework.generics")
    if generics is None or not issubclass(view, generics.GenericAPIView):
        return False
    from ..rest_framework import SortableIDLookupMixin

    usual = (generics.GenericAPIView.get_object, SortableIDLookupMixin.get_object)
    if view.get_object not in usual or detail is not None:
        return view.get_object in usual and bool(detail)
    taken = actions.values() if actions else dir(view)
    return not set(_DETAIL_ACTIONS).isdisjoint(taken)


def _takes_only_numbers(route: Route, parameter: str, field: SortableIDField) -> bool:
    """Whether the URL takes a number there, but no id of the field in any spelling."""
    example, text = field.scheme.example, field.public_text
    public = text.full_prefix + field.scheme.format(example, text.encoding)
    ids = (str(example), field.scheme.format(example), public)
    return bool(route.takes(parameter, "1")) and not any(
        route.takes(parameter, each) for each in ids
    )
