"""Invoices as in the Chinook database, and beside them an id of every scheme with a time."""

from django.db import models

from django_sortable_ids.fields import (
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


class Invoice(models.Model):
    customer = models.IntegerField()
    total = models.DecimalField(max_digits=10, decimal_places=2)
    invoice_date = models.DateTimeField()
    uuid7 = UUIDv7Field(null=True)
    uuid6 = UUIDv6Field(null=True)
    comb13 = CombV13UUIDField(null=True)
    comb4 = CombV4UUIDField(null=True)
    cuid = CUIDField(null=True)
    ulid = ULIDField(null=True)
    hexulid = HexULIDField(null=True)
    timeflake = TimeflakeField(null=True)
    scru128 = SCRU128Field(null=True)
    pushid = PushIDField(null=True)
    ksuid = KSUIDField(null=True)
    ksuid_ms = KSUIDField(null=True, precision="ms")
    kuuid = KUUIDField(null=True)
    kuuid_ms = KUUIDField(null=True, precision="ms", short=True)
    reversed_kuuid = KUUIDField(null=True, reverse=True)
    xid = XidField(null=True)
    objectid = ObjectIDField(null=True)
    snowflake = SnowflakeField(null=True)
    discord = SnowflakeField(null=True, layout="discord")
    instagram = SnowflakeField(null=True, layout="instagram")
    mastodon = SnowflakeField(null=True, layout="mastodon")
    unique_rowid = SnowflakeField(null=True, layout="unique_rowid")
    sonyflake_1 = SonyflakeField(null=True, version=1)
    sonyflake_2 = SonyflakeField(null=True)
    tsid = TSIDField(null=True)
    time64 = Time64Field(null=True)
    time64_ms = Time64Field(null=True, layout="3+6")

    def __str__(self) -> str:
        return f"{self.customer}: {self.total}"
