"""Tables with the old and the new key of each row. No model of the project has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.apps.registry import Apps
from django.db import models
from django.db.backends.utils import split_identifier, truncate_name
from django.db.migrations.state import ModelState, ProjectState

from ...fields import SortableIDField
from ...schema.constraints import redefined
from ...schemes import TimeScheme
from .moved import MovedKey

OLD_KEY = "old_key"
NEW_KEY = "new_key"
TIME = "time"
"""The field with the time of the first history row that has the key."""
_VENDORS = {"sqlite", "mysql"}
_LONGEST = 60
"""Characters of a name. PostgreSQL allows 63 bytes, MySQL 64 characters."""
_COUNTED = {
    "AutoField": models.IntegerField,
    "BigAutoField": models.BigIntegerField,
    "SmallAutoField": models.SmallIntegerField,
}
_NOT_COPIED = ("primary_key", "serialize", "blank", "default", "db_column", "created_from")


@dataclass(frozen=True)
class KeyMap:
    """One kind of these tables."""

    prefix: str
    """Of the table's name."""
    suffix: str
    """Of the model's name."""

    def add_models(self, state: ProjectState, moved: Iterable[MovedKey], old: ProjectState) -> None:
        """Add a model of the table for each key to a state. ``old`` is the state before the
        move."""
        for key in moved:
            app_label, name = self._model_key(key)
            model, before = state.models[key.model_key], old.models[key.model_key]
            table = str(model.options.get("db_table") or f"{model.app_label}_{model.name_lower}")
            fields = self._fields(before.fields[key.name], key.field)
            options = {"db_table": self.table_of(table)}
            state.add_model(ModelState(app_label, name, list(fields.items()), options))

    def _fields(self, old: Any, new: Any) -> dict[str, models.Field[Any, Any]]:
        return {OLD_KEY: _plain(old, primary_key=True), NEW_KEY: _plain(new, null=True)}

    def model_of(self, apps: Apps, key: MovedKey) -> Any:
        """The model that ``add_models`` added; None if it has added none."""
        try:
            return apps.get_model(*self._model_key(key))
        except LookupError:
            return None

    def table_of(self, table: str) -> str:
        """The table of this kind for the table of a key."""
        schema, name = split_identifier(table)
        name = truncate_name(f"{self.prefix}{name}", _LONGEST, 8)
        return f'"{schema}"."{name}"' if schema else name

    def label_of(self, key: MovedKey) -> str:
        """What the backfill of the new keys is named after."""
        return f"{'.'.join(self._model_key(key))}.{NEW_KEY}"

    def _model_key(self, key: MovedKey) -> tuple[str, str]:
        app_label, _, name = key.model.partition(".")
        return app_label, f"{name}{self.suffix}"


class _Deleted(KeyMap):
    def _fields(self, old: Any, new: Any) -> dict[str, models.Field[Any, Any]]:
        return {
            "id": models.BigAutoField(primary_key=True),
            OLD_KEY: _plain(old, null=True, unique=True),
            NEW_KEY: _plain(new, null=True, unique=True),
            TIME: models.DateTimeField(null=True),
        }


LIVE = KeyMap("sortable_ids_next__", "NextKeys")
"""Of all rows. It is written in less time than a column of the table itself, and on SQLite and
MySQL the rows are copied anyway."""
DELETED = _Deleted("sortable_ids_deleted__", "DeletedKeys")
"""Of the deleted rows that history tables contain."""


def is_mapped(key: MovedKey, apps: Apps, vendor: str) -> bool:
    """Whether the new keys of a move are filled into a map: integers that get generated ids in the
    order of a column with times. Other keys are filled into a column of the table."""
    old = apps.get_model(key.model)._meta.pk
    is_number = isinstance(old, models.IntegerField) and not isinstance(old, SortableIDField)
    has_column = key.created_from not in (None, "pk") and key.convert_from is None
    is_strict = key.on_null == key.on_out_of_range == "error"
    is_timed = isinstance(key.field.scheme, TimeScheme)
    return vendor in _VENDORS and is_number and has_column and is_strict and is_timed


def _plain(field: Any, **options: Any) -> Any:
    """A field with the values of a primary key."""
    counted = _COUNTED.get(field.get_internal_type())
    if counted is not None:
        return counted(**options)
    return redefined(field, *_NOT_COPIED, **options)
