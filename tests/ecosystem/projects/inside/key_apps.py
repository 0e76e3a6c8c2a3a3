"""What a project changes when its keys are no counted numbers: the key of each app that names one,
and the URLs.
"""

import re
import uuid

from django.apps import AppConfig
from django.conf import settings
from django.db import models
from django.urls import converters, resolvers
from django.utils.module_loading import import_string


def _with_keys(path: str) -> type[AppConfig]:
    own = import_string(path)
    names = {"default_auto_field": settings.DEFAULT_AUTO_FIELD, "__module__": __name__}
    return type(own.__name__, (own,), names)


class AnyKey(converters.StringConverter):
    """What replaces ``<int:pk>``: a UUID as one, anything else as text."""

    def to_python(self, value: str) -> uuid.UUID | str:
        try:
            return uuid.UUID(value)
        except ValueError:
            return value


def _accept_any_key_in_urls() -> None:
    """``<int:pk>`` and ``(?P<pk>\\d+)`` match any key, as if they were ``<str:pk>``."""
    converters.DEFAULT_CONVERTERS["int"] = AnyKey()
    own = resolvers.RegexPattern.__init__

    def widened(self, regex: str, *args: object, **kwargs: object) -> None:
        own(self, re.sub(r"(\(\?P<\w+>)-?\\d\+\)", r"\1[^/]+)", regex), *args, **kwargs)

    resolvers.RegexPattern.__init__ = widened


globals().update(
    (path.rpartition(".")[2], _with_keys(path)) for path in settings.APPS_WITH_KEYS.values()
)
if not issubclass(import_string(settings.DEFAULT_AUTO_FIELD), models.BigIntegerField):
    _accept_any_key_in_urls()
