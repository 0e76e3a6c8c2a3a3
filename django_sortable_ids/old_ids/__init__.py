"""Ids from before the move of a primary key to a sortable id: they still answer.

A moved model has its old key in a unique field next to the key, ``old_id`` for a key ``id``. New
rows have NULL there. The functions also work before the move: deploy code that calls them first.
"""

from .redirecting import RedirectOldIDs
from .resolving import old_key_field, resolve_id, resolve_ids

__all__ = ["RedirectOldIDs", "old_key_field", "resolve_id", "resolve_ids"]
