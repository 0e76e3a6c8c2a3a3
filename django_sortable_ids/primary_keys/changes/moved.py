"""What a migration says about the keys that it replaces, what contains their values, and the tables
with the old and the new key of each row, which no model of the project has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, NamedTuple

from django.db import connections, models
from django.db.backends.utils import split_identifier, truncate_name
from django.db.migrations.state import ModelState, ProjectState

from ...backfill.sources.base import Given
from ...backfill.sources.columns import field_of_times
from ...backfill.sources.find import ARGUMENTS
from ...fields import SortableIDField
from ...models import OF_FIELDS
from ...schema.constraints import redefined
from ...schemes import TimeScheme

OLD = "old_"
"""The prefix of the field that keeps the old key, before the name of the primary key."""
OLD_KEY = "old_key"
NEW_KEY = "new_key"
TIME = "time"
"""The field with the time of the first history row that has the key of a deleted row."""
_LONGEST = 60
"""Characters of a name. PostgreSQL allows 63 bytes, MySQL 64 characters."""
COUNTED: dict[str, Any] = {
    "AutoField": models.IntegerField,
    "BigAutoField": models.BigIntegerField,
    "SmallAutoField": models.SmallIntegerField,
}
_NOT_COPIED = (
    *("primary_key", "serialize", "blank", "default", "db_column", "created_from"),
    *("auto_now", "auto_now_add", "db_default", "db_index", "unique", "validators"),
)
"""Options of keys and of times that the columns of a map don't have."""


@dataclass(frozen=True)
class _WithOld:
    """A field, and the one that keeps its values."""

    model: str
    name: str

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        pairs = [(spec, getattr(self, spec.name)) for spec in fields(self)]
        args = [value for spec, value in pairs if spec.default is MISSING]
        options = {spec.name: value for spec, value in pairs[len(args) :] if value != spec.default}
        return f"django_sortable_ids.operations.{type(self).__name__}", args, options

    @property
    def model_key(self) -> tuple[str, str]:
        app_label, _, name = self.model.partition(".")
        return app_label, name.lower()

    @property
    def old_name(self) -> str:
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

    @property
    def given(self) -> Given:
        arguments = {name: getattr(self, name) for name in ARGUMENTS}
        return {name: value for name, value in arguments.items() if value}

    @property
    def field_arguments(self) -> Given:
        """The arguments that name a field of its model."""
        arguments = self.given.items()
        return {name: path for name, path in arguments if name in OF_FIELDS and path != "pk"}


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


MAP, MAP_TABLE = "MovedKeyMap", "sortable_ids_next__"
"""The end of a model's name and the beginning of its table's: the next key of each row, and of each
deleted row whose key a history contains, while they move."""
KEPT, KEPT_TABLE = "DeletedKeyMap", "sortable_ids_deleted__"
"""The same of the old and the new key of these deleted rows, as long as the move can be undone."""


def is_written_at_once(key: MovedKey) -> bool:
    """Whether the times of all rows are in a column: the rows are sorted, and the map is written
    with their new keys. In any other case it is written without them, and filled by the same
    backfill as any table."""
    has_column = key.given.keys() == key.field_arguments.keys() == {"created_from"}
    return has_column and key.on_null == "error" and isinstance(key.field.scheme, TimeScheme)


def copied(key: MovedKey) -> dict[str, str]:
    """The fields that a backfill of the map reads: a dict from the name in the map to the name
    or path in the model."""
    if is_written_at_once(key):
        return {}
    return {name: path for name, path in key.field_arguments.items() if path != key.name}


def with_maps(
    state: ProjectState,
    moved: Iterable[MovedKey],
    with_old: ProjectState,
    using: str,
    *,
    backwards: bool,
) -> ProjectState:
    """The state with the models of both tables for each key. ``with_old`` is the state in which
    the keys are the old ones."""
    extended = state.clone()
    for key in moved:
        model = state.models[key.model_key]
        own_table = str(model.options.get("db_table") or f"{model.app_label}_{model.name_lower}")
        schema, table = split_identifier(own_table)
        keys = {OLD_KEY: with_old.models[key.model_key].fields[key.name], NEW_KEY: key.field}
        present = NEW_KEY if backwards else OLD_KEY
        pair = {
            name: _plain(field, using, **{"primary_key" if name == present else "null": True})
            for name, field in keys.items()
        }
        extra: dict[str, Any] = {TIME: models.DateTimeField(null=True)}
        for name, path in () if backwards else copied(key).items():
            own, is_time = state.apps.get_model(key.model), name == "created_from"
            source = field_of_times(own, path, using) if is_time else own._meta.get_field(path)
            extra[name] = _plain(source, using, null=True)
        maps = ((MAP, MAP_TABLE, pair | extra), (KEPT, KEPT_TABLE, pair))
        for suffix, prefix, columns in maps:
            name = truncate_name(f"{prefix}{table}", _LONGEST, 8)
            options = {"db_table": f'"{schema}"."{name}"' if schema else name}
            clones = [(column, field.clone()) for column, field in columns.items()]
            label, model_name = model.app_label, f"{model.name}{suffix}"
            extended.add_model(ModelState(label, model_name, clones, options))
    return extended


def _plain(field: Any, using: str, **options: Any) -> Any:
    is_number = isinstance(field, models.IntegerField) and not isinstance(field, SortableIDField)
    if is_number and connections[using].vendor == "sqlite":
        return models.IntegerField(**options)  # The only type of a key that is the rowid.
    counted = COUNTED.get(field.get_internal_type())
    if counted is not None:
        return counted(**options)
    return redefined(field, *_NOT_COPIED, **options)
