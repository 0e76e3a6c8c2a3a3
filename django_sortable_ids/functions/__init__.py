"""Database functions: new ids, their texts and creation times, and rows by their creation time."""

from ..histograms.histogram import Bar, histogram
from .created_at import CreatedAt
from .generate import GenerateID
from .texts import AsText, shortlex

__all__ = ["AsText", "Bar", "CreatedAt", "GenerateID", "histogram", "shortlex"]
