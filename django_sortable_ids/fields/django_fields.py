"""Django's fields as base classes: only their stubs take types, at runtime each is the class."""

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from django.db.models import BigIntegerField, CharField, Field, UUIDField
else:

    class _Typed:
        def __init__(self, field_class: type[models.Field]) -> None:
            self.field_class = field_class

        def __getitem__(self, types: object) -> type[models.Field]:
            return self.field_class

    BigIntegerField = _Typed(models.BigIntegerField)
    CharField = _Typed(models.CharField)
    Field = _Typed(models.Field)
    UUIDField = _Typed(models.UUIDField)

__all__ = ["BigIntegerField", "CharField", "Field", "UUIDField"]
