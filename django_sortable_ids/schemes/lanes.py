"""Long integers as many lanes of equal width."""

from functools import lru_cache


@lru_cache(maxsize=64)
def ones(count: int, width: int) -> int:
    """A 1 in each of ``count`` lanes of that many bits."""
    return ((1 << count * width) - 1) // ((1 << width) - 1)
