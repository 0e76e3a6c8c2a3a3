"""URLs that take only digits for an id that is no number, as far as a view's class shows it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage
from django.db import models
from django.urls import get_resolver

from ..fields import SortableIDField
from ..fields.of_model import id_at
from . import messages
from .definitions import Configs, usable
from .routes import Route, routes

_DETAIL_ACTIONS = frozenset({"retrieve", "update", "partial_update", "destroy"})


def check_url_patterns(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """URLs of detail views that match no id of the view's model."""
    if not getattr(settings, "ROOT_URLCONF", None) or all(
        field.scheme.value_type is int for field in usable(None)
    ):
        return []
    problems = []
    for route in routes(get_resolver().url_patterns):
        view = _View(route.callback)
        for name, path in view.lookups():
            field = view.id_at(path) if name else None
            if field is not None and _takes_only_numbers(route, name, field):
                problems.append(messages.url_takes_only_numbers(field, view.cls, name, route.url))
    return problems


class _View:
    """A class of Django or DRF with the arguments of its ``as_view``."""

    def __init__(self, callback: Any) -> None:
        self.cls: Any = getattr(callback, "view_class", None) or getattr(callback, "cls", None)
        self._arguments = {
            **(getattr(callback, "view_initkwargs", None) or {}),
            **(getattr(callback, "initkwargs", None) or {}),
        }
        self._actions = getattr(callback, "actions", None) or {}

    def _get(self, name: str) -> Any:
        return self._arguments.get(name, getattr(self.cls, name, None))

    @property
    def model(self) -> type[models.Model] | None:
        """The model that the class names; None if it names none."""
        queryset = self._get("queryset")
        model = self._get("model") if queryset is None else getattr(queryset, "model", None)
        return model if isinstance(model, type) and issubclass(model, models.Model) else None

    def id_at(self, path: str) -> SortableIDField | None:
        """The sortable id at that path of the view's model; None if the class names no model, or if
        the options of the id are wrong."""
        field = None if self.model is None else id_at(self.model, path)
        return None if field is None or field.wrong_options else field

    def lookups(self) -> Iterator[tuple[str, str]]:
        """URL parameter and column of each comparison by which the view finds its object.

        Nothing for views that find it in their own way, or that only list or create: their
        parameters may be of another model.
        """
        if not isinstance(self.cls, type):
            return
        if self._finds_as_django():
            yield self._get("pk_url_kwarg"), "pk"
            yield self._get("slug_url_kwarg"), self._get("slug_field")
        elif self._finds_as_rest_framework():
            yield (
                self._get("lookup_url_kwarg") or self._get("lookup_field"),
                self._get("lookup_field"),
            )

    def _finds_as_django(self) -> bool:
        from django.views.generic.detail import BaseDetailView, SingleObjectMixin
        from django.views.generic.edit import BaseUpdateView

        return issubclass(self.cls, BaseDetailView | BaseUpdateView) and (
            self.cls.get_object is SingleObjectMixin.get_object
        )

    def _finds_as_rest_framework(self) -> bool:
        generics = sys.modules.get("rest_framework.generics")
        if generics is None:
            return False
        from ..rest_framework import SortableIDLookupMixin

        return (
            issubclass(self.cls, generics.GenericAPIView)
            and self.cls.get_object
            in (
                generics.GenericAPIView.get_object,
                SortableIDLookupMixin.get_object,
            )
            and self._has_detail()
        )

    def _has_detail(self) -> bool:
        """Whether it looks up one object; a router says so of its viewsets."""
        detail = self._get("detail")
        if detail is not None:
            return bool(detail)
        return any(
            each in self._actions.values() if self._actions else hasattr(self.cls, each)
            for each in _DETAIL_ACTIONS
        )


def _takes_only_numbers(route: Route, parameter: str, field: SortableIDField) -> bool:
    """Whether the URL takes a number there, but no id of the field in any spelling."""
    example, text = field.scheme.example, field.public_text
    public = text.full_prefix + field.scheme.format(example, text.encoding)
    ids = (str(example), field.scheme.format(example), public)
    return bool(route.takes(parameter, "1")) and not any(
        route.takes(parameter, each) for each in ids
    )
