"""Finds the field and the scheme of the old ids, and refuses what can't be converted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import models
from django.db.models import QuerySet

from ...errors import BackfillError
from ...fields import SortableIDField
from ...schemes import TimeScheme, get, is_lossless
from ...schemes.catalog.registry import scheme_of_uuid
from .conversion import Conversion, Lossless, Timed, TimedUUIDs
from .fields import names_of

_SAMPLE = 100
"""How many UUIDs are read to find their version."""


def find_conversion(
    model: type[models.Model],
    sortable: SortableIDField,
    created_from: str | None,
    convert_from: str,
    using: str,
) -> Conversion | None:
    """The conversion from that field; None if its UUIDs carry no time, and ``created_from`` names
    the source of the times.
    """
    source = _find_source(model, sortable, convert_from)
    label = f"{model._meta.label}.{convert_from}"
    if not isinstance(sortable.scheme, TimeScheme):
        raise BackfillError(
            f"{sortable} is a {sortable.scheme.title}, which has no time "
            f"to convert to: use --created-from instead of --convert-from"
        )
    old = _scheme_of(model, source, using)
    if old is None:
        if created_from is None:
            raise BackfillError(
                f"{label} holds UUIDs of version 4 or another that carries no time: name the "
                f"creation times as well: --created-from, {_times_of(model)}"
            )
        return None
    if created_from is not None:
        raise BackfillError(
            f"{label} holds {old.title}s, which carry their times: omit --created-from, or omit "
            f"--convert-from for ids of the times in {created_from}"
        )
    if is_lossless(old, sortable.scheme):
        kind: type[Conversion] = Lossless
    else:
        in_order = isinstance(source, SortableIDField) and old.sorts
        kind = Timed if in_order else TimedUUIDs
    return kind(model, sortable, source, using, convert_from=convert_from, old=old)


def _find_source(
    model: type[models.Model], sortable: SortableIDField, name: str
) -> models.Field[Any, Any]:
    found = next((each for each in model._meta.fields if each.name == name), None)
    label = model._meta.label
    if found is None:
        known = [each.name for each in model._meta.fields if _may_convert(each, sortable)]
        raise BackfillError(
            f"{label} has no field {name!r} to convert from; it has {', '.join(known) or 'none'}"
        )
    if found is sortable:
        raise BackfillError(f"{label}.{name} is the column to fill: name the field of the old ids")
    if not _may_convert(found, sortable):
        raise BackfillError(
            f"{label}.{name} is a {type(found).__name__}, and ids are converted from a UUIDField "
            f"or a sortable id with a time. Where it holds such ids, declare it so: ULIDs in a "
            f'CharField as ULIDField(storage="varchar"), snowflakes in a BigIntegerField as '
            f"SnowflakeField()"
        )
    return found


def _may_convert(found: models.Field[Any, Any], sortable: SortableIDField) -> bool:
    if isinstance(found, SortableIDField):
        return found is not sortable and isinstance(found.scheme, TimeScheme)
    return isinstance(found, models.UUIDField)


def _scheme_of(
    model: type[models.Model], source: models.Field[Any, Any], using: str
) -> TimeScheme | None:
    """The scheme of the old ids; None if they carry no time."""
    if isinstance(source, SortableIDField):
        assert isinstance(source.scheme, TimeScheme)
        return source.scheme
    rows: QuerySet[Any] = QuerySet(model, using=using)
    given = rows.filter(**{f"{source.name}__isnull": False}).order_by("pk")
    sample = given.values_list(source.name, flat=True)[:_SAMPLE]
    schemes = Counter(map(scheme_of_uuid, sample))
    if not schemes:
        # There is nothing to convert: any scheme will do.
        scheme = get("uuid1")
        assert isinstance(scheme, TimeScheme)
        return scheme
    return schemes.most_common(1)[0][0]


def _times_of(model: type[models.Model]) -> str:
    if names := names_of(model, models.DateTimeField):
        return f"one of {', '.join(names)}"
    return f"a DateTimeField, of which {model._meta.label} has none"
