"""The lookups of ids, for ``filter()``. They are registered when this package is imported, which
happens as soon as the app is ready and fields are imported."""

from ..deferred import deferred, when_imported
from ..fields import SortableIDField
from . import ids

ids.register()
SortableIDField.later_transforms["created_at"] = deferred("lookups.created_at:register")
when_imported("django.contrib.postgres.fields.array", deferred("lookups.ids:register_of_arrays"))
