"""drf-spectacular: what it says of fields that output the Python value of an id."""

from typing import Any

from django.db.models.constants import LOOKUP_SEP
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import build_basic_type
from rest_framework import serializers

from ..fields import SortableIDField
from ..fields.of_model import id_at
from ..old_ids import RedirectOldIDs
from .serializers import SortableIDModelSerializer
from .views import SortableIDLookupMixin


class BareIDExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """``ReadOnlyField``, such as ``"order_id"`` among the ``fields`` of a ``ModelSerializer``."""

    target_class = serializers.ReadOnlyField

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return super()._matches(target) and _id_behind(target) is not None

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> Any:
        field = _id_behind(self.target)
        return field and build_basic_type(field.scheme.value_type)


def _id_behind(target: Any) -> SortableIDField | None:
    model = getattr(getattr(target.parent, "Meta", None), "model", None)
    return model and id_at(model, LOOKUP_SEP.join(target.source_attrs))


def register() -> None:
    """Keep docstrings out of descriptions; called once, when the app is ready.

    Where the project's class has none, drf-spectacular shows that of a base class.
    """
    for base in (SortableIDModelSerializer, SortableIDLookupMixin, RedirectOldIDs):
        base.__doc__ = None
