"""What a migration says about the keys that it replaces, and what contains their values."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, NamedTuple

from django.db import models
from django.db.migrations.writer import MigrationWriter

from ...backfill.sources.base import Given
from ...fields import SortableIDField

OLD = "old_"
"""With the name of the primary key: the field that keeps the old key."""


def source_of(field: models.Field[Any, Any]) -> str:
    """The field as a migration writes it; its class, if no migration can."""
    try:
        text, _ = MigrationWriter.serialize(field)
    except ValueError:
        return str(field.deconstruct()[1])
    return str(text)


@dataclass(frozen=True)
class _WithOld:
    """A field, and the one that keeps its values."""

    model: str
    name: str

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """How a migration writes it."""
        found = [(each, getattr(self, each.name)) for each in fields(self)]
        args = [value for each, value in found if each.default is MISSING]
        options = {each.name: value for each, value in found[len(args) :] if value != each.default}
        return f"django_sortable_ids.operations.{type(self).__name__}", args, options

    @property
    def model_key(self) -> tuple[str, str]:
        """As the states of migrations name the model."""
        app_label, _, name = self.model.lower().partition(".")
        return app_label, name

    @property
    def old_name(self) -> str:
        """The name of the field ``old``."""
        return f"{OLD}{self.name}"


@dataclass(frozen=True)
class MovedKey(_WithOld):
    """A primary key that becomes a sortable id.

    ``model`` is ``app.Model``, ``name`` its primary key and ``field`` the new one. ``old`` is the
    field that keeps the values of the old key, unique, and NULL for rows that are inserted later;
    without it they are lost, and the migration can't be reversed. The other arguments are those of
    ``backfill_ids`` and say where the creation times of existing rows come from.
    """

    field: SortableIDField
    old: models.Field[Any, Any] | None = None
    created_from: str | None = None
    convert_from: str | None = None
    created_at: str | None = None
    start: str | None = None
    end: str | None = None
    on_null: Literal["error", "now"] = "error"
    on_out_of_range: Literal["error", "clamp"] = "error"

    @property
    def given(self) -> Given:
        return Given(**{each.name: getattr(self, each.name) for each in fields(Given)})


@dataclass(frozen=True)
class KeyCopy(_WithOld):
    """A field of a history model that copies a moved key, and is no foreign key.

    ``model`` is the history model and ``name`` the field, ``key`` the model whose key it copies,
    and ``field`` the new field. ``old`` is the copy of the field that keeps the old key, if the
    history model has one.
    """

    key: str
    field: models.Field[Any, Any]
    old: models.Field[Any, Any] | None = None


class History(NamedTuple):
    """A model whose rows may contain keys of deleted rows."""

    model: str
    """``app.Model``."""
    time: str
    """The field with the time of a row, or the path to it: ``history__history_date``."""


class Reference(NamedTuple):
    """A column that contains values of a moved key."""

    table: str
    column: str
    key: str
    """The model of the key: ``app.Model``."""


class TextReference(NamedTuple):
    """A column of texts that contains keys: of one model, or next to their content types."""

    table: str
    column: str
    of: str
    """The model of the keys: ``app.Model``; or the column of their content types."""
