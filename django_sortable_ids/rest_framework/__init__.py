"""Django REST framework: ids as their public text, in and out.

``ModelSerializer`` takes ``SortableIDField`` for a model's own columns by itself, once both apps
are installed; for relations it has no such hook, which is what ``SortableIDModelSerializer`` is
for.
"""

from typing import TYPE_CHECKING, Any

from .fields import (
    SortableIDField,
    SortableIDHyperlinkedIdentityField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
)
from .serializers import SortableIDModelSerializer
from .views import SortableIDLookupMixin

if TYPE_CHECKING:
    from .pagination import SortableIDCursorPagination

__all__ = [
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
    # DRF's paginators are imported when a view needs them, and not when the app starts.
    if name == "SortableIDCursorPagination":
        from .pagination import SortableIDCursorPagination

        return SortableIDCursorPagination
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
