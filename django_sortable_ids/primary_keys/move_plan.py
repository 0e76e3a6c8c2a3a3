"""Compares the models with the migrations: which keys are to be moved, what refers to them, and
where the times of their rows come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.apps import apps
from django.db import connections, models, router
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.db.models.constants import LOOKUP_SEP

from ..backfill.sources.base import Given
from ..backfill.sources.columns import Times, field_of_times
from ..backfill.sources.find import check_given
from ..backfill.sources.id_column import require_table
from ..backfill.sources.target import OnNull
from ..db import tables
from ..errors import BackfillError, reading_migrations
from ..fields import SortableIDField, history_models
from ..fields.of_model import is_same
from ..models import MoveNote
from ..schema.constraints import redefined
from ..schemes import TimeScheme
from . import adopting, checklist, edits, key_map, notes, obstacles
from .changes import texts
from .changes.change import references_of, referring
from .changes.engine import KeyEngine
from .changes.moved import OLD, History, KeyCopy, MovedKey, Reference, TextReference
from .edits import Edit, Model, NotEdited
from .operation import MigratePrimaryKey


@dataclass(frozen=True)
class PlannedMove:
    """A move before its migration is written."""

    operation: MigratePrimaryKey
    engine: KeyEngine
    loader: MigrationLoader
    tried_for: float
    """How many seconds the checks and the rehearsal took, which ``migrate`` repeats."""
    warnings: list[str]

    @property
    def apps(self) -> set[str]:
        change = self.engine.change
        written = {*(table.name for table in change.tables), *(text.table for text in change.texts)}
        state = change.keys[0].model._meta.apps
        return {
            model._meta.app_label
            for model in state.get_models(include_auto_created=True)
            if model._meta.db_table in written
        }


def build(
    labels: Sequence[str],
    given: Given,
    using: str,
    *,
    keeps_old: bool,
    to: str | None = None,
    adopted: Sequence[str] = (),
    allowed: Sequence[str] = (),
    on_null: OnNull,
) -> PlannedMove:
    """The move of the keys of the named models or apps; without a name, of the whole project.

    Keys to be moved are sortable ids in the models, but not in the migrations. ``given`` is
    preferred as the source of times. Keys that are not edited yet are checked as if they were
    of the class ``to``. ``adopted`` and ``allowed`` are the arguments of ``--adopt`` and
    ``--allow``. ``on_null`` is that of every key. The empty tables of the rehearsal are dropped.

    Raises ``BackfillError`` if there are none, for edits that the models lack, for names that the
    database doesn't have, and for all that prevents the move.
    """
    require_table(MoveNote, using)
    connection = connections[using]
    notes.refuse_if_stopped(connection)
    with reading_migrations():
        loader = MigrationLoader(connection)
        state = loader.project_state()
    moving, needed, kept = _to_move(labels, loader, state, using, to, keeps_old=keeps_old)
    before = {model._meta.label: state.apps.get_model(model._meta.label) for model in moving}
    chosen = _chosen(before, given, using)
    moved = []
    for model in moving:
        meta, was, old = model._meta, before[model._meta.label]._meta.pk, None
        if needed:
            kind, options = edits.new_key(model, to)
            field = kind(primary_key=True, **options)
        else:
            field = redefined(meta.pk)
            old = redefined(meta.get_field(f"{OLD}{was.name}")) if keeps_old else None
        source: dict[str, Any] = {**chosen[meta.label], "on_null": on_null}
        moved.append(MovedKey(meta.label, was.name, field, old, **source))
    warnings = list(key_map.check(moved, state, using))
    operation, engine = _planned(moved, state, connection, adopted, allowed)
    programs = {program.name for program in engine.programs()} if allowed else ()
    what = "trigger, view, routine, event or rule, of those that a move leaves as they are"
    obstacles.refuse_unknown("--allow", allowed, programs, what)
    start = perf_counter()
    obstacles.check(engine, allowed)
    if needed:
        raise NotEdited(needed, kept)
    tried_for, by_name = perf_counter() - start, [*operation.adopted, *operation.texts]
    warnings += checklist.adopted_otherwise(engine.change, by_name)
    warnings += (
        f"{table} contains keys, and the database {using!r} has no such table: no move changes "
        f"those of another one"
        for table in sorted({reference.table for reference in operation.references})
        if not tables.kind(connection, table)
    )
    return PlannedMove(operation, engine, loader, tried_for, warnings)


def _to_move(
    labels: Sequence[str],
    loader: MigrationLoader,
    state: ProjectState,
    using: str,
    to: str | None,
    *,
    keeps_old: bool,
) -> tuple[Sequence[Model], list[Edit], list[str]]:
    """The models whose keys move: those that are edited; if none is, those to edit, with their
    edits, and what to do about the others."""
    connection = connections[using]
    named = [
        model
        for model in edits.named_models(labels)
        if router.allow_migrate_model(using, model)
        if tables.kind(connection, model._meta.db_table) == "table"
    ]
    apps_of_keys = {model._meta.app_label for model in named}
    # Migrations without which the models can't be compared with the tables.
    unapplied = sorted(
        ".".join(name)
        for name in loader.graph.nodes.keys() - loader.applied_migrations
        if name[0] in apps_of_keys
    )
    waiting = (
        f"{', '.join(unapplied)} not applied yet: run manage.py migrate. Delete what "
        f"makemigrations wrote of an edited key instead, since the move is another migration, "
        f"and one that moves these keys, to write it again"
    )
    moving = [model for model in named if _changes(model, state, connection)]
    # The models to edit: those that are named themselves, or all if none is edited.
    unprepared = [
        model
        for model in named
        if (meta := model._meta).managed and model not in moving
        if (meta.app_label, meta.model_name) in state.models
        if meta.label_lower in map(str.lower, labels) or not moving
    ]
    needed = list(edits.edits_of(unprepared, to, keeps_old=keeps_old))
    kept = list(edits.kept_problems(unprepared, to))
    if unapplied and (needed or not moving):
        raise BackfillError(waiting)
    if needed:
        moving = [apps.get_model(label) for edit in needed for label in edit.models]
    elif unprepared or not moving:
        raise BackfillError(
            "\n".join(kept)
            or "No key to move: a key that moves is a sortable id in the model, and another field "
            "in the migrations. Name tables of the project, in the database of --database and in "
            "apps with migrations, and edit their keys first"
        )
    problems = [*edits.name_problems(moving, state)]
    if not (needed or problems):
        problems += edits.old_field_problems(moving, state, connection, keeps_old=keeps_old)
    if problems or unapplied:
        raise BackfillError("\n".join(problems) or waiting)
    for model in moving:
        require_table(model, using)
    return moving, needed, kept


def _planned(
    moved: Sequence[MovedKey],
    state: ProjectState,
    connection: Any,
    adopted: Sequence[str],
    allowed: Sequence[str],
) -> tuple[MigratePrimaryKey, KeyEngine]:
    """The operation with all columns that contain the keys. Foreign keys that only the database has
    are found from the known columns, and may lead to others."""
    # No migration has the foreign keys of unmanaged models, and of apps without migrations.
    references = {*references_of(apps, moved), *references_of(state.apps, moved)}
    generic = texts.generic_references(connection)
    adoptions = list(adopting.adopt(adopted, moved, state, connection))
    copies = []
    keeps_old = {moved_key.model for moved_key in moved if moved_key.old is not None}
    # The fields of history models, as the models have them.
    for field, key in referring(apps, moved):
        meta, name = field.model._meta, f"{OLD}{field.name}"
        if not field.is_relation and (meta.app_label, meta.model_name) in state.models:
            fields = {own.name: own for own in meta.local_concrete_fields}
            old = redefined(fields[name]) if name in fields and key in keeps_old else None
            copies.append(KeyCopy(meta.label, field.name, key, redefined(field), old))
    copies += (column for column in adoptions if isinstance(column, KeyCopy))
    while True:
        used = {reference.table for reference in references}
        histories = [
            History(model._meta.label, history_models.time_path(apps.get_model(model._meta.label)))
            for model in state.apps.get_models()
            if model._meta.db_table in used and history_models.original_of(model) is not None
        ]
        operation = MigratePrimaryKey(
            moved,
            sorted(references),
            generic,
            copies,
            histories,
            [column for column in adoptions if isinstance(column, Reference)],
            [column for column in adoptions if isinstance(column, TextReference)],
            allowed,
        )
        after = state.clone()
        operation.state_forwards("", after)
        engine = operation.engine(connection.schema_editor(), moved, state, after)
        missing = {*obstacles.unmodelled(engine)} - references
        if not missing:
            return operation, engine
        references |= missing


def _changes(model: Model, state: ProjectState, connection: Any) -> bool:
    """Whether the key is a sortable id in the model, and has other values in the migrations.

    Raises ``BackfillError`` for a key that had several columns, or was a relation, and for one that
    no migration changes.
    """
    meta = model._meta
    known = state.models.get((meta.app_label, str(meta.model_name)))
    fields = known.fields.values() if known else ()
    before = next((field for field in fields if field.primary_key), None)
    if before is None or not isinstance(meta.pk, SortableIDField):
        return False
    if before.is_relation or before.get_internal_type() == "CompositePrimaryKey":
        raise BackfillError(
            f"{meta.pk} replaces the {type(before).__name__}, which can't be moved: keep that as "
            f"the key, and add a field with null=True, which backfill_ids fills"
        )
    is_moved = not is_same(before, meta.pk, connection)
    if is_moved and not meta.managed:
        raise BackfillError(
            f"{meta.label} is not managed, so no migration moves its key: keep that"
        )
    return is_moved


def _chosen(before: Mapping[str, Model], given: Given, using: str) -> dict[str, Given]:
    """The source of times for the key of each model, by label. It is the first of these: the given
    field; an old key with times; a field with ``auto_now_add``, or the only time that every row
    has, unless most are after now; such a field of a row that each row requires; the given period;
    the present, in the order of the old key.

    Raises ``BackfillError`` if no model has the given field, or if it has no times."""
    created_from, has_period = given.get("created_from"), "start" in given
    if has_period or "end" in given or created_from == "pk":
        check_given(given | {"created_from": "pk"})
    chosen, errors = {}, []
    if created_from and created_from != "pk":
        for label, model in before.items():
            try:
                field_of_times(model, created_from, using)
                chosen[label] = Given(created_from=created_from)
            except BackfillError as error:
                errors.append(error)
    if errors and not chosen:
        raise BackfillError(f"no model of the move has such times: {errors[0]}")
    for label, model in before.items():
        if label in chosen:
            continue
        key: Any = model._meta.pk
        has_times = isinstance(key, SortableIDField) and isinstance(key.scheme, TimeScheme)
        is_in_order = has_times and not key.accept_other_versions
        declared = getattr(apps.get_model(label)._meta.pk, "created_from", None)
        if not is_in_order and (name := _own_time(model, using, declared)):
            chosen[label] = Given(created_from=name)
        elif has_times:
            chosen[label] = Given(convert_from=key.name)
    # A row may require one that requires one: each round finds the next of such a chain.
    while missing := [label for label in before if label not in chosen]:
        related = {label: _related_time(before[label], chosen) for label in missing}
        if not any(related.values()):
            break
        chosen |= {label: source for label, source in related.items() if source}
    for label, model in before.items() if has_period else ():
        if label not in chosen and isinstance(model._meta.pk, models.IntegerField):
            chosen[label] = given | {"created_from": "pk"}
    return {label: chosen.get(label) or Given(created_at="now") for label in before}


def _own_time(model: Model, using: str, created_from: str | None) -> str | None:
    fields = [
        field
        for field in model._meta.local_fields
        if isinstance(field, models.DateTimeField) and not field.null and not field.auto_now
    ]
    set_once = [field.name for field in fields if field.auto_now_add]
    if set_once or len(fields) != 1:
        return set_once[0] if set_once else None
    (field,) = fields
    is_future = field.name != created_from and Times(model, field, using).mostly_future
    return None if is_future else field.name


def _related_time(model: Model, chosen: Mapping[str, Given]) -> Given | None:
    field: Any
    for field in model._meta.fields:
        if field.is_relation and not field.null and field.related_model is not model:
            source = chosen.get(field.related_model._meta.label)
            if path := (source or {}).get("created_from"):
                return Given(created_from=f"{field.name}{LOOKUP_SEP}{path}")
    return None
