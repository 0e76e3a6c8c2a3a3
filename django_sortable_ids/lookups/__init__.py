"""The lookups of ids, for ``filter()``. They are registered when this package is imported, which
happens as soon as the app is ready and fields are imported."""

from ..fields import SortableIDField
from . import ids


def _register_times() -> None:
    from ..functions.created_at import register

    register()


ids.register()
SortableIDField.later_transforms["created_at"] = _register_times
