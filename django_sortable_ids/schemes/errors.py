"""The exceptions of the schemes, and how their messages show bad values."""

import reprlib
from collections.abc import Callable
from typing import Any


class InvalidID(ValueError):
    """The input is not an id of the scheme: wrong text, wrong bits or wrong type."""


class OutOfRange(ValueError):
    """The time does not fit the scheme, or the id's time does not fit a ``datetime``."""


class NotTimeOrdered(TypeError):
    """The scheme's ids carry no time: they are a sequence."""


class ClockRollback(RuntimeError):
    """The clock went back further than allowed. No ids are generated until it has caught up."""


class SequenceExhausted(RuntimeError):
    """Every id of a fixed-width sequence has been used."""


class LeaseUnavailable(RuntimeError):
    """For now, no worker number can be leased, or the lease can't be extended."""


class LeaseLost(RuntimeError):
    """This process lost its worker number, and generates no more ids with it."""


class Message:
    """The text of an error, formatted lazily: most are discarded while other spellings are tried.

    ``compose`` is called with the arguments.
    """

    __slots__ = ("_arguments", "_compose")

    def __init__(self, compose: Callable[..., str], *arguments: Any) -> None:
        self._compose = compose
        self._arguments = arguments

    def __str__(self) -> str:
        return self._compose(*self._arguments)

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> Any:
        return str, (str(self),)


LENGTH = 80
"""The maximum number of characters that a message shows of a value."""

_MANY_BITS = 10_000
"""Larger integers are not written out: Python takes long, and soon refuses."""

_CONTAINERS = (dict, list, tuple, set, frozenset)
_BYTES = (bytes, bytearray, memoryview)


def shown(value: Any) -> str:
    """The beginning of ``str(value)``."""
    if isinstance(value, str):
        return value[:LENGTH]
    if isinstance(value, int) and value.bit_length() > _MANY_BITS:
        return type(value).__name__
    return _text(value, str)[:LENGTH]


def described(value: Any) -> str:
    """The beginning of ``repr(value)``, with three dots for the rest."""
    if isinstance(value, int) and value.bit_length() > _MANY_BITS:
        return f"{type(value).__name__} of thousands of digits"
    text = repr(value[: LENGTH + 1]) if isinstance(value, str) else _text(value, repr)
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}..."


def encodable(message: str, encoding: str = "utf-8") -> str:
    """The message with what can't be encoded escaped, such as halves of surrogate pairs: JSON input
    may contain them, no response can."""
    return message.encode(encoding, "backslashreplace").decode(encoding)


def _text(value: Any, write: Any) -> str:
    if isinstance(value, _BYTES) and len(value) > LENGTH:
        return repr(bytes(value[: LENGTH + 1]))
    try:
        return _abbreviated.repr(value) if isinstance(value, _CONTAINERS) else str(write(value))
    except (ValueError, RecursionError):
        return type(value).__name__


_abbreviated = reprlib.Repr()
_abbreviated.maxstring = _abbreviated.maxother = _abbreviated.maxlong = LENGTH
