"""django-filter: the choices of its forms are public texts where ids are masked.

Its filters by a relation have form fields of their own, and not those of the model.
"""

from typing import TYPE_CHECKING, Any

import django_filters  # type: ignore[import-untyped]
from django_filters import fields

from .fields import SortableIDField
from .forms import PublicModelChoiceField, PublicModelMultipleChoiceField

if TYPE_CHECKING:
    _Base = PublicModelChoiceField
else:
    _Base = object


class _MaskedOnly(_Base):
    @property
    def _id_field(self) -> SortableIDField | None:
        found = super()._id_field
        return found if found is not None and found.public_text.masked else None


class MaskedChoiceField(
    _MaskedOnly,
    fields.ModelChoiceField,  # type: ignore[misc]
    PublicModelChoiceField,
):
    """Takes and shows public texts of masked ids; its choice of NULL is django-filter's."""


class MaskedMultipleChoiceField(
    _MaskedOnly,
    fields.ModelMultipleChoiceField,  # type: ignore[misc]
    PublicModelMultipleChoiceField,
):
    """The same for several."""


def register() -> None:
    """Put our fields in the place of django-filter's, not of those that a project has put there."""
    ours: dict[Any, Any] = {
        django_filters.ModelChoiceFilter: (fields.ModelChoiceField, MaskedChoiceField),
        django_filters.ModelMultipleChoiceFilter: (
            fields.ModelMultipleChoiceField,
            MaskedMultipleChoiceField,
        ),
    }
    for filter_class, (usual, masked) in ours.items():
        if filter_class.field_class is usual:
            filter_class.field_class = masked
