"""The admin: shows the creation times in ids, and finds ids in any accepted spelling."""

from .created_at_filter import CreatedAtFilter
from .model_admin import SortableIDAdmin

__all__ = ["CreatedAtFilter", "SortableIDAdmin"]
