"""The column whose ids tell when a row was created."""

from typing import NamedTuple

from django.core.exceptions import FieldError
from django.db import models
from django.db.models.constants import LOOKUP_SEP

from ..fields import SortableIDField
from ..fields.of_model import field_at, id_at
from ..schemes import TimeScheme


class TimedColumn(NamedTuple):
    """A sortable id whose index has the order of time."""

    path: str
    """From the model to the id itself: ``"order__id"`` for ``"order"``."""
    field: SortableIDField
    scheme: TimeScheme


def timed_column(model: type[models.Model], path: str) -> TimedColumn:
    """The id at the end of a lookup path.

    Raises ``FieldError`` if it is no sortable id, if its ids carry no time or don't sort by it, and
    if the path leads from one row to many.
    """
    field = id_at(model, path)
    named = f"{path!r} of {model._meta.label}"
    if field is None:
        raise FieldError(f"{named} is no sortable id, and no relation to one")
    scheme = field.scheme
    if not isinstance(scheme, TimeScheme):
        raise FieldError(f"{named} is a {scheme.title}: its ids carry no time")
    if not scheme.sorts:
        raise FieldError(f"{named} is a {scheme.title}: its ids don't sort by their time")
    parts = path.split(LOOKUP_SEP)
    for length in range(1, len(parts) + 1):
        step = field_at(model, LOOKUP_SEP.join(parts[:length]))
        if step.many_to_many or step.one_to_many:
            raise FieldError(f"{named} leads from a row to several: it would be counted repeatedly")
    end = field_at(model, path)
    while end.related_model is not None:
        end = end.target_field
        path = f"{path}{LOOKUP_SEP}{end.name}"
    return TimedColumn(path, field, scheme)
