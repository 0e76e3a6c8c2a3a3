"""Files of ids as bytes, all of one width."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from heapq import merge
from itertools import pairwise, starmap
from operator import eq
from pathlib import Path
from struct import iter_unpack
from typing import BinaryIO

_RECORDS_OF_A_BLOCK = 4096


def records(file: BinaryIO, width: int) -> Iterator[tuple[bytes]]:
    while block := file.read(_RECORDS_OF_A_BLOCK * width):
        yield from iter_unpack(f"{width}s", block)


def sort(path: Path, width: int) -> None:
    """In memory: only a thread whose ids were not in order has it to be done."""
    with path.open("rb") as file:
        ordered = sorted(records(file, width))
    path.write_bytes(b"".join(record for (record,) in ordered))


def repeats(paths: Sequence[Path], width: int) -> int:
    """How often an id of the sorted files stands behind its like."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for path in paths]
        together = merge(*(records(file, width) for file in files))
        return sum(starmap(eq, pairwise(together)))
