"""A product for each scheme, whose key it is, and what points to such keys."""

from typing import Any

from django.db import models

from django_sortable_ids import fields


class Named(models.Model):
    name = models.CharField(max_length=50, default="")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class UUIDv7Product(Named):
    id = fields.UUIDv7Field(primary_key=True)


class CombProduct(Named):
    id = fields.CombV13UUIDField(primary_key=True, encoding="sqlserver")


class ULIDProduct(Named):
    id = fields.ULIDField(primary_key=True, prefix="prod")


class KUUIDProduct(Named):
    """The newest first."""

    id = fields.KUUIDField(primary_key=True, prefix="prod", separator=":", reverse=True, short=True)


class SnowflakeProduct(Named):
    id = fields.SnowflakeField(primary_key=True, encoding="base62")


class SequenceProduct(Named):
    id = fields.LexicalSequenceField(primary_key=True, charset="alnum_lower", width=6)


PRODUCTS: dict[str, type[Named]] = {
    "uuid7": UUIDv7Product,
    "comb13": CombProduct,
    "ulid": ULIDProduct,
    "kuuid": KUUIDProduct,
    "snowflake": SnowflakeProduct,
    "sequence": SequenceProduct,
}
"""The products by the name of their scheme, which is also that of whatever points to them."""


def _one(product: type[Named]) -> Any:
    return models.ForeignKey(product, models.CASCADE, null=True, blank=True, related_name="baskets")


def _many(product: type[Named]) -> Any:
    return models.ManyToManyField(product, blank=True, related_name="all_baskets")


class Basket(Named):
    """Points to one product of each scheme, and to any number of them."""

    id = fields.UUIDv7Field(primary_key=True, prefix="bas")
    uuid7 = _one(UUIDv7Product)
    comb13 = _one(CombProduct)
    ulid = _one(ULIDProduct)
    kuuid = _one(KUUIDProduct)
    snowflake = _one(SnowflakeProduct)
    sequence = _one(SequenceProduct)
    all_uuid7 = _many(UUIDv7Product)
    all_comb13 = _many(CombProduct)
    all_ulid = _many(ULIDProduct)
    all_kuuid = _many(KUUIDProduct)
    all_snowflake = _many(SnowflakeProduct)
    all_sequence = _many(SequenceProduct)


class Order(Named):
    """An integer key, and beside it an id of each scheme that may be missing."""

    uuid7 = fields.UUIDv7Field(null=True, unique=True)
    comb13 = fields.CombV13UUIDField(null=True, unique=True, encoding="base32")
    ulid = fields.ULIDField(null=True, unique=True, prefix="ord")
    kuuid = fields.KUUIDField(
        null=True, unique=True, prefix="ord", separator=":", precision="ms", reverse=True
    )
    snowflake = fields.SnowflakeField(null=True, unique=True)
    sequence = fields.LexicalSequenceField(null=True, unique=True, charset="numeric", width=5)
    tenant = models.CharField(max_length=10, default="")


def _order_by(column: str) -> Any:
    return models.ForeignKey(
        Order, models.CASCADE, null=True, blank=True, to_field=column, related_name="+"
    )


class Refund(Named):
    """Points to an order by each of its ids, none of which is the order's key."""

    uuid7 = _order_by("uuid7")
    comb13 = _order_by("comb13")
    ulid = _order_by("ulid")
    kuuid = _order_by("kuuid")
    snowflake = _order_by("snowflake")
    sequence = _order_by("sequence")


class Voucher(Named):
    """What a form and a client could set, were it not for the key."""

    id = fields.ULIDField(primary_key=True, prefix="vou", editable=True)
    code = fields.KUUIDField(
        "promotion code",
        help_text="As printed.",
        null=True,
        blank=True,
        unique=True,
        prefix="code",
        editable=True,
    )


class Profile(Named):
    """Its key is a relation to a product."""

    product = models.OneToOneField(ULIDProduct, models.CASCADE, primary_key=True)


class Bundle(ULIDProduct):
    """Its key is the one of the product that it extends."""

    size = models.IntegerField(default=0)


class Review(Named):
    """Points to keys that are relations themselves, and has an id that is not unique."""

    import_id = fields.UUIDv7Field(null=True)
    profile = models.ForeignKey(Profile, models.CASCADE, null=True, blank=True)
    bundle = models.ForeignKey(
        Bundle, models.CASCADE, null=True, blank=True, related_name="reviews"
    )
    basket = models.ForeignKey(Basket, models.CASCADE, null=True, blank=True)


class Stock(Named):
    pk = models.CompositePrimaryKey("shelf", "place")
    shelf = fields.ULIDField(prefix="shelf")
    place = models.IntegerField()
    label = fields.ULIDField(unique=True)


def id_column(model: type[models.Model], name: str = "id") -> fields.SortableIDField:
    field: Any = model._meta.get_field(name)
    assert isinstance(field, fields.SortableIDField)
    return field
