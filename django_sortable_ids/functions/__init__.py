"""Database functions: new ids, the creation times of ids, and rows by their creation time."""

from ..histograms.histogram import Bar, histogram
from .created_at import CreatedAt
from .digits import shortlex
from .generate import GenerateID

__all__ = [
    "Bar",
    "CreatedAt",
    "GenerateID",
    "histogram",
    "shortlex",
]
