"""What a backfill fills, and from what: a column, and the column of creation times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.apps import apps
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import connections, models
from django.db.models import Q, QuerySet
from django.utils import timezone

from ..fields import SortableIDField
from ..models import BackfillRun
from ..schemes import TimeScheme
from .bounds import held
from .errors import BackfillError
from .times import aware, from_aware

OnNull = Literal["error", "skip", "now"]
OnOutOfRange = Literal["error", "skip", "clamp"]

PAGE = 20_000
"""How many rows are read at a time by what reads all of them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A sortable id that may be empty, and the creation time of its rows."""

    model: type[models.Model]
    field: SortableIDField
    source: models.Field[Any, Any]
    """Where the times are: a ``DateTimeField``, or the old id of a ``Conversion``."""
    using: str
    on_null: OnNull = "error"
    """What becomes of rows without a time."""
    on_out_of_range: OnOutOfRange = "error"
    """And of those whose time the scheme doesn't hold."""
    convert_from: str | None = None
    """The field of the old ids, where there are such."""

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"

    @property
    def command(self) -> str:
        """The command that fills this target."""
        sources = {"--convert-from": self.convert_from, "--created-from": self.created_from}
        given = " ".join(f"{option} {name}" for option, name in sources.items() if name)
        policies = "".join(
            f" --{name.replace('_', '-')}={getattr(self, name)}"
            for name in ("on_null", "on_out_of_range")
            if getattr(self, name) != "error"
        )
        return f"backfill_ids {self.label} {given}{policies}{database_option(self.using)}"

    @property
    def created_from(self) -> str | None:
        """The field of the creation times, where they aren't those of old ids."""
        return self.source.name

    @property
    def place_name(self) -> str:
        """The column that rows are ordered by."""
        return self.source.name

    @property
    def held(self) -> tuple[datetime, datetime] | None:
        """The times that the scheme can hold, the end excluded; None where none is refused."""
        scheme = self.field.scheme
        return held(scheme) if isinstance(scheme, TimeScheme) else None

    @property
    def rows(self) -> QuerySet[Any]:
        """Every row: managers may hide some."""
        return QuerySet(self.model, using=self.using)

    @property
    def without_id(self) -> QuerySet[Any]:
        return self.rows.filter(**{f"{self.field.name}__isnull": True})

    @property
    def missing(self) -> QuerySet[Any]:
        """The rows that a run gives an id: those without one, but for what is left to ``on_null``
        and ``on_out_of_range``."""
        rows = self.without_id
        if self.on_null != "error":
            rows = rows.filter(**{f"{self.source.name}__isnull": False})
        if self.on_out_of_range != "error" and self.held:
            rows = rows.filter(self.between(*self.held))
        return rows

    @property
    def skipped(self) -> QuerySet[Any]:
        """The rows that are to stay without an id."""
        name, none = self.source.name, Q(pk__in=[])
        skipped = Q(**{f"{name}__isnull": True}) if self.on_null == "skip" else none
        if self.on_out_of_range == "skip" and self.held:
            start, end = self.held
            skipped |= self.between(None, start) | self.between(end, None)
        return self.without_id.filter(skipped)

    @property
    def key_fields(self) -> list[models.Field[Any, Any]]:
        """The columns of the primary key: several where it is composite."""
        return self.model._meta.pk_fields

    def stored_key(self, pk: Any) -> list[Any]:
        """What the driver is given for a key: a value for each of its columns."""
        connection = connections[self.using]
        parts = pk if self.model._meta.is_composite_pk else (pk,)
        return [
            field.get_db_prep_value(part, connection)
            for field, part in zip(self.key_fields, parts, strict=True)
        ]

    def stored_time(self, created: datetime) -> Any:
        """What the driver is given for a creation time."""
        return self.source.get_db_prep_value(created, connections[self.using])

    @property
    def order(self) -> tuple[str, ...]:
        return self.place_name, "pk"

    def at(self, created: Any) -> datetime:
        """The aware creation time of a row that is at that place."""
        return aware(created)

    def load_place(self, saved: str) -> Any:
        """A place that was kept as text."""
        created = datetime.fromisoformat(saved)
        if timezone.is_naive(created) is settings.USE_TZ:
            return from_aware(aware(created), like=timezone.now())
        return created

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        """The rows of ``start <= time < end``, both as the database has times; None is open."""
        bounds = {"gte": start, "lt": end}
        name = self.source.name
        return Q(**{f"{name}__{sign}": at for sign, at in bounds.items() if at is not None})

    def after(self, created: Any, pk: Any) -> Q:
        """The rows behind a place in the order, written so that an index on the time is used."""
        name = self.place_name
        return Q(**{f"{name}__gte": created}) & (Q(**{f"{name}__gt": created}) | Q(pk__gt=pk))

    def beside(self, created: Any, pk: Any) -> Q:
        """The rows behind a place that have its time."""
        return Q(**{self.place_name: created}, pk__gt=pk)

    def before(self, created: Any, pk: Any) -> Q:
        """The rows in front of a place in the order."""
        name = self.place_name
        return Q(**{f"{name}__lte": created}) & (Q(**{f"{name}__lt": created}) | Q(pk__lt=pk))

    def read(self, rows: QuerySet[Any], *names: str) -> list[Any]:
        """Creation time, key and the fields ``names`` of each row."""
        if not self.model._meta.is_composite_pk:
            return list(rows.values_list(self.place_name, "pk", *names))
        # A foreign key that is part of "pk" would come as the driver gave it.
        keys = [field.attname for field in self.key_fields]
        end = 1 + len(keys)
        columns = rows.values_list(self.place_name, *keys, *names)
        return [(row[0], row[1:end], *row[end:]) for row in columns]

    def first(self, rows: QuerySet[Any], *names: str) -> Any:
        """As ``read``, the first row or None."""
        return next(iter(self.read(rows[:1], *names)), None)

    def walk(self, rows: QuerySet[Any], *names: str) -> Iterator[Any]:
        """Creation time, key and the fields ``names`` of rows that have a time, in order.

        By pages, since drivers of MariaDB and MySQL load the whole of a result.
        """
        timed = rows.filter(**{f"{self.source.name}__isnull": False}).order_by(*self.order)
        page = self.read(timed[:PAGE], *names)
        while page:
            yield from page
            created, pk = page[-1][:2]
            page = self.read(timed.filter(self.after(created, pk))[:PAGE], *names)


