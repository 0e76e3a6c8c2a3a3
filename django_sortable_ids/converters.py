"""Path converters: a URL gives a view the value of an id, and is built from it.

``path("orders/<order_id:id>/", ...)`` accepts public texts only. A malformed one doesn't match, so
the answer is 404. ``reverse()`` and ``{% url %}`` take the value, the instance or the public text.
"""

from collections import defaultdict
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import register_converter
from django.urls.converters import get_converters

from .fields import SortableIDField, history_models
from .fields.of_model import id_field, usable_fields
from .schemes import ID

__all__ = ["IDConverter", "id_converter", "register"]


class IDConverter:
    """A path converter of one field: use ``id_converter``."""

    regex = "[^/]+"
    field: SortableIDField

    def to_python(self, text: str) -> ID:
        """The value of a public text. ``ValueError`` for anything else: the path doesn't match.

        If several mask keys may have masked it, queries for the value that exists in the table.
        """
        try:
            return self.field.parse_public(text)
        except ValidationError as error:
            raise ValueError(error.messages[0]) from None

    def to_url(self, value: Any) -> str:
        """The public text of a value, an instance, or a text in any accepted spelling.

        ``ValueError`` for anything else: ``reverse()`` raises ``NoReverseMatch``.
        """
        if isinstance(value, models.Model):
            if not isinstance(value, self.field.model):
                raise ValueError(
                    f"found {value._meta.label}, expected {self.field.model._meta.label}"
                )
            value = getattr(value, self.field.attname)
        if value is None:
            raise ValueError(f"{self.field} is None: the instance has no id yet")
        try:
            return self.field.public_text.format(self.field.to_python(value))
        except ValidationError as error:
            raise ValueError(error.messages[0]) from None


def id_converter(model: type[models.Model], field: str | None = None) -> type[IDConverter]:
    """A class for ``register_converter(id_converter(Order), "order_id")``.

    ``field`` names one of several sortable ids. The default is that of ``ids.public_id``: the
    primary key if it is one, else the first unique one, else the first one. Raises
    ``FieldDoesNotExist`` if there is none.
    """
    return _converter_of(id_field(model, field))


def _converter_of(field: SortableIDField) -> type[IDConverter]:
    name = f"{field.model.__name__}_{field.name}_converter"
    return type(name, (IDConverter,), {"field": field})


def register() -> None:
    """Register a converter for each sortable id of the project; call it in ``urls.py``.

    The name consists of model and field in lower case, such as ``order_id`` or
    ``order_public_id``. Each converter is also registered with the label of its app,
    ``shop_order_id``, which is its only name if two apps have such a model. Names that are already
    registered keep their converters.
    """
    by_name: dict[str, list[SortableIDField]] = defaultdict(list)
    for model in apps.get_models():
        if history_models.original_of(model) is None:
            for field in usable_fields(model):
                name = f"{model._meta.model_name}_{field.name}"
                by_name[name].append(field)
                by_name[f"{model._meta.app_label}_{name}"].append(field)
    for name, fields in by_name.items():
        if len(fields) == 1 and name not in get_converters():
            register_converter(_converter_of(fields[0]), name)
