"""Django REST framework: input and output of ids as public texts.

With both apps installed, ``ModelSerializer`` uses ``SortableIDField`` for a model's own columns.
Its relations are public texts, too, and so are DRF's related fields that any serializer declares.
Own subclasses of them, and ``"order_id"`` among the fields, need a ``SortableIDModelSerializer``.
"""

from typing import TYPE_CHECKING, Any

import rest_framework.serializers  # noqa: F401 - first: then the app registers `.fields`

from .fields import (
    SortableIDField,
    SortableIDHyperlinkedIdentityField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
)
from .serializers import AcceptOldIDs, SortableIDModelSerializer
from .views import SortableIDLookupMixin

if TYPE_CHECKING:
    from .pagination import SortableIDCountedCursorPagination, SortableIDCursorPagination

__all__ = [
    "AcceptOldIDs",
    "SortableIDCountedCursorPagination",
    "SortableIDCursorPagination",
    "SortableIDField",
    "SortableIDHyperlinkedIdentityField",
    "SortableIDHyperlinkedRelatedField",
    "SortableIDLookupMixin",
    "SortableIDModelSerializer",
    "SortableIDRelatedField",
    "SortableIDSlugRelatedField",
]


def __getattr__(name: str) -> Any:
    # DRF's paginators must be imported when a view needs them, not when the app starts.
    if name in ("SortableIDCountedCursorPagination", "SortableIDCursorPagination"):
        from . import pagination

        return getattr(pagination, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
