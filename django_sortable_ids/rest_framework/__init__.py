"""Django REST framework: input and output of ids as public texts.

With both apps installed, all serializers output and accept public texts: of a model's own columns,
of relations, and of columns that are only read.
"""

from typing import TYPE_CHECKING, Any

import rest_framework.serializers  # noqa: F401 - first: then the app registers `.fields`

from .fields import AcceptOldIDs, PublicIDField

if TYPE_CHECKING:
    from .views import SortableIDCursorPagination, SortableIDLookupMixin

__all__ = ["AcceptOldIDs", "PublicIDField", "SortableIDCursorPagination", "SortableIDLookupMixin"]


def __getattr__(name: str) -> Any:
    # DRF's paginators must be imported when a view needs them, not when the app starts.
    if name in __all__:
        from . import views

        return getattr(views, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
