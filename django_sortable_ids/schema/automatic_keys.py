"""Keys of the tables of many-to-many relations, which no migration names and none changes.

Such a table has the key that ``DEFAULT_AUTO_FIELD`` or the app had when it was created. With
another one in the running model a row can't be inserted, or, on SQLite, is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db import models, router
from django.db.backends.base.base import BaseDatabaseWrapper

from ..db import tables
from ..fields import SortableIDField

KEEP_DEFAULT = (
    "Django migrates no key of the table of a ManyToManyField. Restore the DEFAULT_AUTO_FIELD or "
    "default_auto_field with which the table was created; for other apps, set default_auto_field "
    "in their own AppConfig."
)
"""What to do about ``automatic_keys``."""


def automatic_keys(connection: BaseDatabaseWrapper) -> Iterator[tuple[type[models.Model], str]]:
    """Tables of many-to-many relations with another kind of key than the running model, and why."""
    automatic = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.auto_created and router.allow_migrate_model(connection.alias, model)
    ]
    for model in automatic:
        meta, key = model._meta, model._meta.pk
        column = tables.column_info(connection, meta.db_table, str(key.column))
        if column is None:
            continue
        holds_ids = key.get_internal_type() == "BigIntegerField" and (
            connection.vendor == "sqlite" or "big" in column.kind.lower()
        )
        is_id = isinstance(key, SortableIDField)
        if column.is_counted != is_id or (is_id and holds_ids):
            continue
        if tables.kind(connection, meta.db_table) == "table":
            counts = "counts" if column.is_counted else "doesn't count"
            yield (
                model,
                f"the database {counts} {meta.db_table}.{column.name}, which is of type "
                f"{type(key).__name__} by the default_auto_field of {meta.app_label}",
            )
