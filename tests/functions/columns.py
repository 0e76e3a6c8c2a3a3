"""Every kind of column that an id with a time can be in."""

from django_sortable_ids.fields import (
    CombV13UUIDField,
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
from tests.capabilities import label

COLUMNS = [
    *(
        field(storage=storage)
        for field in (UUIDv7Field, UUIDv6Field, CombV13UUIDField)
        for storage in (None, "binary", "char32", "char36")
    ),
    *(
        field(storage=storage)
        for field in (ULIDField, TimeflakeField, SCRU128Field)
        for storage in (None, "binary", "char")
    ),
    UUIDv7Field(storage="varchar36"),
    ULIDField(storage="varchar"),
    *(field(storage=storage) for field in (XidField, ObjectIDField) for storage in (None, "char")),
    *(
        KSUIDField(precision=precision, storage=storage)
        for precision in ("s", "ms")
        for storage in (None, "char")
    ),
    *(
        field(storage=storage)
        for field in (HexULIDField, PushIDField)
        for storage in (None, "binary")
    ),
    KUUIDField(),
    KUUIDField(precision="ms"),
    KUUIDField(short=True),
    KUUIDField(reverse=True),
    KUUIDField(precision="ms", reverse=True, short=True),
    KUUIDField(storage="binary"),
    KUUIDField(reverse=True, storage="binary"),
    SnowflakeField(),
    *(
        SnowflakeField(layout=layout)
        for layout in ("discord", "instagram", "mastodon", "unique_rowid")
    ),
    SnowflakeField(epoch_ms=1, time_bits=50, worker_bits=3),
    SonyflakeField(),
    SonyflakeField(version=1),
    SonyflakeField(epoch_ms=1_700_000_000_123),
    TSIDField(),
    TSIDField(node_bits=0),
    TSIDField(node_bits=20),
    Time64Field(),
    Time64Field(layout="3+6"),
    Time64Field(layout="3+6", workers=1000),
]
LABELS = [label(field) for field in COLUMNS]

LONG_TEXTS = [
    KSUIDField(storage="char"),
    KSUIDField(precision="ms", storage="char"),
    TimeflakeField(storage="char"),
    SCRU128Field(storage="char"),
]
"""Numbers of 128 and 160 bits in base 36 and 62: SQLite has no arithmetic for them, and no engine
has randomness in such a base."""

UNMADE = [*LONG_TEXTS, XidField(storage="char")]
"""Texts whose time and suffix share a digit."""
