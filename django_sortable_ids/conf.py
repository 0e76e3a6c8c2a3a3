"""The setting ``SORTABLE_IDS``: one dict, every key checked.

``WORKER``
    The number of this process, for schemes with worker numbers (snowflakes, Sonyflake, TSID,
    time64 with ``workers``). Every process that makes ids at the same time needs one of its own.
    None, the default, fills the worker's place at random.
``MASK_KEYS``
    The keys of ``UUIDv7Field(masked=True)``: a list of texts with 32 hexadecimal digits, each made
    by ``secrets.token_hex(16)``. The first one masks and all of them unmask: to change the key, put
    a new one in front, and take the old one out once no id that it masked is in use. What the
    digits mean says ``schemes.mask.MaskKey``. Keep them secret: with a key, times can be read.
``CLOCK_ROLLBACK``
    What happens to new ids while the clock is more than ``CLOCK_ROLLBACK_LIMIT`` seconds, 10 by
    default, behind where it was; smaller steps are absorbed, and no policy repeats an id of the
    process. ``"advance"``, the default, goes on from the last id: a web server then neither hangs
    nor fails for as long as somebody's wrong clock is being put right, and the price is that the
    ids made until the clock has caught up carry the last time before the step. ``"wait"`` blocks
    for so long, and ``"raise"`` raises ``ClockRollback``: for batch jobs, whose ids must have the
    right times or not be made, and for worker numbers that another process may get soon after.
``GUARD_MIGRATIONS``
    False lets ``migrate`` run operations that would give several rows one id, or corrupt a key.
    Default True.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .schemes.clock import POLICIES, RollbackRule, set_rollback_rule
from .schemes.mask import MaskKey, read_keys


def _is_worker(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _is_policy(value: Any) -> bool:
    return isinstance(value, str) and value in POLICIES


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < math.inf


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _are_mask_keys(value: Any) -> bool:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        return False
    try:
        read_keys(tuple(value))
    except ValueError:
        return False
    return True


_KEYS: Mapping[str, tuple[Any, Callable[[Any], bool], str]] = {
    "WORKER": (None, _is_worker, "None or a whole number from 0"),
    "MASK_KEYS": ((), _are_mask_keys, "a list of texts with 32 hexadecimal digits"),
    "CLOCK_ROLLBACK": ("advance", _is_policy, '"advance", "wait" or "raise"'),
    "CLOCK_ROLLBACK_LIMIT": (10, _is_seconds, "seconds, from 0"),
    "GUARD_MIGRATIONS": (True, _is_bool, "True or False"),
}
_SECRET = ("MASK_KEYS",)
"""Keys whose values no message shows."""


def worker() -> int | None:
    value: int | None = _get("WORKER")
    return value


def mask_keys() -> tuple[MaskKey, ...]:
    """At least one key, the one that masks in front; ``ImproperlyConfigured`` without any."""
    texts = tuple(_get("MASK_KEYS"))
    if not texts:
        raise ImproperlyConfigured(
            "masked=True needs a key in SORTABLE_IDS['MASK_KEYS'], a list. Make one with: "
            "python -c 'import secrets; print(secrets.token_hex(16))'"
        )
    return read_keys(texts)


def rollback_rule() -> RollbackRule:
    limit_ns = int(_get("CLOCK_ROLLBACK_LIMIT") * 1_000_000_000)
    return RollbackRule(_get("CLOCK_ROLLBACK"), limit_ns)


def apply_rollback_rule() -> None:
    """Make it the rule of the process: done before the first id of a field."""
    set_rollback_rule(rollback_rule())


def guard_migrations() -> bool:
    return bool(_get("GUARD_MIGRATIONS"))


def _get(key: str) -> Any:
    given = getattr(settings, "SORTABLE_IDS", {})
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(
            f"SORTABLE_IDS is of type {type(given).__name__}; expected a dict"
        )
    unknown = [each for each in given if each not in _KEYS]
    if unknown:
        raise ImproperlyConfigured(
            f"SORTABLE_IDS has no key {unknown[0]!r}; it has {', '.join(_KEYS)}"
        )
    default, is_right, expected = _KEYS[key]
    value = given.get(key, default)
    if not is_right(value):
        found = "wrong" if key in _SECRET else repr(value)
        raise ImproperlyConfigured(f"SORTABLE_IDS[{key!r}] is {found}; expected {expected}")
    return value
