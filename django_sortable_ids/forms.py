"""Form fields that choose among objects, with public texts as values.

In every ``ModelForm``, a ``ForeignKey`` or ``ManyToManyField`` to a masked id uses these fields.
Elsewhere, declare them instead of Django's. ``register()`` also hides masked ids that Django would
show by default in messages and ``str(instance)``. Only Django's defaults are replaced, never what a
project defines itself.
"""

from contextlib import suppress
from functools import partial
from typing import Any

from django import forms
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.db import models

from .fields import SortableIDField
from .fields.of_model import id_at, referenced_id

__all__ = ["PublicModelChoiceField", "PublicModelMultipleChoiceField"]


class _PublicChoices(forms.ModelChoiceField):  # type: ignore[type-arg]
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
            return [self._shown(member) for member in value]
        field = self._id_field
        if field is None or not isinstance(value, field.scheme.value_type):
            return value
        if isinstance(value, str) and value not in field.readings(value):
            return value  # a text that a browser sent
        if field.public_text.is_other_uuid(value):
            return self._current(str(value))  # a masked text, as <uuid:pk> gives it
        return field.public_text.format(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """The submitted texts as the choices now show them: an older key may have masked them."""
        submitted = super().bound_data(data, initial)
        if isinstance(submitted, list | tuple):
            return [self._current(text) for text in submitted]
        return self._current(submitted)

    def _current(self, text: Any) -> Any:
        field = self._id_field
        if field is not None and isinstance(text, str):
            with suppress(ValidationError):
                return field.public_text.format(field.parse_public(text))
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


class PublicModelMultipleChoiceField(
    _PublicChoices,
    forms.ModelMultipleChoiceField,  # type: ignore[type-arg]
):
    """A ``ModelMultipleChoiceField`` whose values are public texts; it accepts nothing else."""

    def clean(self, value: Any) -> Any:
        for text in value if isinstance(value, list | tuple) else ():
            if isinstance(text, str) and self._shown(text) != text:  # a value of the column
                raise self._refused("invalid_pk_value", pk=text)
        return super().clean(value)

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
        values = [candidate for several in candidates.values() for candidate in several]
        rows = self.queryset.filter(**{f"{self.to_field_name or 'pk'}__in": values})
        existing = {getattr(row, self.to_field_name or "pk") for row in rows}
        for text, several in candidates.items():
            if existing.isdisjoint(several):
                raise self._refused("invalid_choice", value=text)
        return rows


def prepare_value(choices: Any, usual: Any, value: Any) -> Any:
    """``prepare_value`` of Django's choices, for a text in any spelling: it becomes the value, so
    that an option equals it."""
    if isinstance(value, str) and not isinstance(choices, _PublicChoices):
        rows = choices.queryset
        field = None if rows is None else id_at(rows.model, choices.to_field_name or "pk")
        if field is not None and not field.masked:
            return field.canonical(value)
    return usual(choices, value)


# Masked ids


def register() -> None:
    """Hide masked ids in all models; called once, when the app is ready and a model has some."""
    for model in apps.get_models(include_auto_created=True):
        if any(map(_masked_target, model._meta.pk_fields)) and (
            model.__str__ is models.Model.__str__
        ):
            model.__str__ = _public_str  # type: ignore[method-assign,assignment]
        for several in model._meta.local_many_to_many:
            if _masked_target(several.remote_field.model._meta.pk):
                _choose(several, PublicModelMultipleChoiceField)
        for relation in model._meta.local_fields:
            if isinstance(relation, models.ForeignKey) and (target := _masked_target(relation)):
                _choose(relation, PublicModelChoiceField)
                message = relation.error_messages["invalid"]
                relation.error_messages["invalid"] = _PublicMessage(message, target)  # type: ignore[assignment]


def _choose(relation: Any, public: type[_PublicChoices]) -> None:
    # Relations of other packages may have their own form field.
    bases = (models.ForeignKey, models.OneToOneField, models.ManyToManyField)
    if type(relation).formfield in [base.formfield for base in bases]:
        relation.formfield = partial(relation.formfield, form_class=public)


class _PublicMessage:
    """A message whose ``value`` is the public text of an id."""

    def __init__(self, message: Any, field: SortableIDField) -> None:
        self._message = message
        self._field = field

    def __str__(self) -> str:
        return str(self._message)

    def __mod__(self, params: dict[str, Any]) -> str:
        text = _shown(self._field, params.get("value"))
        shown: str = self._message % (params | {"pk": text, "value": text})
        return shown


def _public_str(instance: models.Model) -> str:
    parts = (
        str(_shown(_masked_target(field), getattr(instance, field.attname)))
        for field in instance._meta.pk_fields
    )
    return f"{type(instance).__name__} object ({', '.join(parts)})"


def _shown(field: SortableIDField | None, value: Any) -> Any:
    if field is None:
        return value
    try:
        return field.shown(value)
    except ImproperlyConfigured:
        # The message is about something else. A system check reports the missing key.
        return "masked"


def _masked_target(field: Any) -> SortableIDField | None:
    """The masked id that a column is or references; None if it is another column."""
    target = referenced_id(field)
    return target if target is not None and target.masked else None
