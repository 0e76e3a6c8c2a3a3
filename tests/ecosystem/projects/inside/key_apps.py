"""What a project changes when its keys are no counted numbers: the key of each app that names one,
and its URLs.
"""

from django.apps import AppConfig
from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string
from key_urls import accept_keys_in_urls


def _with_keys(path: str) -> type[AppConfig]:
    own = import_string(path)
    names = {"default_auto_field": settings.DEFAULT_AUTO_FIELD, "__module__": __name__}
    return type(own.__name__, (own,), names)


globals().update(
    (path.rpartition(".")[2], _with_keys(path)) for path in settings.APPS_WITH_KEYS.values()
)
if not issubclass(import_string(settings.DEFAULT_AUTO_FIELD), models.BigIntegerField):
    accept_keys_in_urls()
