"""Finds the target of a backfill from the arguments of the command."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from django.db import models, router
from django.db.models import Max, Min, Q, QuerySet

from ...errors import BackfillError, WrongArguments
from ...fields import SortableIDField, history
from ...fields.of_model import referenced_column
from ...models import BackfillRun
from ...schemes import TimeScheme
from ...times.bounds import last_tick
from . import columns
from . import history as history_rows
from .base import Target
from .fields import check_tables, find_field, last_run
from .old_ids import find_conversion
from .periods import Fixed, Period, Spread, parsed, shown


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments that name the source of the times."""

    created_from: str | None = None
    convert_from: str | None = None
    created_at: str | None = None
    start: str | None = None
    end: str | None = None


def find(label: str, given: Given, using: str | None) -> Target:
    """The target ``app.Model.field``; ``BackfillError`` if it can't be filled.

    Without arguments, the source is that of the last run on the target. ``using`` None means the
    database that routers write the model to.
    """
    model, field = find_field(label)
    using = using or router.db_for_write(model)
    if (original := history.original_of(model)) is not None:
        if given != Given():
            raise BackfillError(
                f"{model._meta.label} is a history of {original._meta.label} and gets its ids: "
                f"omit the source of times"
            )
        check_tables(model, field, using)
        return history_rows.target_of(model, field, using, original)
    return of_source(model, field, given, using)


