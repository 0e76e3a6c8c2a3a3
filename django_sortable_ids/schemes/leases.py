"""Worker numbers for a time: what a generator needs of a lease, whoever keeps it."""

from collections.abc import Callable
from typing import Protocol


class Lease(Protocol):
    """A worker number that this process has for ids of ``starts_ns <= time < ends_ns``, Unix ns.

    Whoever has the number before or after it, here or on another host, has it for other times; so
    no id is made twice, however far the clocks of two hosts are apart.
    """

    @property
    def number(self) -> int: ...

    @property
    def starts_ns(self) -> int: ...

    @property
    def ends_ns(self) -> int:
        """It may become later, never earlier."""

    @property
    def ended(self) -> bool:
        """Whether no more ids may be made: it was lost or given back."""

    def extend(self, to_ns: int) -> None:
        """See that ``ends_ns`` is after ``to_ns``. Raises ``LeaseLost`` where it has ended."""

    def used_by(self, latest_ns: Callable[[], int]) -> None:
        """Remember whom to ask for the time of the latest id when the number is given back."""


LeaseSource = Callable[[int], Lease]
"""Gives the lease of this process to a generator whose layout has places for so many workers.

It is asked at the generator's first id, and at the first one in a forked child.
"""
