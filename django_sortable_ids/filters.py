"""django-filter: ids in ``fields`` of a filter set, and a filter by creation time.

``fields = ["id"]`` and ``fields = {"id": ["exact", "in", "gt"]}`` take public texts. A malformed
one makes the form invalid, which is 400 in REST. This module is imported when django-filter is,
also by itself, and registers at its end.
"""

import sys
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import pgettext_lazy
from django_filters import fields

from .fields import SortableIDField
from .fields.of_model import id_at, id_fields
from .forms import PublicModelChoiceField, PublicModelMultipleChoiceField
from .ids import schema_of
from .schemes.support import nearest

__all__ = ["CreatedAtRangeFilter", "SortableIDFilter"]


class IDFilterField(forms.CharField):
    """The form field of a ``SortableIDFilter``: a public text."""

    def __init__(self, *, id_field: SortableIDField, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.id_field = id_field

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if text in self.empty_values:
            return None  # as the filters of numbers: an end of a range that is left out
        candidates = self.id_field.candidates(text)
        # If several mask keys may have masked it, the lookup tries every candidate.
        return candidates[0] if len(candidates) == 1 else text


class SortableIDFilter(django_filters.Filter):  # type: ignore[misc]
    """A filter by an id, for any lookup that takes one: ``SortableIDFilter("customer__id")``.

    A filter set has it for each sortable id in its ``fields``. For ``in`` and ``range``, combine it
    with django-filter's ``BaseInFilter`` or ``BaseRangeFilter``, as a filter set does.
    """

    field_class = IDFilterField

    def __init__(self, *args: Any, id_field: SortableIDField | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.id_field = id_field

    @property
    def _spectacular_annotation(self) -> dict[str, Any]:
        """What drf-spectacular's ``extend_schema_field`` would set, once the field is known."""
        if self.id_field is None:
            raise AttributeError("_spectacular_annotation")
        return {"field": schema_of(self.id_field)}

    @property
    def field(self) -> Any:
        if self.id_field is None:
            self.id_field = id_at(self.model, self.field_name)
            if self.id_field is None:
                known = [field.name for field in id_fields(self.model)]
                raise ImproperlyConfigured(
                    f"SortableIDFilter({self.field_name!r}): {self.model._meta.label} has no "
                    f"sortable id there; use another filter{nearest(self.field_name, known)}"
                )
        self.extra["id_field"] = self.id_field
        return super().field


class CreatedAtRangeFilter(django_filters.DateFromToRangeFilter):  # type: ignore[misc]
    """A filter by the creation time of an id: ``created = CreatedAtRangeFilter(field_name="id")``.

    Takes ``?created_after=2026-01-01&created_before=2026-01-31``, or only one of the two. Both days
    are included, and are those of the current time zone. The query compares the id itself and uses
    its index. For moments, ``IsoDateTimeFromToRangeFilter(field_name="id__created_at")``.
    """

    _spectacular_annotation = {
        "field": {"type": "string", "format": "date", "example": "2026-01-31"}
    }

    def __init__(self, field_name: str = "id", *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label", pgettext_lazy("sortable ids", "Created at"))
        super().__init__(f"{field_name}__created_at", *args, **kwargs)


_default = {"filter_class": SortableIDFilter, "extra": lambda field: {"id_field": field}}
django_filters.FilterSet.FILTER_DEFAULTS.setdefault(SortableIDField, _default)
# The FilterSet of REST framework has copied the defaults if it is imported already.
_rest = sys.modules.get("django_filters.rest_framework.filterset")
if _rest is not None:
    _rest.FilterSet.FILTER_DEFAULTS.setdefault(SortableIDField, _default)
# Choices accept and show public texts, unless the project has fields of its own; the choice for
# NULL is django-filter's.
for _filter, _usual, _public in (
    (django_filters.ModelChoiceFilter, fields.ModelChoiceField, PublicModelChoiceField),
    (
        django_filters.ModelMultipleChoiceFilter,
        fields.ModelMultipleChoiceField,
        PublicModelMultipleChoiceField,
    ),
):
    if _filter.field_class is _usual:
        _filter.field_class = type(_public.__name__, (_usual, _public), {})
