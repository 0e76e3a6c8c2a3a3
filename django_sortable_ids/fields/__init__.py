"""Model fields, one for each scheme."""

from .auto_fields import (
    SnowflakeAutoField,
    SortableAutoField,
    Time64AutoField,
    ULIDAutoField,
    UUIDv7AutoField,
)
from .base import SortableIDField
from .concrete import (
    CombV4UUIDField,
    CombV13UUIDField,
    CUIDField,
    HexULIDField,
    KSUIDField,
    KUUIDField,
    ObjectIDField,
    PushIDField,
    SCRU128Field,
    SnowflakeField,
    SonyflakeField,
    Time64Field,
    TimeflakeField,
    TSIDField,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
    XidField,
)
from .sequence import LexicalSequenceField
from .value_types import SortableIntegerField, SortableTextField, SortableUUIDField

__all__ = [
    "CUIDField",
    "CombV4UUIDField",
    "CombV13UUIDField",
    "HexULIDField",
    "KSUIDField",
    "KUUIDField",
    "LexicalSequenceField",
    "ObjectIDField",
    "PushIDField",
    "SCRU128Field",
    "SnowflakeAutoField",
    "SnowflakeField",
    "SonyflakeField",
    "SortableAutoField",
    "SortableIDField",
    "SortableIntegerField",
    "SortableTextField",
    "SortableUUIDField",
    "TSIDField",
    "Time64AutoField",
    "Time64Field",
    "TimeflakeField",
    "ULIDAutoField",
    "ULIDField",
    "UUIDv6Field",
    "UUIDv7AutoField",
    "UUIDv7Field",
    "XidField",
]
