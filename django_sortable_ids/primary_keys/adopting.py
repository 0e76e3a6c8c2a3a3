"""Columns with keys that neither the models nor the database tell, as ``--adopt`` names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.apps import apps
from django.db import models
from django.db.migrations.state import ProjectState

from ..db import tables
from ..errors import BackfillError
from ..fields import SortableIDField
from ..schema.constraints import redefined
from ..schemes.support import nearest
from .changes.change import by_column, references_of
from .changes.moved import KeyCopy, MovedKey, Reference, TextReference

Adopted = Reference | KeyCopy | TextReference
"""A column that gets the type of the key; its field, if the model changes it; a column of texts."""


def adopt(
    arguments: Iterable[str], moved: Sequence[MovedKey], state: ProjectState, connection: Any
) -> Iterator[Adopted]:
    """Resolve the arguments. Raises ``BackfillError`` for names that don't exist, and for columns
    without room for the new keys."""
    for argument in arguments:
        try:
            yield from _resolved(argument, moved, state, connection)
        except BackfillError as error:
            raise BackfillError(f"--adopt {argument}: {error}") from None


def _resolved(
    argument: str, moved: Sequence[MovedKey], state: ProjectState, connection: Any
) -> list[Adopted]:
    place, equals, target = argument.partition("=")
    table, dot, column = place.rpartition(".")
    if not (equals and dot and "." in target):
        raise BackfillError(
            "expected TABLE.COLUMN=app.Model, or TABLE.COLUMN=TABLE.COLUMN_OF_CONTENT_TYPES"
        )
    _check_column(connection, table, column)
    owner, _, name = target.rpartition(".")
    if owner == table:
        _check_column(connection, table, name)
        return [TextReference(table, column, name)]
    key = next((key for key in moved if key.model.lower() == target.lower()), None)
    if key is None:
        labels = [moved_key.model for moved_key in moved]
        those = f"these are {', '.join(labels)}{nearest(target, labels)}"
        raise BackfillError(f"{target} is no model whose key moves; {those}")
    reference = Reference(table, column, key.model)
    if reference in references_of(state.apps, moved):
        raise BackfillError("the plan has this column already: omit it")
    before, after = (by_column(known).get((table, column)) for known in (state.apps, apps))
    kind = tables.columns(connection, table)[tables.folded(connection, column)].kind.lower()
    keys = {state.apps.get_model(each.model)._meta.pk: each.model for each in moved}
    if label := keys.get(before):
        raise BackfillError(f"the key of {label} gets values of its own: take back its edits first")
    remains_text = any(word in kind for word in ("char", "text"))
    if after is not None:
        is_same = before is not None and before.db_type(connection) == after.db_type(connection)
        is_text = isinstance(after, models.CharField | models.TextField)
        remains_text = is_text and is_same and not isinstance(after, SortableIDField)
    if remains_text:
        return [TextReference(table, column, key.model)]
    if isinstance(after, models.JSONField) or any(word in kind for word in ("json", "[]")):
        raise BackfillError("no move changes several keys in a value: --leave it")
    if after is not None and before is None:
        raise BackfillError(f"{after} is in no migration yet: run makemigrations and migrate first")
    if before is not None and after is not None:
        _check_type(connection, key, before, after)
        if before.deconstruct()[1:] != after.deconstruct()[1:]:
            label = after.model._meta.label
            return [reference, KeyCopy(label, after.name, key.model, redefined(after))]
    return [reference]


def _check_column(connection: Any, table: str, column: str) -> None:
    """Raise ``BackfillError`` unless the names are spelled as the database spells them."""
    if tables.kind(connection, table) == "view":
        raise BackfillError(f"{table} is a view, which shows the new keys by itself: omit it")
    names = [info.name for info in tables.columns(connection, table).values()]
    known = connection.introspection.table_names()
    alike = {tables.folded_table(connection, name): name for name in known}
    if alike.get(tables.folded_table(connection, table), table) != table:
        names = []  # SQLite finds the table under a name that the rest of the move doesn't know.
    if column not in names:
        has = f"{table} has {', '.join(names)}" if names else f"there is no table {table}"
        suggested = nearest(column, names) if names else nearest(table, known)
        raise BackfillError(f"there is no {table}.{column}; {has}{suggested}")


def _check_type(connection: Any, key: MovedKey, before: Any, after: Any) -> None:
    if before.db_check(connection):
        kind = before.get_internal_type().removeprefix("Positive")
        raise BackfillError(
            f"{after} is of type {type(before).__name__} in the migrations, whose CHECK is about "
            f"numbers: take back the edits of the keys if there are any, make it {kind}, and run "
            f"makemigrations and migrate; then edit the keys, and try again"
        )
    old = before.model._meta.apps.get_model(key.model)._meta.pk
    if isinstance(old, models.IntegerField) != isinstance(before, models.IntegerField):
        raise BackfillError(
            f"{after} is of type {type(before).__name__} in the migrations, and the key of type "
            f"{type(old).__name__}: leave {type(before).__name__} in the model"
        )
    needed = apps.get_model(key.model)._meta.pk.rel_db_type(connection)
    if after.db_type(connection) != needed or getattr(after, "generates_ids", False):
        raise BackfillError(
            f"{after} is of type {type(after).__name__}, which doesn't fit keys of {key.model}: "
            f"make it a field whose column is {needed} and that generates no ids (a UUIDField for "
            f"UUIDs); the migration changes its type. Or make it a ForeignKey before the move"
        )
