"""What an id says: its public text, its creation time, and the model it belongs to."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from .fields import SortableIDField, history
from .fields.public import SEPARATORS
from .schemes import ID, OutOfRange, TimeScheme
from .schemes.errors import described


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
    known = _fields_by_lead()
    fields = [field for lead in _leads(text) for field in known.get(lead, ())]
    if not fields:
        raise LookupError(
            f"{described(text)} has no prefix of an id; there are {', '.join(sorted(known))}"
        )
    found = []
    for field in fields:
        with suppress(ValidationError):
            found.append(Resolved(field.model, field, read_public(field, text)))
    if not found:
        raise fields[-1].invalid(text)
    if len(found) > 1:
        owners = " and of ".join(str(each.field) for each in found)
        raise LookupError(f"{described(text)} is an id of {owners}: give each a prefix of its own")
    return found[0]


def read_public(field: SortableIDField, text: Any) -> ID:
    """The value of a public text; ``ValidationError``. See ``SortableIDField.parse_public``."""
    return field.parse_public(text)


def _leads(text: Any) -> Iterator[str]:
    """What may be prefix and separator: the text up to each of its separators."""
    if isinstance(text, str):
        for end, character in enumerate(text[:64], start=1):
            if character in SEPARATORS:
                yield text[:end]


_known: tuple[list[type[models.Model]], dict[str, list[SortableIDField]]] = ([], {})


def _fields_by_lead() -> dict[str, list[SortableIDField]]:
    global _known
    # Django gives the same list until the registry changes.
    current = apps.get_models()
    if _known[0] is not current:
        by_lead: dict[str, list[SortableIDField]] = {}
        for model in current:
            if history.original_of(model) is not None:
                continue
            for field in model._meta.local_fields:
                if isinstance(field, SortableIDField) and field.public_text.prefix:
                    by_lead.setdefault(field.public_text.lead, []).append(field)
        _known = current, by_lead
    return _known[1]


def id_field(model: type[models.Model], name: str | None = None) -> SortableIDField:
    """The model's sortable id with that name; for None its key, or its first unique one, or its
    first one.

    Raises ``FieldDoesNotExist`` where there is none.
    """
    candidates = id_fields(model)
    if name is not None:
        candidates = [field for field in candidates if field.name == name]
    if not candidates:
        wanted = "no sortable id" if name is None else f"no sortable id named {name!r}"
        raise FieldDoesNotExist(f"{model._meta.label} has {wanted}")
    return min(candidates, key=lambda field: (not field.primary_key, not field.unique))


def id_fields(model: type[models.Model]) -> list[SortableIDField]:
    """The model's sortable ids, in the order of its fields."""
    return [field for field in model._meta.fields if isinstance(field, SortableIDField)]


def id_at(model: type[models.Model], path: str) -> SortableIDField | None:
    """The sortable id that a lookup path leads to, None where it leads elsewhere.

    ``"id"``, ``"pk"``, ``"order__id"``; a relation, ``"order"``, stands for the column that it
    points to.
    """
    field = field_at(model, path)
    while field is not None and field.related_model is not None:
        field = field.target_field
    return field if isinstance(field, SortableIDField) else None


def field_at(model: type[models.Model], path: str) -> Any:
    """The field or relation at the end of a lookup path, None where there is none."""
    reached: Any = model
    field: Any = None
    for name in path.split(LOOKUP_SEP):
        if reached is None:
            return None
        try:
            field = reached._meta.pk if name == "pk" else reached._meta.get_field(name)
        except FieldDoesNotExist:
            return None
        reached = field.related_model
    return field


def id_of(instance: models.Model, name: str | None = None) -> tuple[SortableIDField, ID | None]:
    """The sortable id of the instance and its value: that of ``id_field``, or, in a model without
    ids, the one that its key points to.

    Raises ``FieldDoesNotExist`` where there is none.
    """
    model = type(instance)
    pointed_to = None if name is not None or id_fields(model) else id_at(model, "pk")
    if pointed_to is not None:
        return pointed_to, instance.pk
    found = id_field(model, name)
    return found, getattr(instance, found.attname)


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


def is_of_another_version(field: SortableIDField, value: ID) -> bool:
    """Whether it is a UUID that the field only accepts: its bits are no time."""
    scheme = field.scheme
    return (
        field.accept_other_versions
        and isinstance(scheme, TimeScheme)
        and not scheme.carries_time(value)
    )


def local_time(field: SortableIDField, value: ID) -> datetime:
    """The creation time of a value of the field, as a ``DateTimeField`` would show it."""
    made = field.scheme.created_at(value)
    try:
        return timezone.localtime(made) if settings.USE_TZ else timezone.make_naive(made)
    except OverflowError:
        text = field.scheme.format(value)
        raise OutOfRange(f"{text} was made after the year 9999 of the time zone") from None
