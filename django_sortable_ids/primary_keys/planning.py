"""Compares the models with the migrations: which keys are to be moved, and what refers to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connections, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from ..backfill.sources.find import Given
from ..errors import BackfillError
from ..fields import SortableIDField
from ..schema.constraints import redefined
from . import sources
from .changes import graph
from .changes.moved import OLD, GenericReference, MovedKey
from .move import Move
from .operation import MigratePrimaryKey

Model = type[models.Model]


@dataclass(frozen=True)
class Planned:
    """A move before its migration is written."""

    operation: MigratePrimaryKey
    move: Move
    loader: MigrationLoader
    using: str

    @property
    def apps(self) -> set[str]:
        """The apps whose tables change."""
        tables = {each.name for each in self.move.change.tables}
        tables |= {each.table for each in self.operation.generic}
        state = self.loader.project_state().apps
        return {
            model._meta.app_label
            for model in state.get_models(include_auto_created=True)
            if model._meta.db_table in tables
        }


def build(labels: Sequence[str], given: Given, using: str, *, keeps_old: bool) -> Planned:
    """The move of the keys of the named models or apps; without a name, of the whole project.

    Keys to be moved are sortable ids in the models, but not in the migrations. ``given`` is
    preferred as the source of times. Writes nothing.

    Raises ``BackfillError`` if there are none, for edits that the models lack, and for all that
    prevents the move.
    """
    loader = MigrationLoader(connections[using])
    state = loader.project_state()
    named = list(_named(labels))
    found = [model for model in named if _changes(model, state)]
    if problems := [*_unprepared(labels, found), *_without_old(found, state, keeps_old)]:
        raise BackfillError("\n".join(problems))
    if not found:
        raise BackfillError(
            f"no key of {', '.join(labels) or 'the project'} is to be moved: the models have the "
            f"keys that the migrations have. Edit a model first: id = UUIDv7Field(primary_key=True)"
        )
    before = {model._meta.label: state.apps.get_model(model._meta.label) for model in found}
    chosen = sources.choose(before, given)
    moved = [_moved(model, chosen[model._meta.label], keeps_old) for model in found]
    references = graph.references(state.apps, moved)
    generic = _present(graph.generic_references(apps), state)
    while True:
        operation = MigratePrimaryKey(moved, references, generic)
        move = operation.move_of(connections[using].schema_editor(), state)
        more = list(move.unmodelled())
        if not more:
            break
        references = sorted({*references, *more})
    move.check()
    return Planned(operation, move, loader, using)


def _named(labels: Iterable[str]) -> Iterator[Model]:
    """The models whose tables have a key of their own."""
    wanted = [each.lower() for each in labels]
    for label in wanted:
        _check_label(label)
    for model in apps.get_models():
        meta = model._meta
        is_wanted = not wanted or meta.app_label in wanted or meta.label_lower in wanted
        if is_wanted and not meta.proxy and not meta.pk.is_relation:
            yield model


def _check_label(label: str) -> None:
    app_label, _, name = label.partition(".")
    try:
        apps.get_model(app_label, name) if name else apps.get_app_config(app_label)
    except (LookupError, ValueError) as error:
        raise BackfillError(f"{label}: {error}. Expected an app or app.Model") from None


def _changes(model: Model, state: ProjectState) -> bool:
    """Whether the key is a sortable id in the model, and another field in the migrations."""
    meta = model._meta
    known = state.models.get((meta.app_label, str(meta.model_name)))
    before = known and known.fields.get(meta.pk.name)
    if before is None or not isinstance(meta.pk, SortableIDField):
        return False
    return bool(before.deconstruct()[1:] != meta.pk.deconstruct()[1:])


def _unprepared(labels: Iterable[str], found: Sequence[Model]) -> Iterator[str]:
    """The models that are named themselves, and whose key is not edited."""
    changed = {model._meta.label_lower for model in found}
    for label in labels:
        if "." in label and label.lower() not in changed:
            model = apps.get_model(label)
            yield (
                f"{label}: its key {model._meta.pk.name} is the same in the model and in the "
                f"migrations. Edit the model first: {model._meta.pk.name} = "
                f"UUIDv7Field(primary_key=True)"
            )


def _without_old(found: Sequence[Model], state: ProjectState, keeps_old: bool) -> Iterator[str]:
    if not keeps_old:
        return
    for model in found:
        before = state.apps.get_model(model._meta.label)._meta.pk
        name = f"{OLD}{before.name}"
        fields = {each.name: each for each in model._meta.local_concrete_fields}
        if name not in fields:
            yield (
                f"{model._meta.label} has no field for its old key. Add\n"
                f"    {name} = {_old_field(before)}\n"
                f"to the model, or give --drop-old"
            )
        elif not (fields[name].null and fields[name].unique):
            yield f"{model._meta.label}.{name}: expected null=True and unique=True"


def _old_field(before: Any) -> str:
    """The definition of the field that keeps the old key, as Python source."""
    kind = {
        "AutoField": "models.IntegerField",
        "BigAutoField": "models.BigIntegerField",
        "SmallAutoField": "models.SmallIntegerField",
    }.get(before.get_internal_type())
    length = ""
    if kind is None:
        module = "" if isinstance(before, SortableIDField) else "models."
        kind = f"{module}{type(before).__name__}"
    if before.get_internal_type() == "CharField" and not isinstance(before, SortableIDField):
        length = f"max_length={before.max_length}, "
    return f"{kind}({length}null=True, unique=True, editable=False)"


def _moved(model: Model, source: Given, keeps_old: bool) -> MovedKey:
    meta = model._meta
    old = meta.get_field(f"{OLD}{meta.pk.name}") if keeps_old else None
    return MovedKey(
        meta.label,
        meta.pk.name,
        redefined(meta.pk),
        old=None if old is None else redefined(old),
        created_from=source.created_from,
        convert_from=source.convert_from,
        created_at=source.created_at,
        start=source.start,
        end=source.end,
    )


def _present(found: Iterable[GenericReference], state: ProjectState) -> list[GenericReference]:
    """Those whose table is in the migrations."""
    known = {model._meta.db_table for model in state.apps.get_models()}
    return [each for each in found if each.table in known]