def find(label: str, created_from: str | None, using: str) -> Target:
    """The target ``app.Model.field``; ``BackfillError`` for what can't be filled.

    ``created_from`` None means what the last run on the target took.
    """
    return of_model(*find_field(label), created_from, using)


def find_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    """Model and field of ``app.Model.field``; ``BackfillError`` for what can't be filled."""
    model, field = _find_field(label)
    if field in model._meta.pk_fields:
        part = "" if field.primary_key else "part of "
        raise BackfillError(
            f"{label} is {part}the primary key, and a key is never empty. Add a second field, such "
            f"as public_id, to give the rows sortable ids"
        )
    return model, field


def of_model(
    model: type[models.Model], field: SortableIDField, created_from: str | None, using: str
) -> Target:
    """As ``find``, of a model that may be a historical one of a migration."""
    check_tables(model, field, using)
    source = _find_source(model, created_from or _last_source(model, field, using))
    return Target(model, field, source, using)


def database_option(using: str) -> str:
    """What to add to a command for that database."""
    return "" if using == "default" else f" --database={using}"


def _find_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    parts = label.split(".")
    if len(parts) != 3:
        raise BackfillError(f"{label!r}: expected app.Model.field, such as shop.Order.public_id")
    try:
        model = apps.get_model(parts[0], parts[1])
    except LookupError as error:
        raise BackfillError(f"{label}: {error}") from None
    if model._meta.abstract or model._meta.proxy or not model._meta.managed:
        raise BackfillError(f"{model._meta.label} has no table of its own: it is not managed")
    try:
        field = model._meta.get_field(parts[2])
    except FieldDoesNotExist:
        known = ", ".join(
            each.name for each in model._meta.fields if isinstance(each, SortableIDField)
        )
        raise BackfillError(
            f"{model._meta.label} has no field {parts[2]!r}; its sortable ids: {known or 'none'}"
        ) from None
    if not isinstance(field, SortableIDField):
        raise BackfillError(f"{label} is a {type(field).__name__}, not a sortable id")
    if field.model is not model:
        raise BackfillError(f"{label} is in the table of {field.model._meta.label}: name that one")
    return model, field


def _find_source(
    model: type[models.Model], created_from: str | None
) -> models.DateTimeField[Any, Any]:
    times = [each for each in model._meta.fields if isinstance(each, models.DateTimeField)]
    for each in times:
        if each.name == created_from:
            return each
    name = model._meta.label
    other = next((each for each in model._meta.fields if each.name == created_from), None)
    if other is not None:
        raise BackfillError(
            f"{name}.{created_from} is a {type(other).__name__}, and creation times come from a "
            f"DateTimeField: add one, and copy the times into it, with the zone and the time of "
            f"day that they mean"
        )
    if not times:
        raise BackfillError(
            f"{name} has no DateTimeField to take creation times from, and ids can't be given the "
            f"times that nobody recorded"
        )
    known = ", ".join(each.name for each in times)
    if created_from is None:
        raise BackfillError(f"say where creation times come from: --created-from, one of {known}")
    raise BackfillError(f"{name} has no DateTimeField {created_from!r}; it has {known}")


def _last_source(model: type[models.Model], field: SortableIDField, using: str) -> str | None:
    runs = BackfillRun.objects.using(using).filter(target=f"{model._meta.label}.{field.name}")
    options = runs.values_list("options", flat=True).first()
    return options["created_from"] if options else None


def check_tables(model: type[models.Model], field: SortableIDField, using: str) -> None:
    """Raise ``BackfillError`` where the database lacks the tables or the column."""
    connection = connections[using]
    where = database_option(using)
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        views = connection.introspection.table_names(cursor, include_views=True)
        for each in (model, BackfillRun):
            if each._meta.db_table in views and each._meta.db_table not in tables:
                raise BackfillError(
                    f"{each._meta.db_table} is a view: fill the table behind it, by a model of "
                    f"that table"
                )
            if each._meta.db_table not in tables:
                raise BackfillError(
                    f"the database {using!r} has no table {each._meta.db_table}: run "
                    f"`manage.py migrate {each._meta.app_label}{where}`"
                )
        description = connection.introspection.get_table_description(cursor, model._meta.db_table)
    if field.column not in {each.name for each in description}:
        raise BackfillError(
            f"{model._meta.db_table} has no column {field.column} yet: run "
            f"`manage.py migrate {model._meta.app_label}{where}`"
        )
