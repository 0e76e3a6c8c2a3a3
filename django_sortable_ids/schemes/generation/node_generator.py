"""Ids of one node: UUIDs with a fixed node and clock sequence, each of its own tick."""

from typing import Literal

from ..layout import Layout
from .clock import Sources
from .generator import Generator

Node = int | Literal["random"]
"""The last 48 bits of a UUID; ``"random"``: each process draws its own."""

NODE_BITS = 48
CLOCK_SEQUENCE_BITS = 14

MULTICAST = 1 << 40
"""Set in every node that is not a MAC address (RFC 9562, section 6.10)."""


class NodeGenerator(Generator):
    """Generates UUIDs whose last 62 bits are the clock sequence and the node of the process.

    The clock sequence is drawn for the first id of a process, also of a forked one. SQL Server
    compares the node first, then the clock sequence, then the time, so it sorts the ids of a
    process by time, like those of its ``NEWSEQUENTIALID()``. No two ids have the same tick: the
    second one takes the next tick, early if necessary.
    """

    def __init__(
        self,
        layout: Layout,
        node: Node,
        *,
        epoch_ns: int,
        tick_ns: int,
        sources: Sources | None = None,
    ) -> None:
        self._node = node
        super().__init__(layout, epoch_ns=epoch_ns, tick_ns=tick_ns, sources=sources)

    def _first(self, tick: int) -> tuple[int, int]:
        if self._suffixes is None:
            node = self._node
            if node == "random":
                node = self._below(1 << NODE_BITS) | MULTICAST
            suffix = self._below(1 << CLOCK_SEQUENCE_BITS) << NODE_BITS | node
            self._suffixes = range(suffix, suffix + 1)
        return super()._first(tick)

    def _further(self, count: int) -> list[int]:
        return []

    def _restart(self) -> None:
        super()._restart()
        self._suffixes = None
