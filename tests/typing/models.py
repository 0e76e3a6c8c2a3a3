"""A column of every field, nullable columns of every type of value, and foreign keys."""

from django.db import models

from django_sortable_ids import fields


class Customer(models.Model):
    id = fields.UUIDv7Field(primary_key=True, masked=True)


class Order(models.Model):
    id = fields.SnowflakeField("number", primary_key=True, epoch_ms=0)
    public_id = fields.ULIDField(prefix="ord", unique=True)
    invoice = fields.LexicalSequenceField(null=True, block=100, width=8)
    customer: models.ForeignKey[Customer, Customer] = models.ForeignKey(
        Customer, on_delete=models.CASCADE
    )
    replaces: models.ForeignKey["Order | None", "Order | None"] = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True
    )
    sent_to = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="sent")


class Every(models.Model):
    """Every field, not null."""

    comb13 = fields.CombV13UUIDField()
    uuid6 = fields.UUIDv6Field(accept_other_versions=True)
    uuid7 = fields.UUIDv7Field()

    hexulid = fields.HexULIDField(null=False)
    ksuid = fields.KSUIDField(precision="ms")
    kuuid = fields.KUUIDField()
    lexical = fields.LexicalSequenceField()
    objectid = fields.ObjectIDField()
    pushid = fields.PushIDField()
    scru128 = fields.SCRU128Field()
    timeflake = fields.TimeflakeField()
    ulid = fields.ULIDField()
    xid = fields.XidField()

    snowflake = fields.SnowflakeField()
    sonyflake = fields.SonyflakeField()
    time64 = fields.Time64Field()
    tsid = fields.TSIDField()


class Nullable(models.Model):
    """Every field, null."""

    comb13 = fields.CombV13UUIDField(null=True)
    uuid6 = fields.UUIDv6Field(null=True, accept_other_versions=True)
    uuid7 = fields.UUIDv7Field(null=True)

    hexulid = fields.HexULIDField(null=True)
    ksuid = fields.KSUIDField(null=True, precision="ms")
    kuuid = fields.KUUIDField(null=True)
    lexical = fields.LexicalSequenceField(null=True)
    objectid = fields.ObjectIDField(null=True)
    pushid = fields.PushIDField(null=True)
    scru128 = fields.SCRU128Field(null=True)
    timeflake = fields.TimeflakeField(null=True)
    ulid = fields.ULIDField(null=True)
    xid = fields.XidField(null=True)

    snowflake = fields.SnowflakeField(null=True)
    sonyflake = fields.SonyflakeField(null=True)
    time64 = fields.Time64Field(null=True)
    tsid = fields.TSIDField(null=True)


class OrderIDField(fields.ULIDField[str, str]):
    """A subclass of one type of value."""


class LooseIDField(fields.ULIDField):
    """A subclass that doesn't say which: its values are Any."""


class Automatic(models.Model):
    id = fields.UUIDv7AutoField(primary_key=True)


class Numbered(models.Model):
    id = fields.SnowflakeAutoField(primary_key=True, layout="discord")


class Parcel(models.Model):
    id = OrderIDField(primary_key=True)
    loose = LooseIDField(null=True)
