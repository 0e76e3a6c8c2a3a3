"""The table with the keys of deleted rows that history tables contain. Each row has an old key and
the new one. No model of the project has the table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps.registry import Apps
from django.db import models
from django.db.backends.utils import split_identifier, truncate_name
from django.db.migrations.state import ModelState, ProjectState

from ...schema.constraints import redefined
from .moved import MovedKey

OLD_KEY = "old_key"
NEW_KEY = "new_key"
TIME = "time"
"""The field with the time of the first history row that has the key."""
_PREFIX = "sortable_ids_deleted__"
_LONGEST = 60
"""Characters of a name. PostgreSQL allows 63 bytes, MySQL 64 characters."""
_COUNTED = {
    "AutoField": models.IntegerField,
    "BigAutoField": models.BigIntegerField,
    "SmallAutoField": models.SmallIntegerField,
}
_NOT_COPIED = ("primary_key", "serialize", "blank", "default", "db_column", "created_from")


def add_models(state: ProjectState, moved: Iterable[MovedKey], old: ProjectState) -> None:
    """Add a model of this table for each key to a state. ``old`` is the state before the move."""
    for key in moved:
        before = old.models[key.model_key].fields[key.name]
        fields = {
            "id": models.BigAutoField(primary_key=True),
            OLD_KEY: plain(before, null=True, unique=True),
            NEW_KEY: plain(key.field, null=True, unique=True),
            TIME: models.DateTimeField(null=True),
        }
        app_label, name = _model_key(key)
        table = {"db_table": table_of(name_of(state.models[key.model_key]))}
        state.add_model(ModelState(app_label, name, list(fields.items()), table))


def model_of(apps: Apps, key: MovedKey) -> Any:
    """The model that ``add_models`` added."""
    return apps.get_model(*_model_key(key))


def label_of(key: MovedKey) -> str:
    """What the backfill of the new keys is named after."""
    return f"{'.'.join(_model_key(key))}.{NEW_KEY}"


def _model_key(key: MovedKey) -> tuple[str, str]:
    app_label, _, name = key.model.partition(".")
    return app_label, f"{name}DeletedKeys"


def plain(field: Any, **options: Any) -> Any:
    """A field with the values of a primary key."""
    counted = _COUNTED.get(field.get_internal_type())
    if counted is not None:
        return counted(**options)
    return redefined(field, *_NOT_COPIED, **options)


def table_of(table: str) -> str:
    """The table of this kind for the table of a key."""
    return table_like(table, _PREFIX)


def name_of(model: ModelState) -> str:
    """The table of a model."""
    return str(model.options.get("db_table") or f"{model.app_label}_{model.name_lower}")


def table_like(table: str, prefix: str) -> str:
    """The name of the table with a prefix."""
    schema, name = split_identifier(table)
    name = truncate_name(f"{prefix}{name}", _LONGEST, 8)
    return f'"{schema}"."{name}"' if schema else name
