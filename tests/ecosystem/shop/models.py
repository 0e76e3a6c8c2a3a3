"""Ids of each type of value, with a prefix, an encoding or a mask, as keys and in other columns."""

from django.db import models

from django_sortable_ids import fields


class Customer(models.Model):
    """A masked key."""

    id = fields.UUIDv7Field(primary_key=True, prefix="cus", encoding="base58", masked=True)
    name = models.CharField(max_length=20)

    def __str__(self):
        return self.name


class Product(models.Model):
    """A key of 64 bits."""

    id = fields.TSIDField(primary_key=True)
    name = models.CharField(max_length=20)

    def __str__(self):
        return self.name


class Order(models.Model):
    """A key of text, with relations to a masked one and to numbers."""

    id = fields.ULIDField(primary_key=True, prefix="ord")
    customer = models.ForeignKey(Customer, models.CASCADE, null=True, related_name="orders")
    products = models.ManyToManyField(Product, blank=True)
    note = models.CharField(max_length=20, blank=True)

    def __str__(self):
        return self.note


class Ticket(models.Model):
    """A counted key, and an id of each type in another column."""

    uuid = fields.UUIDv7Field(unique=True)
    text = fields.KSUIDField(unique=True, prefix="tck")
    number = fields.SnowflakeField(unique=True, prefix="num", encoding="base62")
    order = models.ForeignKey(Order, models.CASCADE, to_field="id")
    note = models.CharField(max_length=20, blank=True)

    def __str__(self):
        return self.note


class Invoice(models.Model):
    number = fields.LexicalSequenceField(unique=True)

    def __str__(self):
        return self.number


class Express(Order):
    """Its key is a relation to that of its parent."""

    hours = models.PositiveSmallIntegerField(default=24)


class Patron(Customer):
    """Its key is a relation to a UUID."""


class Seal(models.Model):
    """Its key is a relation, too, by another name."""

    order = models.OneToOneField(Order, models.CASCADE, primary_key=True)


class Stamp(models.Model):
    seal = models.ForeignKey(Seal, models.CASCADE)


class Letter(models.Model):
    """A key of 160 bits."""

    id = fields.KSUIDField(primary_key=True)


class Parcel(models.Model):
    """A key that is stored as text."""

    id = fields.KUUIDField(primary_key=True, prefix="par")


class Box(models.Model):
    """A UUID that is stored otherwise than Django does."""

    id = fields.UUIDv7Field(primary_key=True, storage="binary")


class Memo(models.Model):
    """A key that is None until the row is inserted."""

    id = fields.ULIDAutoField(primary_key=True, prefix="mem")
    note = models.CharField(max_length=20, blank=True)


KEYS = [Customer, Patron, Product, Order, Express, Letter, Parcel, Box, Memo]
