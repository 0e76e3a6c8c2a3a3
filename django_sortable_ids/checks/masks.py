"""Checks of masked ids: what would reveal their time in spite of the mask."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.urls import get_resolver

from .. import conf
from ..fields import SortableIDField
from ..fields.of_model import id_at
from . import messages
from .cursors import field_in_cursors
from .definitions import Configs, usable
from .routes import routes

_COOKIES = "django.contrib.sessions.backends.signed_cookies"


def check_masks(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Masked ids without a mask key, and session cookies that show masked ids."""
    masked = [field for field in usable(app_configs) if field.masked]
    problems: list[CheckMessage] = []
    reason = _mask_key_error() if masked else None
    if reason:
        problems += [messages.no_mask_key(field, reason) for field in masked]
    user_key = _masked_user_key()
    if user_key in masked and settings.SESSION_ENGINE == _COOKIES:
        problems.append(messages.masked_key_in_cookies(user_key))
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
            problems[callback, "E010"] = messages.unmasked_password_reset(user_key, callback)
        field = field_in_cursors(getattr(callback, "cls", None))
        if field is not None:
            problems[callback.cls, "W006"] = messages.unmasked_cursors(field, callback.cls)
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
    from django.contrib.auth.views import PasswordResetView

    from ..auth import SortableIDPasswordResetForm

    if not issubclass(view, PasswordResetView):
        return False
    form = getattr(callback, "view_initkwargs", {}).get("form_class", view.form_class)
    return not issubclass(form, SortableIDPasswordResetForm) and not _is_customized(form)


def _is_customized(form: Any) -> bool:
    """Whether a form of the project builds its own links, which can't be checked."""
    from django.contrib.auth.forms import PasswordResetForm

    return form.save is not PasswordResetForm.save or (
        form.send_mail is not PasswordResetForm.send_mail
    )
