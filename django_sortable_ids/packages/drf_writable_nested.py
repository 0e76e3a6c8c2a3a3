"""drf-writable-nested: finds the nested rows by the public texts that its serializers output.

It compares the text of the input with that of the key. A row whose key differs is deleted and
inserted again.
"""

from typing import Any

from django.db import models
from drf_writable_nested.mixins import BaseNestedModelSerializer
from rest_framework import serializers

from ..fields.of_model import id_at
from ..lookups.ids import pasted_values

_usual = BaseNestedModelSerializer._get_related_pk


def register() -> None:
    BaseNestedModelSerializer._get_related_pk = _get_related_pk


def _get_related_pk(serializer: Any, data: Any, model: type[models.Model]) -> str | None:
    """The text of the key in the input, or of the row that was just saved, whose key it sets."""
    field = id_at(model, "pk")
    name = "pk" if data.get("pk") else model._meta.pk.attname
    given = data.get(name)
    if field is None or not given or type(given) is not str:
        found: str | None = _usual(serializer, data, model)
        return found
    # The public form first: the key of a row that was just saved may be text in either.
    values = tuple(dict.fromkeys(reversed(tuple(pasted_values(field, given)))))
    if not values:
        raise serializers.ValidationError({name: field.invalid(given).messages})
    return str(field.one_of(values))