def of_source(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> Target:
    """The target with the given source. The model may be that of a migration's state."""
    check_given(given)
    if given == Given() or given.created_from == "pk" or given.created_at:
        check_tables(model, field, using)
        last = last_run(str(field), using)
        given = _as_before(given, last)
        if given.created_at:
            return _fixed(model, field, using, last)
        if given.created_from == "pk":
            rows: QuerySet[Any] = QuerySet(model, using=using)
            missing = rows.filter(**{f"{field.name}__isnull": True})
            return _spread(model, field, using, given, last, missing)
    if given.convert_from is not None:
        check_tables(model, field, using)
        converted = find_conversion(model, field, given.created_from, given.convert_from, using)
        if converted is not None:
            return converted
    found = of_model(model, field, given.created_from, using)
    return replace(found, convert_from=given.convert_from)


def of_model(
    model: type[models.Model], field: SortableIDField, created_from: str | None, using: str
) -> Target:
    """The target whose times are in a column. The model may be that of a migration's state.
    ``created_from`` None means the source of the last run on the target.
    """
    check_tables(model, field, using)
    if (original := history.original_of(model)) is not None:
        return history_rows.target_of(model, field, using, original)
    if not created_from:
        last = last_run(str(field), using)
        created_from = last.options["created_from"] if last else None
    return _in_column(model, field, created_from, using)


def _in_column(
    model: type[models.Model], field: SortableIDField, created_from: str | None, using: str
) -> Target:
    source = columns.find_source(model, created_from, using)
    return columns.kind_of(source)(model, field, source, using)


class EveryRow(Target):
    """A target whose ids are in another table, or whose column is still to be added."""

    @property
    def without_id(self) -> QuerySet[Any]:
        return self.rows

    @property
    def is_missing(self) -> Q:
        return Q()


def every_row(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> EveryRow:
    """As ``of_source``, but every row gets an id, and nothing is known of an earlier run."""
    found: Target | None = None
    if given.created_at:
        found = _fixed(model, field, using, None)
    elif given.created_from == "pk":
        found = _spread(model, field, using, given, None, QuerySet(model, using=using))
    elif given.convert_from:
        found = find_conversion(model, field, given.created_from, given.convert_from, using)
    if found is None:
        found = _in_column(model, field, given.created_from, using)
    kind: type[EveryRow] = type("EveryRow", (EveryRow, type(found)), {})
    return kind(**{each.name: getattr(found, each.name) for each in fields(found)})


def check_given(given: Given) -> None:
    """Raise ``WrongArguments`` for arguments that contradict each other, and ``BackfillError`` for
    a period that no rows can have."""
    if given.created_at and replace(given, created_at=None) != Given():
        raise WrongArguments(
            "--created-at sets the time of every row: omit --created-from, --convert-from, "
            "--start and --end, or omit --created-at"
        )
    if given.created_from == "pk" and given.convert_from:
        raise WrongArguments("--created-from pk and --convert-from: give only one of them")
    if given.created_from != "pk" and (given.start or given.end):
        raise WrongArguments(
            "--start and --end set the period over which --created-from pk spreads the rows: give "
            "all three, or none of them"
        )
    if bool(given.start) != bool(given.end):
        raise WrongArguments(
            f"--created-from pk needs both ends of the period: "
            f"{'--end' if given.start else '--start'} is missing"
        )
    if given.start and given.end:
        _check_period(parsed("--start", given.start), parsed("--end", given.end))


def _as_before(given: Given, last: BackfillRun | None) -> Given:
    """The arguments, or those of the last run if there are none."""
    if given != Given() or last is None:
        return given
    if "created_at" in last.options:
        return Given(created_at="now")
    return Given(last.options.get("created_from"), last.options.get("convert_from"))


def _fixed(
    model: type[models.Model], field: SortableIDField, using: str, last: BackfillRun | None
) -> Target:
    key = model._meta.pk_fields[0]
    found = Fixed(model, field, key, using, moment=datetime.now(UTC))
    if last is None or "created_at" not in last.options:
        return found
    has_ids = found.rows.filter(**{f"{field.name}__isnull": False}).exists()
    if last.finished_at is not None and not has_ids:
        return found
    return replace(found, moment=datetime.fromisoformat(last.options["created_at"]))


def _spread(
    model: type[models.Model],
    field: SortableIDField,
    using: str,
    given: Given,
    last: BackfillRun | None,
    missing: QuerySet[Any],
) -> Target:
    key = _integer_key(model)
    before = last.options if last and last.options.get("created_from") == "pk" else None
    if given.start and given.end:
        start, end = parsed("--start", given.start), parsed("--end", given.end)
        _check_scheme(field, start, end)
    elif before:
        start, end = (datetime.fromisoformat(before[name]) for name in ("start", "end"))
    else:
        raise WrongArguments(
            "--created-from pk spreads the rows over a period: add it, such as --start 2015-01-01 "
            "--end 2024-06-30"
        )
    spread = [start.astimezone(UTC).isoformat(), end.astimezone(UTC).isoformat()]
    has_stopped = last is not None and last.finished_at is None
    if before and (has_stopped or [before["start"], before["end"]] == spread):
        first, last_key = before["first_key"], before["last_key"]
    else:
        ends = missing.aggregate(first=Min("pk"), last=Max("pk"))
        first, last_key = ends["first"] or 0, ends["last"] or 0
    return Spread(model, field, key, using, period=Period(start, end, first, last_key))


def _integer_key(model: type[models.Model]) -> models.Field[Any, Any]:
    key: models.Field[Any, Any] = model._meta.pk
    target = referenced_column(key)
    if isinstance(target, SortableIDField) or not isinstance(target, models.IntegerField):
        raise BackfillError(
            f"--created-from pk derives times from integers that count up, and the key of "
            f"{model._meta.label} is a {type(target).__name__}: use --created-at now, or "
            f"--convert-from for a key that carries times"
        )
    return key


def _check_period(start: datetime, end: datetime) -> None:
    if start > end:
        raise BackfillError(f"--start {shown(start)} is after --end {shown(end)}: exchange them")
    now = datetime.now(UTC)
    if end > now:
        raise BackfillError(
            f"--end {shown(end)} is in the future (it is {shown(now)}): give a time when the last "
            f"of the rows existed already, such as yesterday"
        )


def _check_scheme(field: SortableIDField, start: datetime, end: datetime) -> None:
    """Raise ``BackfillError`` for a period that no ids of the field can have."""
    scheme = field.scheme
    if not isinstance(scheme, TimeScheme):
        return
    if start < scheme.earliest:
        raise BackfillError(
            f"--start {shown(start)} is too early: {scheme.title} begins at {scheme.earliest}"
        )
    if end > last_tick(scheme):
        raise BackfillError(
            f"--end {shown(end)} is too late: {scheme.title} ends at {scheme.latest}"
        )
