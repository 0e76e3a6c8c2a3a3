"""Form fields that choose among objects, with public texts as values."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError

from ..fields import SortableIDField
from ..fields.of_model import id_at
from ..schemes import InvalidID

if TYPE_CHECKING:
    ModelChoiceField = forms.ModelChoiceField[Any]
    ModelMultipleChoiceField = forms.ModelMultipleChoiceField[Any]
else:
    ModelChoiceField = forms.ModelChoiceField
    ModelMultipleChoiceField = forms.ModelMultipleChoiceField


class _PublicChoices(ModelChoiceField):
    """Shows public texts, except in widgets of the admin, whose scripts add values themselves."""

    @property
    def _id_field(self) -> SortableIDField | None:
        if self.queryset is None or hasattr(self.widget, "admin_site"):
            return None
        return id_at(self.queryset.model, self.to_field_name or "pk")

    def _refused(self, code: str, **params: Any) -> ValidationError:
        return ValidationError(self.error_messages[code], code=code, params=params)

    def prepare_value(self, value: Any) -> Any:
        return self._shown(super().prepare_value(value))

    def _shown(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._shown(each) for each in value]
        field = self._id_field
        if field is None or not _is_id(field, value):
            return value
        if field.public_text.is_other_uuid(value):
            return self._current(str(value))  # a masked text, as <uuid:pk> gives it
        return field.public_text.shown(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """The submitted text as the choices now show it: an older key may have masked it."""
        submitted = super().bound_data(data, initial)
        if isinstance(submitted, list | tuple):
            return [self._current(each) for each in submitted]
        return self._current(submitted)

    def _current(self, text: Any) -> Any:
        field = self._id_field
        if field is None or not isinstance(text, str):
            return text
        try:
            return field.public_text.format(field.parse_public(text))
        except ValidationError:
            return text


class PublicModelChoiceField(_PublicChoices):
    """A ``ModelChoiceField`` whose values are public texts; it accepts nothing else."""

    def to_python(self, value: Any) -> Any:
        field = self._id_field
        if field is not None and isinstance(value, str) and value not in self.empty_values:
            try:
                field.candidates(value)
            except ValidationError:
                raise self._refused("invalid_choice", value=value) from None
        return super().to_python(value)


class PublicModelMultipleChoiceField(_PublicChoices, ModelMultipleChoiceField):
    """A ``ModelMultipleChoiceField`` whose values are public texts; it accepts nothing else."""

    def _check_values(self, value: Any) -> Any:
        field = self._id_field
        if field is None:
            return super()._check_values(value)  # type: ignore[misc]
        candidates: dict[Any, tuple[Any, ...]] = {}
        for text in value:
            try:
                candidates[text] = field.candidates(text)
            except (ValidationError, TypeError):
                raise self._refused("invalid_pk_value", pk=text) from None
        assert self.queryset is not None
        values = [each for several in candidates.values() for each in several]
        rows = self.queryset.filter(**{f"{self.to_field_name or 'pk'}__in": values})
        existing = {getattr(row, self.to_field_name or "pk") for row in rows}
        for text, several in candidates.items():
            if existing.isdisjoint(several):
                raise self._refused("invalid_choice", value=text)
        return rows


def _is_id(field: SortableIDField, value: Any) -> bool:
    """Whether it is a value of the column, not a text that a browser sent."""
    scheme = field.scheme
    if not isinstance(value, str):
        return isinstance(value, scheme.value_type)
    with suppress(InvalidID):
        return scheme.value_type is str and scheme.parse(value) == value
    return False
