"""Django's fields as base classes: only their stubs take types, at runtime each is the class."""

from typing import TYPE_CHECKING, Any

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

_OF_VALUES = (models.CharField, models.IntegerField, models.UUIDField)


class OwnLookups:
    """Leaves out lookups and transforms of ``CharField`` and its like: they expect its column, and
    an id may be stored as bytes.
    """

    def _get_lookup(self, lookup_name: str) -> Any:
        for parent in type(self).__mro__:
            is_djangos = issubclass(parent, _OF_VALUES) and not issubclass(parent, OwnLookups)
            found = parent.__dict__.get("class_lookups", {}).get(lookup_name)
            if found is not None and not is_djangos:
                return found
        return None


__all__ = ["BigIntegerField", "CharField", "Field", "OwnLookups", "UUIDField"]
