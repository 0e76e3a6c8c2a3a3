"""The lookups of ids, for ``filter()``. They are registered when this package is imported, which
happens as soon as the app is ready and fields are imported."""

from ..deferred import deferred
from ..fields import SortableIDField
from . import ids

ids.register()
SortableIDField.later_transforms["created_at"] = deferred("functions.created_at:register")
