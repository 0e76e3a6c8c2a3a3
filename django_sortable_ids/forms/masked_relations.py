"""Hides masked ids that Django would show by default: in choices, messages, ``str(instance)``.

This changes foreign keys to masked ids, and models whose key is or references one. Only Django's
defaults are replaced, never what a project defines itself.
"""

from functools import partial
from typing import Any

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from .choices import PublicModelChoiceField, PublicModelMultipleChoiceField


def register() -> None:
    """Hide masked ids in all models; called once, when the app is ready."""
    all_models = apps.get_models(include_auto_created=True)
    if not any(_is_masked(field) for model in all_models for field in model._meta.local_fields):
        return
    for model in all_models:
        if any(map(_masked_target, model._meta.pk_fields)) and (
            model.__str__ is models.Model.__str__
        ):
            model.__str__ = _public_str  # type: ignore[method-assign,assignment]
        for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
            _hide(field)


def _hide(relation: Any) -> None:
    if isinstance(relation, models.ManyToManyField):
        if _masked_target(relation.remote_field.model._meta.pk):
            _show_public_choices(relation)
    elif isinstance(relation, models.ForeignKey):
        target = _masked_target(relation)
        if target:
            _show_public_choices(relation)
            message = relation.error_messages["invalid"]
            relation.error_messages["invalid"] = _PublicMessage(message, target)  # type: ignore[assignment]


_DJANGO_FORMFIELDS = tuple(
    each.formfield for each in (models.ForeignKey, models.OneToOneField, models.ManyToManyField)
)


def _show_public_choices(relation: Any) -> None:
    # Relations of other packages may have their own form field.
    if type(relation).formfield in _DJANGO_FORMFIELDS:
        relation.formfield = partial(_formfield, relation, relation.formfield)


def _formfield(relation: Any, original: Any, **kwargs: Any) -> Any:
    several = isinstance(relation, models.ManyToManyField)
    public = PublicModelMultipleChoiceField if several else PublicModelChoiceField
    return original(**{"form_class": public, **kwargs})


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
    meta = instance._meta
    parts = tuple(
        _shown(_masked_target(field), getattr(instance, field.attname)) for field in meta.pk_fields
    )
    key = parts if isinstance(meta.pk, models.CompositePrimaryKey) else parts[0]
    return f"{type(instance).__name__} object ({key})"


def _shown(field: SortableIDField | None, value: Any) -> Any:
    if field is None:
        return value
    try:
        return field.public_text.shown(value)
    except ImproperlyConfigured:
        # The message is about something else. A system check reports the missing key.
        return "masked"


def _masked_target(field: Any) -> SortableIDField | None:
    """The masked id that a column is or references; None if it is another column."""
    target = referenced_id(field)
    return target if _is_masked(target) else None


def _is_masked(field: Any) -> bool:
    return isinstance(field, SortableIDField) and field.masked
