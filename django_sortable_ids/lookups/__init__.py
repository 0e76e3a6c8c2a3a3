"""The lookups of ids, for ``filter()``."""

from . import arrays, created_at, ids


def register() -> None:
    """Register every lookup with ``SortableIDField``; called once, when the app is ready."""
    ids.register()
    created_at.register()
    arrays.register()
