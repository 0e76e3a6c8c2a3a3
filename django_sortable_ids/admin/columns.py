"""Columns of ``list_display``: the admin calls one for each row."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from ..fields import SortableIDField
from ..fields.of_model import local_time
from ..schemes import InvalidID, OutOfRange, TimeScheme


class CreatedAtColumn:
    """The creation time in an id. Sorts by the id."""

    short_description = _("created at")

    def __init__(self, field: SortableIDField) -> None:
        descending = isinstance(field.scheme, TimeScheme) and field.scheme.descending
        self.admin_order_field = f"-{field.name}" if descending else field.name
        self._field = field

    def __call__(self, obj: models.Model) -> datetime | None:
        value = getattr(obj, self._field.attname)
        try:
            return None if value is None else local_time(self._field, value)
        except (OutOfRange, InvalidID):
            # After the year 9999, or an accepted id of another version.
            return None
