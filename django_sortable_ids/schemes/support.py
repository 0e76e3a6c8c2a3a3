"""Helpers: cached attributes, bit patterns, and objects that are equal by what they consist of."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - as in functools
    """``functools.cached_property`` without its lock.

    On Python 3.11 all instances of a class share one lock per attribute. A process that is forked
    while another thread holds the lock waits for it forever. Here two threads may compute a value
    concurrently, so it must not matter which result is kept.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached_property[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "cached_property[T] | T":
        if instance is None:
            return self
        # Not a data descriptor: from now on, Python finds the value in ``__dict__`` first.
        value = instance.__dict__[self._name] = self._function(instance)
        return value


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: which known one may be meant, or nothing."""
    from difflib import get_close_matches  # only where something is wrong

    spelled = {candidate.lower(): candidate for candidate in known}
    within = [candidate for candidate in spelled if len(name) > 2 and name.lower() in candidate]
    matches = [*get_close_matches(name.lower(), spelled, n=1, cutoff=0.7), *within]
    return f"; nearest: {spelled[matches[0]]}" if matches else ""


def is_named(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns, such as ``log`` or ``log_*``, matches the name."""
    return any(pattern == name or fnmatchcase(name, pattern) for pattern in patterns)


@lru_cache(maxsize=64)
def ones(count: int, width: int) -> int:
    """An integer of ``count`` bit fields, each ``width`` bits wide with the value 1."""
    return ((1 << count * width) - 1) // ((1 << width) - 1)


def exponent(base: int, number: int) -> int:
    """Which power of the base a number is: how many digits have so many values; 0 if it is none."""
    power, rest = 0, number
    while rest % base == 0:
        rest //= base
        power += 1
    return power if rest == 1 else 0


class ByFields:
    """What a dataclass has, in fewer compiled functions; its copies have its fields and no more.

    A cached attribute may be a function, which can't be pickled, or an id generator, whose copy
    would generate the same ids.
    """

    def __getstate__(self: Any) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (
            other is self or ByFields.__getstate__(other) == self.__getstate__()
        )

    def __hash__(self) -> int:
        return hash(tuple(self.__getstate__().values()))


class ByArguments:
    """Equal to another object of its type with the same arguments, which its copies have, too."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other)["_arguments"] == self._arguments

    def __hash__(self) -> int:
        return hash((type(self), self._arguments))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments))})"

    def __reduce__(self) -> Any:
        return type(self), self._arguments
