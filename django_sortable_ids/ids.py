"""What an id says: its public text, its creation time, and the model it belongs to."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models

from .fields import SortableIDField, history
from .fields.of_model import id_of, is_of_another_version, local_time
from .fields.public import SEPARATORS
from .schemes import ID
from .schemes.errors import described

__all__ = ["Resolved", "created_at", "public_id", "resolve"]


class Resolved(NamedTuple):
    """What a public text names."""

    model: type[models.Model]
    field: SortableIDField
    value: ID

    def fetch(self, using: str | None = None) -> models.Model:
        """The row; the model's ``DoesNotExist`` where there is none."""
        rows = self.model._default_manager.using(using)
        return rows.get(**{self.field.name: self.value})


def resolve(text: str) -> Resolved:
    """The model, the field and the value of a public text with a prefix: ``ord_01KDVDNA...``.

    Raises ``LookupError`` for a prefix that no model has, or several have for such ids, and
    ``ValidationError`` for a malformed id behind a prefix.
    """
    known = _fields_by_prefix()
    fields = [field for lead in _prefixes(text) for field in known.get(lead, ())]
    if not fields:
        raise LookupError(
            f"{described(text)} has no prefix of an id; there are {', '.join(sorted(known))}"
        )
    found = []
    for field in fields:
        with suppress(ValidationError):
            found.append(Resolved(field.model, field, field.parse_public(text)))
    if not found:
        raise fields[-1].invalid(text)
    if len(found) > 1:
        owners = " and of ".join(str(each.field) for each in found)
        raise LookupError(f"{described(text)} is an id of {owners}: give each a prefix of its own")
    return found[0]


def _prefixes(text: Any) -> Iterator[str]:
    """What may be prefix and separator: the text up to each of its separators."""
    if isinstance(text, str):
        for end, character in enumerate(text[:64], start=1):
            if character in SEPARATORS:
                yield text[:end]


_known: tuple[list[type[models.Model]], dict[str, list[SortableIDField]]] = ([], {})


def _fields_by_prefix() -> dict[str, list[SortableIDField]]:
    global _known
    # Django gives the same list until the registry changes.
    current = apps.get_models()
    if _known[0] is not current:
        by_prefix: dict[str, list[SortableIDField]] = {}
        for model in current:
            if history.original_of(model) is not None:
                continue
            for field in model._meta.local_fields:
                if isinstance(field, SortableIDField) and field.public_text.prefix:
                    by_prefix.setdefault(field.public_text.full_prefix, []).append(field)
        _known = current, by_prefix
    return _known[1]


def public_id(instance: models.Model, field: str | None = None) -> str | None:
    """The public text of the instance's id, as URLs and REST show it; None where it has none yet.

    ``field`` names one of several; see ``id_of`` for which it is otherwise.
    """
    found, value = id_of(instance, field)
    return None if value is None else found.public_text.format(value)


def created_at(instance: models.Model, field: str | None = None) -> datetime | None:
    """When the instance's id was made; None where it has none yet, or an accepted one of another
    UUID version, which carries no time.

    ``field`` names one of several; see ``id_of`` for which it is otherwise. The time is aware
    and in the current time zone, or naive local time with ``USE_TZ=False``. Raises
    ``OutOfRange`` past the year 9999 and ``NotTimeOrdered`` for a sequence.
    """
    found, value = id_of(instance, field)
    if value is None or is_of_another_version(found, value):
        return None
    return local_time(found, value)
