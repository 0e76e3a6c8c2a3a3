"""Tables that the tests of ``backfill_ids`` need beside ``testapp.Order``."""

from django.db import models

from django_sortable_ids.fields import (
    CUIDField,
    HexULIDField,
    KSUIDField,
    KUUIDField,
    LexicalSequenceField,
    SnowflakeField,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
)


class Row(models.Model):
    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.label} {self.pk}"


class Plain(Row):
    """No index on the time, two times to choose from, and ids that no constraint keeps apart."""

    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(null=True)
    day = models.DateField(null=True)
    public_id = UUIDv7Field(null=True)
    other_id = ULIDField(null=True)


class Seconds(Row):
    """Ids whose ticks are whole seconds."""

    created_at = models.DateTimeField(db_index=True)
    ksuid = KSUIDField(null=True, unique=True)


class Adopted(Row):
    """Had random UUIDs before."""

    created_at = models.DateTimeField(db_index=True)
    public_id = UUIDv7Field(null=True, unique=True, accept_other_versions=True)


class Tight(Row):
    """Ids that soon run out: 8 in a millisecond, and ten altogether."""

    created_at = models.DateTimeField(db_index=True)
    eighth = SnowflakeField(null=True, unique=True, time_bits=60, worker_bits=0)
    digit = LexicalSequenceField(null=True, unique=True, charset="numeric", width=1)


class Labelled(Row):
    """Numbers with text around them."""

    created_at = models.DateTimeField()
    number = LexicalSequenceField(
        null=True, unique=True, charset="numeric", width=3, template="INV-{number}"
    )
    yearly = LexicalSequenceField(
        null=True, unique=True, charset="numeric", width=3, template="INV-{year}-{number}"
    )


class Required(Row):
    """Ids that are never missing."""

    created_at = models.DateTimeField()
    public_id = ULIDField(unique=True)


class Timeless(Row):
    """Nobody recorded when its rows were made."""

    public_id = ULIDField(null=True)


class TimeKey(Row):
    created_at = models.DateTimeField(primary_key=True)
    public_id = ULIDField(null=True, unique=True)


class TimeUnique(Row):
    created_at = models.DateTimeField(unique=True)
    public_id = ULIDField(null=True, unique=True)


class UUIDKey(Row):
    id = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField(db_index=True)
    public_id = ULIDField(null=True, unique=True)


class TextKey(Row):
    code = models.CharField(max_length=20, primary_key=True)
    created_at = models.DateTimeField(db_index=True)
    public_id = ULIDField(null=True, unique=True)


class SortableKey(Row):
    id = ULIDField(primary_key=True)
    created_at = models.DateTimeField(db_index=True)
    public_id = SnowflakeField(null=True, unique=True)


class SortableTextKey(Row):
    """The column has a character set of its own on MariaDB and MySQL."""

    id = HexULIDField(primary_key=True)
    created_at = models.DateTimeField(db_index=True)
    public_id = ULIDField(null=True, unique=True)


class PairKey(Row):
    pk = models.CompositePrimaryKey("shop", "number")
    shop = models.IntegerField()
    number = models.IntegerField()
    created_at = models.DateTimeField(db_index=True)
    public_id = ULIDField(null=True, unique=True)


class OwnedKey(Row):
    """One half of its key points to a row with a sortable id, the other is text."""

    pk = models.CompositePrimaryKey("owner", "code")
    owner = models.ForeignKey(SortableKey, models.CASCADE)
    code = models.CharField(max_length=20)
    created_at = models.DateTimeField(db_index=True)
    public_id = UUIDv7Field(null=True, unique=True)


class Document(Row):
    created_at = models.DateTimeField(db_index=True)
    public_id = UUIDv7Field(null=True, unique=True)


class Invoice(Document):
    """Has its time in the table of its parent, and an id of its own."""

    number = ULIDField(null=True, unique=True)


class BillLine(Row):
    """Has no time of its own but a day: that of its bill is its own."""

    bill = models.ForeignKey("Bill", models.CASCADE, null=True)
    before = models.ForeignKey("self", models.CASCADE, null=True)
    invoice = models.OneToOneField(Invoice, models.CASCADE, null=True)
    day = models.DateField(null=True)
    amount = models.IntegerField(default=0)
    public_id = UUIDv7Field(null=True)
    eighth = SnowflakeField(null=True, time_bits=60, worker_bits=0)
    number = LexicalSequenceField(null=True)


class Bill(Row):
    issued_at = models.DateTimeField(null=True)
    day = models.DateField(null=True, db_index=True)


class PlainProxy(Plain):
    class Meta:
        proxy = True


class Unmanaged(Row):
    created_at = models.DateTimeField()
    public_id = ULIDField(null=True)

    class Meta:
        managed = False


class Old(Row):
    """Ids of several schemes, and the new ones that are made of them."""

    name = models.CharField(max_length=20, default="")
    created_at = models.DateTimeField(null=True)
    plain = models.UUIDField(null=True, db_index=True)
    old_uuid7 = UUIDv7Field(null=True, unique=True)
    mixed = UUIDv7Field(null=True, accept_other_versions=True)
    old_ulid = ULIDField(null=True, db_index=True)
    old_ksuid = KSUIDField(null=True, db_index=True)
    old_snowflake = SnowflakeField(null=True, db_index=True)
    old_reversed = KUUIDField(null=True, reverse=True, db_index=True)
    old_cuid = CUIDField(null=True)
    text = models.CharField(max_length=36, default="")
    uuid6 = UUIDv6Field(null=True, unique=True)
    uuid7 = UUIDv7Field(null=True, unique=True)
    ulid = ULIDField(null=True, unique=True)
    snowflake = SnowflakeField(null=True, unique=True)
    kuuid = KUUIDField(null=True, unique=True)
    eighth = SnowflakeField(null=True, unique=True, time_bits=60, worker_bits=0)
    number = LexicalSequenceField(null=True, unique=True)


class OldKey(Row):
    """Random keys of version 1, which are to be replaced."""

    id = models.UUIDField(primary_key=True)
    public_id = UUIDv6Field(null=True, unique=True)
