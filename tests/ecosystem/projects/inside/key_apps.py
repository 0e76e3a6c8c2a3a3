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


KEY = "(?:[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Z]{26})"
"""Numbers, which the other apps still have, UUIDs and ULIDs."""


class KeyConverter(converters.StringConverter):
    """What replaces ``<int:pk>``: a UUID as one, anything else as text."""

    regex = KEY

    def to_python(self, value: str) -> uuid.UUID | str:
        return uuid.UUID(value) if "-" in value else value


def _accept_keys_in_urls() -> None:
    """``<int:pk>`` and ``(?P<pk>\\d+)`` match any key."""
    converters.DEFAULT_CONVERTERS["int"] = KeyConverter()
    own = resolvers.RegexPattern.__init__

    def widened(self, regex: str, *args: object, **kwargs: object) -> None:
        regex = re.sub(r"(\(\?P<\w+>)(?:-\?)?\\d\+\)", rf"\1{KEY})", regex)
        own(self, regex, *args, **kwargs)

    resolvers.RegexPattern.__init__ = widened


globals().update(
    (path.rpartition(".")[2], _with_keys(path)) for path in settings.APPS_WITH_KEYS.values()
)
if not issubclass(import_string(settings.DEFAULT_AUTO_FIELD), models.BigIntegerField):
    _accept_keys_in_urls()
