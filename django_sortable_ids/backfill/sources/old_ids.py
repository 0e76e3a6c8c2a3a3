"""Finds what a conversion converts, and refuses what it can't, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any
from uuid import UUID

from django.db import models, router
from django.db.models import Count, QuerySet

from ...db import chunks
from ...errors import BackfillError
from ...fields import SortableIDField
from ...models import BackfillRun
from ...schemes import ID, InvalidID, TimeScheme, get, is_lossless
from ...schemes.conversion import scheme_of_uuid
from ..target import Target
from . import fields as finding
from .conversion import Conversion, Lossless, Timed, TimedUUIDs
from .fields import check_tables, find_field, of_model

_SAMPLE = 100
"""How many UUIDs are looked at for the version that is to be expected."""


def find(
    label: str, created_from: str | None, convert_from: str | None, using: str | None
) -> Target:
    """The target ``app.Model.field`` and what its ids are made of; ``BackfillError`` for what can't
    be filled. Both None means what the last run on the target took; ``using`` None the database
    that routers write the model to.
    """
    model, sortable = find_field(label)
    using = using or router.db_for_write(model)
    if convert_from is None and created_from is None:
        check_tables(model, sortable, using)
        runs = BackfillRun.objects.using(using).filter(target=finding.canonical(label))
        last = runs.values_list("options", flat=True).first() or {}
        convert_from, created_from = last.get("convert_from"), last.get("created_from")
    if convert_from is None:
        return of_model(model, sortable, created_from, using)
    check_tables(model, sortable, using)
    return _find_conversion(model, sortable, created_from, convert_from, using)


def _find_conversion(
    model: type[models.Model],
    sortable: SortableIDField,
    created_from: str | None,
    convert_from: str,
    using: str,
) -> Target:
    source = _find_source(model, sortable, convert_from)
    label = f"{model._meta.label}.{convert_from}"
    if not isinstance(sortable.scheme, TimeScheme):
        raise BackfillError(
            f"{model._meta.label}.{sortable.name} is a {sortable.scheme.title}, which has no time "
            f"to convert to: take --created-from instead of --convert-from"
        )
    old = _scheme_of(model, source, using)
    if old is None:
        if created_from is None:
            raise BackfillError(
                f"{label} holds UUIDs of version 4 or another that carries no time: say where "
                f"creation times come from, too: --created-from, {_times_of(model)}"
            )
        found = of_model(model, sortable, created_from, using)
        return replace(found, convert_from=convert_from)
    if created_from is not None:
        raise BackfillError(
            f"{label} holds {old.title}s, which carry their times: leave --created-from away, or "
            f"--convert-from for ids of the times in {created_from}"
        )
    if is_lossless(old, sortable.scheme):
        kind: type[Conversion] = Lossless
    else:
        kind = Timed if isinstance(source, SortableIDField) else TimedUUIDs
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
        raise BackfillError(f"{label}.{name} is the column to fill: name that of the old ids")
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
    """The scheme of the old ids; None where they carry no time."""
    if isinstance(source, SortableIDField):
        assert isinstance(source.scheme, TimeScheme)
        return source.scheme
    rows: QuerySet[Any] = QuerySet(model, using=using)
    given = rows.filter(**{f"{source.name}__isnull": False}).order_by("pk")
    sample = given.values_list(source.name, flat=True)[:_SAMPLE]
    schemes = Counter(map(scheme_of_uuid, sample))
    if not schemes:
        # Nothing to convert, and nothing to be wrong about.
        found = get("uuid1")
        assert isinstance(found, TimeScheme)
        return found
    return schemes.most_common(1)[0][0]


def _times_of(model: type[models.Model]) -> str:
    names = [each.name for each in model._meta.fields if isinstance(each, models.DateTimeField)]
    if not names:
        return f"a DateTimeField, of which {model._meta.label} has none"
    return f"one of {', '.join(names)}"


def check(target: Conversion) -> None:
    """Look at the old id of every row without a new one; ``BackfillError``, which names a row."""
    count, first = 0, None
    for value, pk in _walk(target):
        if not _carries_time(target.old, value):
            count, first = count + 1, first or (value, pk)
    if first:
        raise BackfillError(
            f"{target.model._meta.label} {first[1]}{chunks.others(count)} has the "
            f"{target.source.name} {first[0]}, {_kind(first[0])}and a "
            f"{target.old.title} was expected. Give it an id yourself, or a NULL there and choose "
            f"--on-null, or take --created-from for all rows; nothing was written."
        )
    if isinstance(target, Lossless) and not target.source.unique:
        _check_duplicates(target)


def _walk(target: Conversion) -> Iterator[tuple[ID, Any]]:
    """Old id and key of rows without a new one, in the order of the key."""
    values = {each.name: getattr(target, each.name) for each in fields(target)}
    by_key = Lossless(**values)
    return by_key.walk(by_key.without_id)


def _carries_time(scheme: TimeScheme, value: ID) -> bool:
    try:
        return scheme.carries_time(value)
    except InvalidID:
        return False


def _kind(value: ID) -> str:
    return f"a UUID of version {value.version}, " if isinstance(value, UUID) else ""


def _check_duplicates(target: Conversion) -> None:
    name = target.source.name
    given = target.without_id.filter(**{f"{name}__isnull": False}).order_by()
    shared = given.values(name).annotate(rows=Count("pk")).filter(rows__gt=1)
    first = shared.order_by(name).first()
    if first:
        raise BackfillError(
            f"{first['rows']:,} rows of {target.model._meta.label} share the {name} {first[name]}, "
            f"and their new ids would be one, too: make them different; nothing was written."
        )


def warnings(target: Conversion) -> Iterator[str]:
    """What may surprise, but is no reason to stop."""
    if isinstance(target, TimedUUIDs):
        yield (
            f"no index has {target.source.name} in the order of its times, so that each batch "
            f"sorts the table"
        )


def options(target: Target) -> dict[str, Any]:
    """What must stay the same between the start of a run and its resumption."""
    if not isinstance(target, Conversion):
        return {"convert_from": target.convert_from} if target.convert_from else {}
    given: dict[str, Any] = {}
    if isinstance(target.source, SortableIDField):
        _, _, _, arguments = target.source.deconstruct()
        known = target.source.scheme_options
        given = {key: repr(value) for key, value in arguments.items() if key in known}
    return {
        "convert_from": target.convert_from,
        "old_scheme": target.old.name,
        **{f"old_{key}": value for key, value in given.items()},
    }
