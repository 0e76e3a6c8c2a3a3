"""The setting ``SORTABLE_IDS``: one dict, every key checked.

``WORKER``
    The number of this process, for schemes with worker numbers (snowflakes, time64 with
    ``workers``). Every process that makes ids at the same time needs one of its own. None, the
    default, fills the worker's place at random.
``GUARD_MIGRATIONS``
    False lets ``migrate`` run operations that would give several rows one id, or corrupt a key.
    Default True.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def _is_worker(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


_KEYS: Mapping[str, tuple[Any, Callable[[Any], bool], str]] = {
    "WORKER": (None, _is_worker, "None or a whole number from 0"),
    "GUARD_MIGRATIONS": (True, _is_bool, "True or False"),
}


def worker() -> int | None:
    value: int | None = _get("WORKER")
    return value


def guard_migrations() -> bool:
    return bool(_get("GUARD_MIGRATIONS"))


def _get(key: str) -> Any:
    given = getattr(settings, "SORTABLE_IDS", {})
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(f"SORTABLE_IDS is {given!r}; expected a dict")
    unknown = [each for each in given if each not in _KEYS]
    if unknown:
        raise ImproperlyConfigured(
            f"SORTABLE_IDS has no key {unknown[0]!r}; it has {', '.join(_KEYS)}"
        )
    default, is_right, expected = _KEYS[key]
    value = given.get(key, default)
    if not is_right(value):
        raise ImproperlyConfigured(f"SORTABLE_IDS[{key!r}] is {value!r}; expected {expected}")
    return value
