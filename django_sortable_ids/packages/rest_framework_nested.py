"""drf-nested-routers: its links have the public texts of the row and of its parents."""

from typing import Any

from django.db import models
from rest_framework_nested.relations import NestedHyperlinkedRelatedField

from ..fields.of_model import id_at
from . import shown

_usual = NestedHyperlinkedRelatedField.get_url


def register() -> None:
    NestedHyperlinkedRelatedField.get_url = _get_url


def _get_url(relation: Any, obj: models.Model, *given: Any) -> str | None:
    url: str | None = _usual(relation, _Shown(obj), *given)
    return url


class _Shown:
    """A row whose ids, and those of rows that it references, are public texts."""

    def __init__(self, row: models.Model) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._row, name)
        if isinstance(value, models.Model):
            return _Shown(value)
        return shown(id_at(type(self._row), name), value)
