"""Model fields, one for each scheme."""

from .base import SortableIDField
from .concrete import (
    CombV13UUIDField,
    HexULIDField,
    KUUIDField,
    SnowflakeField,
    Time64Field,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
)
from .sequence import LexicalSequenceField

__all__ = [
    "CombV13UUIDField",
    "HexULIDField",
    "KUUIDField",
    "LexicalSequenceField",
    "SnowflakeField",
    "SortableIDField",
    "Time64Field",
    "ULIDField",
    "UUIDv6Field",
    "UUIDv7Field",
]
