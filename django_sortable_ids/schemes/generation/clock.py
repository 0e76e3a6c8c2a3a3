"""The clock of the id generators, and what they do when it goes back."""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, get_args

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Policy = Literal["advance", "wait", "raise"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


class RollbackRule(NamedTuple):
    """What a generator does while its clock is more than ``limit_ns`` before its latest time.

    ``"advance"`` continues after the last id: new ids are of the last tick and, as it fills, of
    later ticks. ``"wait"`` blocks the thread, and others that need ids, until the clock is within
    the limit. ``"raise"`` raises ``ClockRollback`` until then. Smaller steps back are always
    handled as by ``"advance"``.
    """

    policy: Policy = "advance"
    limit_ns: int = 10_000_000_000


_rule = RollbackRule()


def rollback_rule() -> RollbackRule:
    return _rule


def set_rollback_rule(rule: RollbackRule) -> None:
    """Set the rule of every generator of this process."""
    global _rule
    _rule = rule


def system_ns() -> int:
    """Unix time of the system in ns, even if a test shows another time."""
    freezegun = sys.modules.get("freezegun.api")
    time_machine = sys.modules.get("time_machine")
    if time_machine and time_machine.escape_hatch.is_travelling():
        return int(time_machine.escape_hatch.time.time_ns())
    return int(freezegun.real_time_ns()) if freezegun else time.time_ns()


def is_travelling() -> bool:
    """Whether freezegun or time-machine shows a time other than the system's."""
    freezegun = sys.modules.get("freezegun.api")
    time_machine = sys.modules.get("time_machine")
    return bool(freezegun and freezegun.freeze_factories) or bool(
        time_machine and time_machine.escape_hatch.is_travelling()
    )


def unix_ns(at: datetime) -> int:
    """Unix time in ns of an aware time; ``ValueError`` for a naive one, ``TypeError`` for none."""
    if not isinstance(at, datetime):
        raise TypeError(f"expected an aware datetime, found {type(at).__name__}: {at!r}")
    if at.utcoffset() is None:
        raise ValueError(
            f"{at.isoformat()} is a naive time; give an aware one, such as "
            f"datetime(2026, 1, 1, tzinfo=timezone.utc)"
        )
    return (at - UNIX_EPOCH) // MICROSECOND * 1000


class Sources(NamedTuple):
    """Where a generator gets its time and its random numbers."""

    clock: Callable[[], int] | None = None
    """Unix time in ns; None: ``time.time_ns``."""
    below: Callable[[int], int] | None = None
    """``below(n)`` is in ``range(n)``. None: each generator has its own ``Randomness``."""
    sleep: Callable[[float], None] = time.sleep
    travels: Callable[[], bool] = is_travelling
    """Whether the clock is a test's."""
