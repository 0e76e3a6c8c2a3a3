"""The rows that have an id. Each is looked up by an index: nothing here reads a whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import DatabaseError, models

from ..db.transactions import savepoint
from ..fields import SortableIDField, history_models
from ..fields.of_model import usable_fields
from ..old_ids.resolving import old_key
from ..schemes import ID, InvalidID, OutOfRange
from .candidates import Candidate, as_format


@dataclass(frozen=True)
class SearchedColumn:
    """An id of the project, and the rows of it that may be shown."""

    field: SortableIDField
    rows: Callable[[], models.QuerySet[Any]]
    may_show: Callable[[models.Model], bool] = lambda row: True
    url: Callable[[models.Model], str | None] = lambda row: None
    """The page of a row, if there is one."""
    unmasks_without_row: bool = True
    """Whether masked texts may be read that no row has."""


@dataclass(frozen=True)
class Found:
    column: SearchedColumn
    row: models.Model
    value: ID
    is_old: bool = False
    """Whether the text is its id from before the primary key was moved."""

    @property
    def public_id(self) -> str:
        return self.column.field.public_text.format(self.value)

    @property
    def model_name(self) -> str:
        return str(self.row._meta.verbose_name)

    @property
    def url(self) -> str | None:
        return self.column.url(self.row)


def columns_of_project() -> list[SearchedColumn]:
    return [
        SearchedColumn(field, model._base_manager.all)
        for model in apps.get_models()
        if history_models.original_of(model) is None
        for field in usable_fields(model)
    ]


def has_index_of_its_own(field: SortableIDField) -> bool:
    """Whether a unique index finds a value of the field."""
    meta = field.model._meta
    alone = [*meta.unique_together, *(each.fields for each in meta.total_unique_constraints)]
    return field.unique or (field.name,) in {tuple(names) for names in alone}


def look_up(
    columns: Iterable[SearchedColumn], texts: Mapping[str, Sequence[Candidate]]
) -> tuple[dict[str, list[Found]], list[str]]:
    """The rows by the text of their id, and the errors of the database.

    ``texts`` has the candidates of each text, for ids in other spellings than the column's own. It
    takes one query per column, and one more where the key of the model was moved.
    """
    found: dict[str, list[Found]] = {text: [] for text in texts}
    errors = []
    for column in columns:
        for field, by_text in _values_by_text(column.field, texts):
            try:
                rows = _rows(column, field, set().union(*by_text.values()))
            except DatabaseError as error:
                errors.append(f"{column.field}: {' '.join(str(error).split())}")
                break
            for row in rows:
                value = getattr(row, column.field.attname)
                for text, values in by_text.items():
                    if getattr(row, field.attname) in values:
                        found[text].append(Found(column, row, value, field is not column.field))
    return found, errors


def _values_by_text(
    field: SortableIDField, texts: Mapping[str, Sequence[Candidate]]
) -> Iterator[tuple[models.Field[Any, Any], dict[str, set[Any]]]]:
    """What the texts may be in a column, and in that of old keys."""
    if has_index_of_its_own(field):
        yield field, {text: set(_values(field, text, some)) for text, some in texts.items()}
    if field.primary_key and (old := old_key(field.model)):
        yield old.field, {text: set(old.values(text)) for text in texts}


def _rows(
    column: SearchedColumn, field: models.Field[Any, Any], values: set[Any]
) -> list[models.Model]:
    if not values:
        return []
    rows = column.rows().filter(**{f"{field.name}__in": list(values)})
    with savepoint(rows.db), suppress(EmptyResultSet, ValidationError, OutOfRange):
        return [row for row in rows if column.may_show(row)]
    return []


def _values(field: SortableIDField, text: str, candidates: Iterable[Candidate]) -> Iterator[ID]:
    with suppress(InvalidID):
        yield from field.public_text.read(text)
    scheme = as_format(field.scheme)
    for each in candidates:
        # The bare id after an unknown prefix, or another encoding than the column's own.
        if each.scheme == scheme and (not each.is_of_prefix or each.fields == (field,)):
            yield each.value
