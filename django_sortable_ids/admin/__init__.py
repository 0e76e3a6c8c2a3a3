"""The admin: shows the creation times in ids, finds ids in any accepted spelling, and takes them
apart."""

from .created_at_filter import CreatedAtFilter
from .inspector import inspect_id_urls, inspect_id_view
from .model_admin import SortableIDAdmin

__all__ = ["CreatedAtFilter", "SortableIDAdmin", "inspect_id_urls", "inspect_id_view"]
