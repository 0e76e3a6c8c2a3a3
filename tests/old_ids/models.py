"""Models after the move of their keys, each with its old key."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models

from django_sortable_ids.fields import SnowflakeField, ULIDField, UUIDv7Field


class Named(models.Model):
    name = models.CharField(max_length=50, default="")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


def _old_key(field: Any, **options: Any) -> Any:
    return field(null=True, unique=True, editable=False, **options)


class Purchase(Named):
    id = UUIDv7Field(primary_key=True, prefix="pur", encoding="base32")
    old_id = _old_key(models.BigIntegerField)


class Gift(Purchase):
    """A child: the old key is that of its parent."""

    card = models.CharField(max_length=50, default="")


class NoRows(models.Manager["HiddenPurchase"]):
    def get_queryset(self) -> models.QuerySet["HiddenPurchase"]:
        return super().get_queryset().none()


class HiddenPurchase(Purchase):
    objects = NoRows()

    class Meta:
        proxy = True


class Receipt(Named):
    """Its key is a relation."""

    purchase = models.OneToOneField(Purchase, models.CASCADE, primary_key=True)


class Parcel(Named):
    """A text of digits may be its present key or its old one."""

    id = SnowflakeField(primary_key=True)
    old_id = _old_key(models.BigIntegerField)


class Device(Named):
    id = ULIDField(primary_key=True)
    old_id = _old_key(models.UUIDField)


class Secret(Named):
    """The public text of its present key is a UUID of version 4, and so is its old key."""

    id = UUIDv7Field(primary_key=True, masked=True)
    old_id = _old_key(models.UUIDField)


class Country(Named):
    code = UUIDv7Field(primary_key=True)
    old_code = _old_key(models.CharField, max_length=10)


class Unmoved(Named):
    """Before the move."""

    public_id = UUIDv7Field(null=True, unique=True, prefix="unm")


class Unrelated(Named):
    """A field of this name that can't be the old key: two rows may have the same value."""

    id = UUIDv7Field(primary_key=True)
    old_id = models.BigIntegerField(null=True)


class _User(AbstractBaseUser):
    name = models.CharField(max_length=50, unique=True)
    email = models.EmailField(default="")
    is_active = models.BooleanField(default=True)
    objects: Any = BaseUserManager()
    USERNAME_FIELD = "name"

    class Meta:
        abstract = True


class IntegerUser(_User):
    """Without any sortable id."""


class MovedUser(_User):
    id = UUIDv7Field(primary_key=True)
    old_id = _old_key(models.BigIntegerField)


class NumberedUser(_User):
    """Both keys are integers."""

    id = SnowflakeField(primary_key=True)
    old_id = _old_key(models.BigIntegerField)


class MaskedUser(_User):
    """Both keys are UUIDs, and the public text of the present one is of version 4, too."""

    id = UUIDv7Field(primary_key=True, masked=True)
    old_id = _old_key(models.UUIDField)
