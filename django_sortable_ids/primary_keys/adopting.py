"""Columns with keys that neither the models nor the database tell, as ``--adopt`` names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.apps import apps
from django.db import models
from django.db.migrations.state import ProjectState

from ..db import tables
from ..errors import BackfillError
from ..fields import SortableIDField
from ..fields.auto_fields import plain_source
from ..schema.constraints import redefined
from ..schemes.support import nearest
from .changes import graph
from .changes.moved import KeyCopy, MovedKey, Reference, TextReference
from .edits import widened

_EXPECTED = "expected TABLE.COLUMN=app.Model, or TABLE.COLUMN=TABLE.COLUMN_OF_CONTENT_TYPES"


class Adopted(NamedTuple):
    """What the migration says about these columns."""

    references: list[Reference]
    """Those that get the type of the key."""
    copies: list[KeyCopy]
    """Their fields, if these get another type."""
    texts: list[TextReference]
    """Those that remain texts."""


def adopt(
    given: Iterable[str], moved: Sequence[MovedKey], state: ProjectState, connection: Any
) -> Adopted:
    """Resolve the arguments. Raises ``BackfillError`` for names that don't exist, and for columns
    without room for the new keys."""
    adopted = Adopted([], [], [])
    problems: list[str] = []
    for each in given:
        try:
            _add(adopted, each, moved, state, connection)
        except BackfillError as error:
            problems.append(f"--adopt {each}: {error}")
    if problems:
        raise BackfillError("\n".join(problems))
    return adopted


def _add(
    adopted: Adopted, given: str, moved: Sequence[MovedKey], state: ProjectState, connection: Any
) -> None:
    place, equals, of = given.partition("=")
    table, dot, column = place.rpartition(".")
    if not (equals and dot and "." in of):
        raise BackfillError(_EXPECTED)
    _check_column(connection, table, column)
    owner, _, name = of.rpartition(".")
    if owner == table:
        _check_column(connection, table, name)
        adopted.texts.append(TextReference(table, column, name))
        return
    key = _key(of, moved)
    reference = Reference(table, column, key.model)
    if reference in graph.references(state.apps, moved):
        raise BackfillError("the plan has this column already: omit it")
    before, after = (graph.field_of(each, table, column) for each in (state.apps, apps))
    if _remains_text(connection, reference, before, after):
        adopted.texts.append(TextReference(table, column, key.model))
        return
    found = tables.column_info(connection, table, column)
    kind = found.kind.lower() if found else ""
    if isinstance(after, models.JSONField) or any(each in kind for each in ("json", "[]")):
        raise BackfillError("no move changes several keys in a value: --leave it")
    if after is not None:
        if before is None:
            raise BackfillError(
                f"{after} is in no migration yet: run makemigrations and migrate first"
            )
        _check_type(connection, key, before, after)
        if before.deconstruct()[1:] != after.deconstruct()[1:]:
            label = after.model._meta.label
            adopted.copies.append(KeyCopy(label, after.name, key.model, redefined(after)))
    adopted.references.append(reference)


def _check_column(connection: Any, table: str, column: str) -> None:
    if not tables.kind(connection, table):
        known = sorted(connection.introspection.table_names())
        has = f"the database has {', '.join(known)}{nearest(table, known)}"
        raise BackfillError(f"there is no table {table}; {has}")
    known_columns = tables.columns(connection, table)
    if tables.folded(connection, column) not in known_columns:
        names = [each.name for each in known_columns.values()]
        has = f"it has {', '.join(names)}{nearest(column, names)}"
        raise BackfillError(f"{table} has no column {column}; {has}")


def _key(label: str, moved: Sequence[MovedKey]) -> MovedKey:
    for each in moved:
        if each.model.lower() == label.lower():
            return each
    labels = [each.model for each in moved]
    those = f"these are {', '.join(labels)}{nearest(label, labels)}"
    raise BackfillError(f"{label} is no model whose key moves; {those}")


def _remains_text(connection: Any, reference: Reference, before: Any, after: Any) -> bool:
    if after is None:
        found = tables.column_info(connection, reference.table, reference.column)
        return found is not None and any(each in found.kind.lower() for each in ("char", "text"))
    is_text = isinstance(after, models.CharField | models.TextField)
    is_same = before is not None and before.db_type(connection) == after.db_type(connection)
    return is_text and is_same and not isinstance(after, SortableIDField)


def _check_type(connection: Any, key: MovedKey, before: Any, after: Any) -> None:
    new = apps.get_model(key.model)._meta.pk
    if after.db_type(connection) != new.rel_db_type(connection):
        raise BackfillError(
            f"{after} is a {type(after).__name__}, which has no room for keys of {key.model}: make "
            f"it a {plain_source(new)} in the model; the migration changes its type"
        )
    if before.db_check(connection):
        kind = before.get_internal_type().removeprefix("Positive")
        raise BackfillError(
            f"{after} is a {type(before).__name__} in the migrations, whose CHECK is about "
            f"numbers: {widened(before, kind)}"
        )
    old = before.model._meta.apps.get_model(key.model)._meta.pk
    if isinstance(old, models.IntegerField) != isinstance(before, models.IntegerField):
        raise BackfillError(
            f"{after} is a {type(before).__name__} in the migrations, and the key a "
            f"{type(old).__name__}: leave it a {type(before).__name__} in the model"
        )
