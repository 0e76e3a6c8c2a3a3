"""The setting ``SORTABLE_IDS``: one dict, every key checked.

``WORKER``
    The number of this process, for schemes with worker numbers (snowflakes, Sonyflake, TSID,
    time64, xid and ObjectId with ``workers``). Every process that makes ids at the same time needs
    one of its own. None, the default, fills the worker's place at random. ``"lease"`` has each
    process take a number from the database that ``WorkerLease`` is in, at its first id that needs
    one, renew it and give it back at its end: see ``workers``. The environment variable
    ``SORTABLE_IDS_WORKER``, a number or ``lease``, stands above the setting.
``WORKER_LEASE_SECONDS``
    How long a lease lasts, from 1, by default 60. It is renewed when a third has gone by. A process
    that can't reach the database makes ids until its end, and the number of one that was killed
    stays taken until then.
``WORKER_CLOCK_SKEW_SECONDS``
    How far the clocks of hosts may be apart, by default 10: for so long after the end of a lease
    that was not given back, nobody else takes the number. Clocks that are further apart can cost a
    process its number, but no id is ever made twice for it.
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
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .schemes.generation.clock import POLICIES, RollbackRule, set_rollback_rule
from .schemes.mask import MaskKey, read_keys

WORKER_VARIABLE = "SORTABLE_IDS_WORKER"
LEASE: Final = "lease"


def _is_worker(value: Any) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value is None or value == LEASE or (is_number and value >= 0)


def _is_policy(value: Any) -> bool:
    return isinstance(value, str) and value in POLICIES


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < math.inf


def _is_term(value: Any) -> bool:
    return _is_seconds(value) and value >= 1


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
    "WORKER": (None, _is_worker, f"None, a whole number from 0, or {LEASE!r}"),
    "WORKER_LEASE_SECONDS": (60, _is_term, "seconds, from 1"),
    "WORKER_CLOCK_SKEW_SECONDS": (10, _is_seconds, "seconds, from 0"),
    "MASK_KEYS": ((), _are_mask_keys, "a list of texts with 32 hexadecimal digits"),
    "CLOCK_ROLLBACK": ("advance", _is_policy, '"advance", "wait" or "raise"'),
    "CLOCK_ROLLBACK_LIMIT": (10, _is_seconds, "seconds, from 0"),
    "GUARD_MIGRATIONS": (True, _is_bool, "True or False"),
}
_SECRET = ("MASK_KEYS",)
"""Keys whose values no message shows."""


def worker() -> int | Literal["lease"] | None:
    """The number of this process; ``"lease"`` where the database says it, None where nobody does.

    Raises ``ImproperlyConfigured``, as all functions here do.
    """
    value: int | Literal["lease"] | None = _get("WORKER")
    given = os.environ.get(WORKER_VARIABLE)
    if given is None:
        return value
    if given == LEASE:
        return LEASE
    if not (given.isascii() and given.isdigit()):
        raise ImproperlyConfigured(
            f"the environment variable {WORKER_VARIABLE} is {given!r}; expected a whole number "
            f"from 0, or {LEASE!r}"
        )
    return int(given)


def lease_seconds() -> tuple[float, float]:
    """How long a lease of a worker number lasts, and how far clocks may be apart."""
    return _get("WORKER_LEASE_SECONDS"), _get("WORKER_CLOCK_SKEW_SECONDS")


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
