"""``uuid.UUID`` objects from numbers, without the checks of its constructor.

A ``UUID`` has two slots, ``int`` and ``is_safe``, and refuses assignments; its slots' own
descriptors don't. That takes a third of the constructor's time, and for many at once less than a
quarter.
"""

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from uuid import UUID, SafeUUID

_new = UUID.__new__
_set_int = UUID.__dict__["int"].__set__
_set_is_safe = UUID.__dict__["is_safe"].__set__
_UNKNOWN = SafeUUID.unknown


def uuid_of(number: int) -> UUID:
    """``UUID(int=number)``, for a number that is known to be one of 128 bits."""
    value = _new(UUID)
    _set_int(value, number)
    _set_is_safe(value, _UNKNOWN)
    return value


def uuids_of(numbers: Sequence[int]) -> list[UUID]:
    """``uuid_of`` for many numbers."""
    values = list(map(_new, repeat(UUID, len(numbers))))
    deque(map(_set_int, values, numbers), maxlen=0)
    deque(map(_set_is_safe, values, repeat(_UNKNOWN)), maxlen=0)
    return values
