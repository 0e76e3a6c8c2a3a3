"""Packages that are used without being among INSTALLED_APPS, so that they don't know of ids."""

import sys
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.urls import get_resolver

from ..fields import SortableIDField
from . import messages
from .definitions import Configs, usable

_APPS = ("graphene_django", "ninja", "strawberry_django")
"""Apps that work without being installed: they define no models."""


def check_packages(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Packages that show ids as they are in Python, if public texts differ from that."""
    if not getattr(settings, "ROOT_URLCONF", None):
        return []
    field = next(filter(_has_another_public_text, usable(None)), None)
    if field is None:
        return []
    len(get_resolver().url_patterns)  # imports the views, and so the packages that they use
    return [
        messages.package_not_installed(app, field)
        for app in _APPS
        if app in sys.modules and not apps.is_installed(app)
    ]


def _has_another_public_text(field: SortableIDField) -> bool:
    return bool(field.masked or field.prefix or field.encoding or field.scheme.value_type is int)
