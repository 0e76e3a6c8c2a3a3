"""The admin: shows the creation times in ids, finds ids in any accepted spelling, decodes them,
and lists backfills.

Django imports this package at every start, so its parts are imported when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .own_models import register_own_models

if TYPE_CHECKING:
    from .created_at_filter import CreatedAtFilter
    from .inspector import inspect_id_urls, inspect_id_view
    from .model_admin import SortableIDAdmin

_MODULES = {
    "CreatedAtFilter": "created_at_filter",
    "SortableIDAdmin": "model_admin",
    "inspect_id_urls": "inspector",
    "inspect_id_view": "inspector",
}

__all__ = [
    "CreatedAtFilter",
    "SortableIDAdmin",
    "inspect_id_urls",
    "inspect_id_view",
    "register_own_models",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
