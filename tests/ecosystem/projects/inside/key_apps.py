"""The apps that name a key of their own, with the key of the settings instead."""

from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import import_string


def _with_keys(path: str) -> type[AppConfig]:
    own = import_string(path)
    names = {"default_auto_field": settings.DEFAULT_AUTO_FIELD, "__module__": __name__}
    return type(own.__name__, (own,), names)


globals().update(
    (path.rpartition(".")[2], _with_keys(path)) for path in settings.APPS_WITH_KEYS.values()
)
