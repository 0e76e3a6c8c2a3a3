"""What the schemes raise."""

import reprlib
from itertools import islice
from typing import Any


class InvalidID(ValueError):
    """The input is not an id of the scheme: wrong text, wrong bits or wrong type."""


class OutOfRange(ValueError):
    """The time does not fit the scheme, or the id's time does not fit a ``datetime``."""


class NotTimeOrdered(TypeError):
    """The scheme's ids carry no time: they are a sequence."""


class ClockRollback(RuntimeError):
    """The clock went back further than allowed, and ids are refused until it has caught up."""


class SequenceExhausted(RuntimeError):
    """Every id of a sequence with a fixed width has been given out."""


class LeaseUnavailable(RuntimeError):
    """No worker number can be leased, or the lease be extended, for now."""


class LeaseLost(RuntimeError):
    """The process's worker number is no longer its own: it makes no more ids with it."""


LENGTH = 80
"""How many characters are shown at most."""

_MANY_BITS = 10_000
"""From here on, Python would soon refuse to write an integer, or take long."""

_CONTAINERS = (dict, list, tuple, set, frozenset)
_BYTES = (bytes, bytearray, memoryview)


def shown(found: Any) -> str:
    """The beginning of ``str(found)``."""
    if isinstance(found, str):
        return found[:LENGTH]
    if isinstance(found, int) and found.bit_length() > _MANY_BITS:
        return type(found).__name__
    return _text(found, str)[:LENGTH]


def described(found: Any) -> str:
    """The beginning of ``repr(found)``, with three dots for the rest."""
    if isinstance(found, int) and found.bit_length() > _MANY_BITS:
        return f"a {type(found).__name__} of thousands of digits"
    text = repr(found[: LENGTH + 1]) if isinstance(found, str) else _text(found, repr)
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}..."


def _text(found: Any, write: Any) -> str:
    if isinstance(found, _BYTES) and len(found) > LENGTH:
        return repr(bytes(found[: LENGTH + 1]))
    try:
        return _few.repr(found) if isinstance(found, _CONTAINERS) else str(write(found))
    except (ValueError, RecursionError):
        return type(found).__name__


class _Few(reprlib.Repr):
    """Only the first members of what is large; ``Repr`` would sort all of them before."""

    def repr_dict(self, x: Any, level: int) -> str:
        return super().repr_dict(dict(islice(x.items(), self.maxdict + 1)), level)

    def repr_set(self, x: Any, level: int) -> str:
        return super().repr_set(set(islice(x, self.maxset + 1)), level)

    def repr_frozenset(self, x: Any, level: int) -> str:
        return super().repr_frozenset(frozenset(islice(x, self.maxfrozenset + 1)), level)


_few = _Few()
_few.maxstring = _few.maxother = _few.maxlong = LENGTH
