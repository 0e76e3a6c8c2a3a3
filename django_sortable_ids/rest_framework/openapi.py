"""drf-spectacular: what it doesn't show of this package."""

from ..old_ids import RedirectOldIDs
from .serializers import AcceptOldIDs
from .views import SortableIDLookupMixin


def register() -> None:
    """Keep docstrings out of descriptions; called once, when the package is imported.

    Where the project's class has none, drf-spectacular shows that of a base class.
    """
    for base in (AcceptOldIDs, SortableIDLookupMixin, RedirectOldIDs):
        base.__doc__ = None
