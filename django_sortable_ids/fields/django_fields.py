"""Django's fields as base classes: only their stubs take types, at runtime each is the class."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models.query_utils import RegisterLookupMixin, class_or_instance_method

from .callers import is_admin_search

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

    later_transforms: ClassVar[dict[str, Callable[[], None]]] = {}
    """What registers a transform when it is used first."""

    @classmethod
    @functools.cache  # cleared by Django when a lookup is registered
    def get_class_lookups(cls) -> dict[str, Any]:
        """Lookups and transforms by name."""
        parents = [
            parent
            for parent in cls.__mro__
            if issubclass(parent, OwnLookups) or not issubclass(parent, _OF_VALUES)
        ]
        registered = [vars(parent).get("class_lookups", {}) for parent in parents]
        return RegisterLookupMixin.merge_dicts(registered)

    get_lookups = class_or_instance_method(
        get_class_lookups.__func__,  # type: ignore[attr-defined]
        RegisterLookupMixin.get_instance_lookups,
    )

    def get_lookup(self, lookup_name: str) -> Any:
        # For "id__exact" among search_fields, the admin of Django 5.2 would cast the column to
        # text. It searches by "id__exact__icontains" if there is no such lookup.
        if lookup_name == "exact" and is_admin_search():
            return None
        return super().get_lookup(lookup_name)  # type: ignore[misc]

    def get_transform(self, lookup_name: str) -> Any:
        if lookup_name == "exact":
            return _unchanged
        if lookup_name in self.later_transforms:
            self.later_transforms[lookup_name]()
            self.later_transforms.pop(lookup_name, None)  # another thread may have been faster
        return super().get_transform(lookup_name)  # type: ignore[misc]


def _unchanged(expression: Any) -> Any:
    """The transform of ``id__exact__icontains``."""
    return expression


__all__ = ["BigIntegerField", "CharField", "Field", "OwnLookups", "UUIDField"]
