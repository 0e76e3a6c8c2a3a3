"""The public text of an id, as JSON Schema and in URLs, too; its creation time and its model."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.apps import apps
from django.core.exceptions import SynchronousOnlyOperation, ValidationError
from django.db import models
from django.urls import get_resolver, get_urlconf, register_converter
from django.urls.converters import get_converters

from .fields import SortableIDField
from .fields.of_model import fields_of, id_field, id_of, local_time
from .schemes import ID, InvalidID
from .schemes.errors import described
from .schemes.support import nearest
from .schemes.text_forms import UUIDText

__all__ = [
    "IDConverter",
    "Resolved",
    "created_at",
    "id_converter",
    "public_id",
    "register_converters",
    "resolve",
    "schema_of",
]


class Resolved(NamedTuple):
    """What a public text refers to: ``model``, ``field`` and ``value``."""

    model: type[models.Model]
    field: SortableIDField
    value: ID

    def fetch(self, using: str | None = None) -> models.Model:
        """The instance, from the database ``using``. Raises the model's ``DoesNotExist``."""
        return self.model._default_manager.using(using).get(**{self.field.name: self.value})


def resolve(text: str) -> Resolved:
    """The model, the field and the value of a public text with a prefix: ``ord_01KDVDNA...``.

    Raises ``LookupError`` if no model has the prefix, or if several have it for such ids. Raises
    ``ValidationError`` if the id after the prefix is malformed.
    """
    known = fields_by_prefix(tuple(apps.get_models()))
    fields = []
    for prefix in sorted(known, key=len):  # One may be the beginning of another.
        if isinstance(text, str) and text.startswith(prefix):
            fields += known[prefix]
    if not fields:
        raise LookupError(
            f"{described(text)} has no known prefix; expected one of {', '.join(sorted(known))}"
            f"{nearest(text[:64].rpartition('_')[0], known) if isinstance(text, str) else ''}"
        )
    matches = []
    for field in fields:
        with suppress(ValidationError):
            matches.append(Resolved(field.model, field, field.parse_public(text)))
    if not matches:
        raise fields[-1].invalid(text)
    if len(matches) > 1:
        owners = " and of ".join(str(match.field) for match in matches)
        raise LookupError(f"{described(text)} is an id of {owners}: give each another prefix")
    return matches[0]


@lru_cache(maxsize=1)
def fields_by_prefix(classes: tuple[type[models.Model], ...]) -> dict[str, list[SortableIDField]]:
    by_prefix: dict[str, list[SortableIDField]] = {}
    for field in fields_of(classes):
        for prefix in filter(None, field.public_text.accepted_prefixes):
            by_prefix.setdefault(prefix, []).append(field)
    return by_prefix


def public_id(instance: models.Model, field: str | None = None) -> str | None:
    """The public text of the instance's id, as in URLs and REST; None if it has no id yet.

    ``field`` names one of several sortable ids. The default is the primary key if it is one, else
    the first unique one, else the first one.
    """
    column, value = id_of(instance, field)
    return None if value is None else column.public_text.format(value)


def created_at(instance: models.Model, field: str | None = None) -> datetime | None:
    """The creation time in the instance's id. None if it has no id yet, or if the stored value
    isn't an id, such as a UUID of another version.

    ``field`` is that of ``public_id``. The time is aware and in the current time zone, or naive
    local time with ``USE_TZ=False``. Raises ``OutOfRange`` after the year 9999 and
    ``NotTimeOrdered`` for a sequence.
    """
    column, value = id_of(instance, field)
    with suppress(InvalidID):
        return None if value is None else local_time(column, value)
    return None


def schema_of(field: SortableIDField) -> dict[str, Any]:
    """The public texts of a field as JSON Schema, of which OpenAPI is a dialect: type, length,
    pattern, example and ``help_text`` of the ids that URLs and REST show.

    The type is always a string, also for numbers: JavaScript rounds those above 2 ** 53. The
    pattern matches the text that is output; input also accepts other spellings.
    """
    text = field.public_text
    form, prefix = text.form, text.full_prefix
    schema: dict[str, Any] = {
        "type": "string",
        "minLength": len(prefix) + form.shortest,
        "maxLength": len(prefix) + form.length,
        "pattern": f"^{text.pattern}$",
        "example": text.example,
    }
    if form.pattern == UUIDText().pattern and not prefix:
        schema["format"] = "uuid"
    if field.prefix:
        schema["x-typeid"] = field.prefix
        if (field.encoding, field.separator, field.scheme.value_type) == ("base32", "_", UUID):
            schema["format"] = "typeid"  # generators make a type of it for each prefix
    if field.help_text:
        schema["description"] = str(field.help_text)
    return schema


class IDConverter:
    """A path converter of one field: use ``id_converter``."""

    regex = "[^/]+"
    field: SortableIDField

    def to_python(self, text: str) -> ID:
        """The id; ``ValueError`` if ``parse_public`` refuses the text: the path doesn't match."""
        try:
            return self.field.parse_public(text)
        except ValidationError as error:
            raise ValueError(error.messages[0]) from None

    def to_url(self, value: Any) -> str:
        """The public text of a value, an instance, or a text in any accepted spelling.

        ``ValueError`` for anything else: ``reverse()`` raises ``NoReverseMatch``.
        """
        if isinstance(value, models.Model):
            if not isinstance(value, expected := self.field.model):
                raise ValueError(f"found {value._meta.label}, expected {expected._meta.label}")
            value = getattr(value, self.field.attname)
        try:
            return self.field.public_text.format(self.field.to_python(value))
        except SynchronousOnlyOperation:  # for a text that `to_python` gave in an event loop
            return str(value)
        except ValidationError as error:
            raise ValueError(error.messages[0]) from None


def is_converted(argument: str, view: Any, namespaces: Iterable[str]) -> bool:
    """Whether a path converter of an id reads that argument of a view's URLs."""
    resolver = get_resolver(get_urlconf())
    for namespace in namespaces:
        _, resolver = resolver.namespace_dict[namespace]
    routes = resolver.reverse_dict.getlist(view)
    reading = [converters.get(argument) for *_, converters in routes]
    return bool(reading) and all(isinstance(converter, IDConverter) for converter in reading)


def id_converter(model: type[models.Model], field: str | None = None) -> type[IDConverter]:
    """A class for ``register_converter(id_converter(Order), "order_id")``.

    ``field`` names one of several sortable ids. The default is that of ``public_id``. Raises
    ``FieldDoesNotExist`` if there is none.
    """
    column = id_field(model, field)
    name = f"{model.__name__}_{column.name}_converter"
    return type(name, (IDConverter,), {"field": column})


def register_converters() -> None:
    """Register a path converter for each sortable id of the project; call it in ``urls.py``.

    ``path("orders/<order_id:id>/", ...)`` accepts public texts only. A malformed one doesn't match,
    so the answer is 404. ``reverse()`` and ``{% url %}`` take the value, the instance or the public
    text.

    The name consists of model and field in lower case, such as ``order_id`` or
    ``order_public_id``. Each converter is also registered with the label of its app,
    ``shop_order_id``, which is its only name if two apps have such a model. Names that are already
    registered keep their converters.
    """
    by_name: dict[str, list[SortableIDField]] = defaultdict(list)
    for field in fields_of(apps.get_models()):
        name = f"{field.model._meta.model_name}_{field.name}"
        by_name[name].append(field)
        by_name[f"{field.model._meta.app_label}_{name}"].append(field)
    for name, fields in by_name.items():
        if len(fields) == 1 and name not in get_converters():
            register_converter(id_converter(fields[0].model, fields[0].name), name)
