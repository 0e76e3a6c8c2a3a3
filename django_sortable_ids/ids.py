"""The public text of an id, its JSON Schema, its creation time and its model."""

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from .fields import SortableIDField, history_models
from .fields.of_model import id_of, local_time, own_fields
from .fields.public import SEPARATORS
from .schemes import ID, InvalidID
from .schemes.errors import described
from .schemes.support import nearest
from .schemes.text_forms import UUIDText

__all__ = ["Resolved", "created_at", "public_id", "resolve", "schema_of"]


class Resolved(NamedTuple):
    """What a public text refers to: ``model``, ``field`` and ``value``."""

    model: type[models.Model]
    field: SortableIDField
    value: ID

    def fetch(self, using: str | None = None) -> models.Model:
        """The instance, from the database ``using``. Raises the model's ``DoesNotExist``."""
        rows = self.model._default_manager.using(using)
        return rows.get(**{self.field.name: self.value})


def resolve(text: str) -> Resolved:
    """The model, the field and the value of a public text with a prefix: ``ord_01KDVDNA...``.

    Raises ``LookupError`` if no model has the prefix, or if several have it for such ids. Raises
    ``ValidationError`` if the id after the prefix is malformed.
    """
    known = _fields_by_prefix(tuple(apps.get_models()))
    # Prefix and separator may be the text up to each of its separators.
    beginnings = enumerate(text[:64] if isinstance(text, str) else "", start=1)
    prefixes = [text[:end] for end, character in beginnings if character in SEPARATORS]
    fields = [field for prefix in prefixes for field in known.get(prefix, ())]
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
        owners = " and of ".join(str(each.field) for each in matches)
        raise LookupError(f"{described(text)} is an id of {owners}: give each another prefix")
    return matches[0]


@lru_cache(maxsize=1)
def _fields_by_prefix(
    current: tuple[type[models.Model], ...],
) -> dict[str, list[SortableIDField]]:
    by_prefix: dict[str, list[SortableIDField]] = {}
    for model in current:
        if history_models.original_of(model) is None:
            for field in own_fields(model):
                for prefix in filter(None, field.public_text.accepted_prefixes):
                    by_prefix.setdefault(prefix, []).append(field)
    return by_prefix


def public_id(instance: models.Model, field: str | None = None) -> str | None:
    """The public text of the instance's id, as in URLs and REST; None if it has no id yet.

    ``field`` names one of several sortable ids. The default is the primary key if it is one, else
    the first unique one, else the first one.
    """
    id_field, value = id_of(instance, field)
    return None if value is None else id_field.public_text.format(value)


def created_at(instance: models.Model, field: str | None = None) -> datetime | None:
    """The creation time in the instance's id. None if it has no id yet, or a stored value that is
    none, such as a UUID of another version.

    ``field`` is that of ``public_id``. The time is aware and in the current time zone, or naive
    local time with ``USE_TZ=False``. Raises ``OutOfRange`` after the year 9999 and
    ``NotTimeOrdered`` for a sequence.
    """
    id_field, value = id_of(instance, field)
    with suppress(InvalidID):
        return None if value is None else local_time(id_field, value)
    return None


def schema_of(field: SortableIDField) -> dict[str, Any]:
    """The public texts of a field as JSON Schema, of which OpenAPI is a dialect: type, length,
    pattern, example and ``help_text`` of the ids that URLs and REST show.

    The type is always a string, also for numbers: JavaScript rounds those above 2 ** 53. The
    pattern is that of the text which is output; input also accepts other spellings.
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
            schema["format"] = "typeid"  # of which generators make a type for each prefix
    if field.help_text:
        schema["description"] = str(field.help_text)
    return schema
