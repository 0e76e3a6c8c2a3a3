"""The admin: shows the creation times in ids, finds ids in any accepted spelling, decodes them,
and lists backfills."""

from .created_at_filter import CreatedAtFilter
from .inspector import inspect_id_urls, inspect_id_view
from .model_admin import SortableIDAdmin
from .own_models import register_own_models

__all__ = [
    "CreatedAtFilter",
    "SortableIDAdmin",
    "inspect_id_urls",
    "inspect_id_view",
    "register_own_models",
]
