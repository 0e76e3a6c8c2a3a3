"""Every kind of column that an id with a time can be in."""

from django_sortable_ids import fields
from django_sortable_ids.fields.storage import default_storage, storage_for, storage_names
from django_sortable_ids.schemes.text_forms import Digits, UUIDText
from tests.capabilities import label
from tests.field_classes import CLASSES


def _storages(field):
    """The usual column of the field, and those that hold its ids in another form."""
    scheme = field().scheme
    usual = {"uuid", "varchar", "varchar32", "varchar36", default_storage(scheme, "postgresql")}
    return [None, *(name for name in storage_names(scheme) if name not in usual)]


FIELDS = [each for each in CLASSES if each is not fields.LexicalSequenceField]
COLUMNS = [
    *(field(storage=storage) for field in FIELDS for storage in _storages(field)),
    fields.UUIDv7Field(storage="varchar36"),
    fields.ULIDField(storage="varchar"),
    *(fields.KSUIDField(precision="ms", storage=storage) for storage in (None, "char")),
    fields.HexULIDField(epoch_ms=946_684_800_000),
    fields.KUUIDField(precision="ms"),
    fields.KUUIDField(epoch_ms=1_514_764_800_000),
    fields.KUUIDField(short=True),
    fields.KUUIDField(reverse=True),
    fields.KUUIDField(precision="ms", reverse=True, short=True),
    fields.KUUIDField(reverse=True, storage="binary"),
    *(
        fields.SnowflakeField(layout=layout)
        for layout in ("discord", "instagram", "mastodon", "unique_rowid")
    ),
    fields.SnowflakeField(epoch_ms=1, time_bits=50, worker_bits=3),
    fields.SnowflakeField(bits=53),
    fields.SonyflakeField(version=1),
    fields.SonyflakeField(epoch_ms=1_700_000_000_123),
    fields.TSIDField(node_bits=0),
    fields.TSIDField(node_bits=20),
    fields.Time64Field(layout="3+6"),
    fields.Time64Field(layout="3+6", workers=1000),
]
LABELS = [label(field) for field in COLUMNS]


def _has_time_in_digits(field):
    form = field.scheme.canonical
    return not isinstance(form, Digits) or form.count_of_last(field.scheme.layout.suffixes) > 0


def _is_composed(field):
    stored = storage_for(field.scheme, field.storage, "sqlite", field.max_length)
    form = getattr(stored, "form", None)
    return form is None or isinstance(form, UUIDText) or len(form.alphabet) == 16


UNMADE = [field for field in COLUMNS if not _is_composed(field)]
"""Texts that aren't hexadecimal."""
UNREAD = [field for field in UNMADE if not _has_time_in_digits(field)]
"""Texts in which the time shares a digit with other bits."""
