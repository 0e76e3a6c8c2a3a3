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
    CombV13UUIDField,
    HexULIDField,
    KSUIDField,
    KUUIDField,
    ObjectIDField,
    PushIDField,
    SCRU128Field,
    SnowflakeField,
    SonyflakeField,
    SortableUUIDField,
    Time64Field,
    TimeflakeField,
    TSIDField,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
    XidField,
)
from .sequence import LexicalSequenceField
from .value_types import SortableIntegerField, SortableTextField

__all__ = [
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
