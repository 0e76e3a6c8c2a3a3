"""Choices that may be named by the ids from before the move of a primary key."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db.models import QuerySet

from ..fields.of_model import id_at
from ..old_ids import resolve_id

if TYPE_CHECKING:
    One = forms.ModelChoiceField[Any]
    Several = forms.ModelMultipleChoiceField[Any]
else:
    One = Several = object


class OldChoice(One):
    """A field of one choice."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(_present(self, value))


class OldChoices(Several):
    """A field of several choices."""

    def _check_values(self, value: Any) -> Any:
        usual: Any = super()
        return usual._check_values([_present(self, each) for each in value])


@lru_cache
def accepting(declared: type[Any], base: type[Any]) -> type[Any]:
    """The class of a field, which accepts old ids, too. ``base`` is one of this module."""
    return type(declared.__name__, (base, declared), {})


def present_of(rows: QuerySet[Any], given: Any) -> Any:
    """The present key for an id in any spelling or an old id; None if there is none."""
    try:
        return resolve_id(rows, given)
    except (ObjectDoesNotExist, ValidationError):
        return None


def _present(field: Any, given: Any) -> Any:
    """What the field accepts for the present id of the row, or what is given."""
    rows, name = field.queryset, field.to_field_name or "pk"
    if not isinstance(given, str) or name not in ("pk", rows.model._meta.pk.name):
        return given
    key, present = id_at(rows.model, "pk"), present_of(rows, given)
    if present is None or key is None:
        return given
    return key.public_text.format(present) if key.masked else present
