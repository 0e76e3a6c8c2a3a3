"""A table with the old and the new key of each row. No model of the project has the table.

It is written in less time than a column of the table itself, and on SQLite and MySQL the rows are
copied anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps.registry import Apps
from django.db import models
from django.db.migrations.state import ModelState, ProjectState

from ...fields import SortableIDField
from ...schemes import TimeScheme
from .deleted import NEW_KEY, OLD_KEY, name_of, plain, table_like
from .graph import key_field
from .moved import MovedKey

__all__ = ["NEW_KEY", "OLD_KEY", "add_models", "is_mapped", "model_of", "table_of"]
_PREFIX = "sortable_ids_next__"
_VENDORS = {"sqlite", "mysql"}


def is_mapped(key: MovedKey, apps: Apps, vendor: str) -> bool:
    """Whether the new keys of a move are filled into a map: integers that get generated ids in the
    order of a column with times. Other keys are filled into a column of the table."""
    old, scheme = key_field(apps, key), key.field.scheme
    is_number = isinstance(old, models.IntegerField) and not isinstance(old, SortableIDField)
    has_column = key.created_from not in (None, "pk") and key.convert_from is None
    is_strict = key.on_null == key.on_out_of_range == "error"
    return (
        vendor in _VENDORS
        and is_number
        and has_column
        and is_strict
        and isinstance(scheme, TimeScheme)
    )


def add_models(state: ProjectState, moved: Iterable[MovedKey], old: ProjectState) -> None:
    """Add a model of the map of each key to a state. ``old`` is the state before the move."""
    for key in moved:
        before = old.models[key.model_key].fields[key.name]
        fields = {
            OLD_KEY: plain(before, primary_key=True),
            NEW_KEY: plain(key.field, null=True),
        }
        app_label, name = _model_key(key)
        table = {"db_table": table_of(name_of(state.models[key.model_key]))}
        state.add_model(ModelState(app_label, name, list(fields.items()), table))


def table_of(table: str) -> str:
    """The map of the table of a key."""
    return table_like(table, _PREFIX)


def model_of(apps: Apps, key: MovedKey) -> Any | None:
    """The model that ``add_models`` added; None if it has added none."""
    try:
        return apps.get_model(*_model_key(key))
    except LookupError:
        return None


def _model_key(key: MovedKey) -> tuple[str, str]:
    app_label, _, name = key.model.partition(".")
    return app_label, f"{name}NextKeys"
