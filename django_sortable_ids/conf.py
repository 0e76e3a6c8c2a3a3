"""The setting ``SORTABLE_IDS``: a dict whose keys are all checked.

docs/reference/settings.md explains each. All functions raise ``ImproperlyConfigured`` for a wrong
value. No message contains a mask key, which is secret.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .schemes.clock_and_randomness import POLICIES, RollbackRule
from .schemes.support import nearest

if TYPE_CHECKING:
    from .schemes.mask import MaskKey

WORKER_VARIABLE = "SORTABLE_IDS_WORKER"
LEASE: Final = "lease"


def _is_worker(value: Any) -> bool:
    return value in (None, LEASE) or (isinstance(value, int) and _is_number_from(value))


def _is_number_from(value: Any, least: int = 0) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and least <= value <= 10**9


def _are_mask_keys(value: Any) -> bool:
    from .schemes.mask import read_keys

    with suppress(TypeError, ValueError):
        read_keys(tuple(value))
        return isinstance(value, list | tuple)
    return False


_MASK_KEYS = "a list. Generate one with: python -c 'import secrets; print(secrets.token_hex(16))'"
KEYS: Mapping[str, tuple[Any, Callable[[Any], bool], str]] = {
    "WORKER": (None, _is_worker, f"None, a whole number from 0, or {LEASE!r}"),
    "WORKER_LEASE_SECONDS": (60, partial(_is_number_from, least=1), "seconds, from 1 to 10**9"),
    "WORKER_CLOCK_SKEW_SECONDS": (10, _is_number_from, "seconds, from 0 to 10**9"),
    "MASK_KEYS": ((), _are_mask_keys, f"texts of 32 hexadecimal digits, in {_MASK_KEYS}"),
    "CLOCK_ROLLBACK": ("advance", POLICIES.__contains__, '"advance", "wait" or "raise"'),
    "CLOCK_ROLLBACK_LIMIT": (10, _is_number_from, "seconds, from 0 to 10**9"),
    "GUARD_MIGRATIONS": (True, lambda value: isinstance(value, bool), "True or False"),
}


def worker() -> int | Literal["lease"] | None:
    """The number of this process, ``"lease"`` if the database leases it; None if it isn't set."""
    setting: int | Literal["lease"] | None = get("WORKER")
    variable = os.environ.get(WORKER_VARIABLE)
    if variable is None:
        return setting
    if variable == LEASE:
        return LEASE
    if not (variable.isascii() and variable.isdigit()):
        raise ImproperlyConfigured(
            f"the environment variable {WORKER_VARIABLE} is {variable!r}; expected a whole number "
            f"from 0, or {LEASE!r}"
        )
    return int(variable)


def mask_keys() -> "tuple[MaskKey, ...]":
    """At least one key, the one that masks first; ``ImproperlyConfigured`` if there is none."""
    from .schemes.mask import read_keys

    texts = tuple(get("MASK_KEYS"))
    if not texts:
        raise ImproperlyConfigured(
            f"masked=True needs a key in SORTABLE_IDS['MASK_KEYS'], {_MASK_KEYS}"
        )
    return read_keys(texts)


def rollback_rule() -> RollbackRule:
    return RollbackRule(get("CLOCK_ROLLBACK"), int(get("CLOCK_ROLLBACK_LIMIT") * 1_000_000_000))


def get(key: str) -> Any:
    """The value of a key."""
    configured = getattr(settings, "SORTABLE_IDS", {})
    if not isinstance(configured, Mapping):
        raise ImproperlyConfigured(
            f"SORTABLE_IDS is of type {type(configured).__name__}; expected a dict"
        )
    unknown = [name for name in configured if name not in KEYS]
    if unknown:
        raise ImproperlyConfigured(
            f"SORTABLE_IDS has no key {unknown[0]!r}; expected one of {', '.join(KEYS)}"
            f"{nearest(str(unknown[0]), KEYS)}"
        )
    default, is_valid, expected = KEYS[key]
    value = configured.get(key, default)
    if not is_valid(value):
        shown = "invalid" if key == "MASK_KEYS" else repr(value)  # Messages have no secrets.
        raise ImproperlyConfigured(f"SORTABLE_IDS[{key!r}] is {shown}; expected {expected}")
    return value
