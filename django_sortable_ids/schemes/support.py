"""Attributes that are computed once, when they are first asked for."""

from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - as in functools
    """That of functools without its lock.

    On Python 3.11 all instances of a class share a lock for each such attribute, and a process
    forked while another thread holds it waits for it for ever. Two threads may compute a value at
    the same time here, so it must not matter whose is kept.
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
        # No data descriptor: from now on Python finds the value first.
        value = instance.__dict__[self._name] = self._function(instance)
        return value


@lru_cache(maxsize=64)
def ones(count: int, width: int) -> int:
    """A 1 in each of ``count`` lanes of that many bits."""
    return ((1 << count * width) - 1) // ((1 << width) - 1)


class CopiedByFields:
    """A dataclass whose copies, and pickles, have its fields and nothing else.

    What it has worked out and kept may be a function, which can't be pickled, or a generator of
    ids, whose copy would make the same ones.
    """

    def __getstate__(self: Any) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
