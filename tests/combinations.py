"""Parameters of a test that needn't meet in every combination."""

from collections.abc import Sequence
from itertools import cycle, islice, product
from typing import Any


def each_with(first: Sequence[Any], *others: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every value of the first at least once, and every combination of the others at least once,
    in turn: as many cases as the longer of the two has, and not their product.
    """
    combinations = list(product(*others))
    count = max(len(first), len(combinations))
    pairs = zip(cycle(first), cycle(combinations), strict=False)
    return [(value, *rest) for value, rest in islice(pairs, count)]
