"""django-filter: for masked ids, the choices in its forms are public texts.

Its filters by a relation use their own form fields, not those of the model.
"""

from typing import TYPE_CHECKING

import django_filters  # type: ignore[import-untyped]
from django_filters import fields

from ..fields import SortableIDField
from .choices import PublicModelChoiceField, PublicModelMultipleChoiceField

if TYPE_CHECKING:
    _Base = PublicModelChoiceField
else:
    _Base = object


class _MaskedOnly(_Base):
    @property
    def _id_field(self) -> SortableIDField | None:
        field = super()._id_field
        return field if field is not None and field.masked else None


class MaskedChoiceField(
    _MaskedOnly,
    fields.ModelChoiceField,  # type: ignore[misc]
    PublicModelChoiceField,
):
    """Accepts and shows public texts of masked ids; its choice for NULL is django-filter's."""


class MaskedMultipleChoiceField(
    _MaskedOnly,
    fields.ModelMultipleChoiceField,  # type: ignore[misc]
    PublicModelMultipleChoiceField,
):
    """Like ``MaskedChoiceField``, for several choices."""


def register() -> None:
    """Replace django-filter's fields by ours, but not fields that the project has set."""
    one, several = django_filters.ModelChoiceFilter, django_filters.ModelMultipleChoiceFilter
    for filter_class, default, masked in (
        (one, fields.ModelChoiceField, MaskedChoiceField),
        (several, fields.ModelMultipleChoiceField, MaskedMultipleChoiceField),
    ):
        if filter_class.field_class is default:
            filter_class.field_class = masked
