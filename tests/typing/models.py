"""Columns of each type of value, nullable columns of every type of value, and foreign keys."""

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
    """Columns of each type of value, not null."""

    uuid7 = fields.UUIDv7Field()
    lexical = fields.LexicalSequenceField()
    ulid = fields.ULIDField()
    xid = fields.XidField()
    snowflake = fields.SnowflakeField()
    tsid = fields.TSIDField()


class Nullable(models.Model):
    """Columns of each type of value, null."""

    uuid7 = fields.UUIDv7Field(null=True)
    lexical = fields.LexicalSequenceField(null=True)
    ulid = fields.ULIDField(null=True)
    xid = fields.XidField(null=True)
    snowflake = fields.SnowflakeField(null=True)
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
