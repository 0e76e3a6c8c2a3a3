"""Checks of masked ids: what would reveal their time in spite of the mask."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.urls import get_resolver

from .. import conf
from ..fields import SortableIDField
from ..fields.of_model import id_at
from .definitions import Configs, usable
from .messages import message
from .url_patterns import routes

_COOKIES = "django.contrib.sessions.backends.signed_cookies"


def check_masks(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Masked ids without a mask key, and session cookies that show masked ids."""
    masked = [field for field in usable(app_configs) if field.masked]
    problems: list[CheckMessage] = []
    reason = _mask_key_error() if masked else None
    if reason:
        problems += [message("E011", field, reason=reason) for field in masked]
    user_key = _masked_user_key()
    if user_key in masked and settings.SESSION_ENGINE == _COOKIES:
        problems.append(message("W005", user_key))
    return problems


def check_views(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Views of the project that show masked ids without the mask."""
    if not getattr(settings, "ROOT_URLCONF", None) or not any(
        field.masked for field in usable(None)
    ):
        return []
    problems = {}
    user_key = _masked_user_key()
    for callback in (route.callback for route in routes(get_resolver().url_patterns)):
        if user_key is not None and _sends_unmasked_links(callback):
            view = callback.view_class.__name__
            problems[callback, "E010"] = message("E010", user_key, view=view, field=user_key)
        field = masked_in_cursors(getattr(callback, "cls", None))
        if field is not None:
            found = message("W006", callback.cls, view=callback.cls.__name__, field=field)
            problems[callback.cls, "W006"] = found
    return list(problems.values())


def _mask_key_error() -> str | None:
    try:
        conf.guard_migrations()
    except ImproperlyConfigured:
        return None  # check_definitions reports it
    try:
        conf.mask_keys()
    except ImproperlyConfigured as error:
        return str(error)
    return None


def _masked_user_key() -> SortableIDField | None:
    if not apps.is_installed("django.contrib.auth"):
        return None
    try:
        user = apps.get_model(settings.AUTH_USER_MODEL)
    except (LookupError, ValueError):
        return None  # Django reports it
    key = id_at(user, "pk")
    return key if key is not None and key.masked else None


def _sends_unmasked_links(callback: Any) -> bool:
    view = getattr(callback, "view_class", None)
    if view is None:
        return False
    from django.contrib.auth.forms import PasswordResetForm
    from django.contrib.auth.views import PasswordResetView

    from ..auth import SortableIDPasswordResetForm

    if not issubclass(view, PasswordResetView):
        return False
    form = getattr(callback, "view_initkwargs", {}).get("form_class", view.form_class)
    # A form of the project that builds its own links can't be checked.
    is_usual = form.save is PasswordResetForm.save and form.send_mail is PasswordResetForm.send_mail
    return is_usual and not issubclass(form, SortableIDPasswordResetForm)


def masked_in_cursors(view: Any) -> SortableIDField | None:
    """The masked id that DRF's own cursors may show in a view's list, as far as its class tells."""
    pagination = sys.modules.get("rest_framework.pagination")
    paginator = getattr(view, "pagination_class", None)
    model = getattr(getattr(view, "queryset", None), "model", None)
    if model is None:  # A method returns the queryset.
        meta = getattr(getattr(view, "serializer_class", None), "Meta", None)
        model = getattr(meta, "model", None)
    if pagination is None or model is None or not isinstance(paginator, type):
        return None
    from ..rest_framework import SortableIDCursorPagination

    if not issubclass(paginator, pagination.CursorPagination) or issubclass(
        paginator, SortableIDCursorPagination
    ):
        return None
    for name in _columns_in_cursors(view, paginator, model):
        field = id_at(model, name.lstrip("-"))
        if field is not None and field.masked:
            return field
    return None


def _columns_in_cursors(view: Any, paginator: Any, model: Any) -> Iterator[str]:
    """The first column of the default order, and each by which a request may order."""
    backends = getattr(view, "filter_backends", None) or ()
    sorting = [each for each in backends if hasattr(each, "get_ordering")][:1]
    default = getattr(view, "ordering", None) if sorting else None
    default = default or getattr(paginator, "ordering", None) or ()
    yield from [default] if isinstance(default, str) else default[:1]
    for backend in sorting:
        allowed = getattr(view, "ordering_fields", getattr(backend, "ordering_fields", None))
        if allowed is None or isinstance(allowed, str):
            allowed = [field.name for field in model._meta.fields]
        yield from (each if isinstance(each, str) else each[0] for each in allowed)
