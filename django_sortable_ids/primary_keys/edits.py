"""The models whose keys may move, and the edits that they need, as lines of Python."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, models, router
from django.db.migrations.state import ProjectState

from .. import fields
from ..errors import BackfillError
from ..fields import SortableIDField, history_models
from ..fields.auto_fields import plain_source
from ..schemes.support import nearest
from .changes.moved import COUNTED, OLD

_REPLACED = (models.AutoField, models.UUIDField)
Model = type[models.Model]


@dataclass(frozen=True, slots=True)
class Edit:
    classes: tuple[str, ...]
    """The classes to edit, each with its module: models, and abstract ones that define keys."""
    models: tuple[str, ...]
    """The models that get these lines: ``app.Model``."""
    text: tuple[str, ...]
    """The lines. They replace the field of a class that has the same name."""
    needs: tuple[str, ...]
    """The imports that they need, besides ``models``."""


class NotEdited(BackfillError):
    """The models have the keys that the migrations have: what to change, also as lines."""

    def __init__(self, edits: list[Edit], kept: list[str]) -> None:
        lines = [
            "Edit the models first. Add imports, and to each class its lines, instead of its key:",
            *sorted({needed for edit in edits for needed in edit.needs}),
        ]
        for edit in edits:
            lines += [",\n".join(edit.classes) + ":", *(f"    {line}" for line in edit.text)]
        super().__init__("\n".join([*lines, *kept]))
        self.edits = edits


def database_of(labels: Iterable[str]) -> str:
    """The database to which routers write the models that are named; refuses several."""
    aliases = sorted({router.db_for_write(model) for model in named_models(labels)})
    if len(aliases) > 1:
        raise BackfillError(
            f"a move is of one database, and your DATABASE_ROUTERS write these tables to "
            f"{', '.join(aliases)}: name one with --database"
        )
    return aliases[0] if aliases else DEFAULT_DB_ALIAS


def named_models(labels: Iterable[str]) -> Iterator[Model]:
    """The models of the project whose tables have a key of their own. Models of installed packages
    and of history rows keep their keys."""
    wanted = set()
    for label in labels:
        try:
            named = apps.get_model(label)._meta if "." in label else apps.get_app_config(label)
            wanted.add(named.label)
        except (LookupError, ValueError) as error:
            reason = str(error).rstrip(".")
            known = [*apps.app_configs, *(model._meta.label for model in apps.get_models())]
            expected = f"Expected an app or app.Model{nearest(label, known)}"
            raise BackfillError(f"{label}: {reason}. {expected}") from None
    for model in apps.get_models():
        meta = model._meta
        is_wanted = not wanted or meta.app_label in wanted or meta.label in wanted
        has_own = not meta.proxy and not meta.pk.is_relation and not is_installed(model)
        if is_wanted and has_own and history_models.original_of(model) is None:
            yield model


def edits_of(unprepared: Iterable[Model], to: str | None, *, keeps_old: bool) -> Iterator[Edit]:
    """The edits that make the key of each model one of the class ``to``, or a UUIDv7, in groups of
    the same lines; none for models without source and for those of ``kept_problems``."""
    alike = defaultdict(list)
    for model in unprepared:
        key, (field, options) = model._meta.pk, new_key(model, to)
        if isinstance(key, _REPLACED) and not isinstance(key, SortableIDField):
            arguments = "".join(f', {name}="{value}"' for name, value in options.items())
            text = [f"{key.name} = {field.__name__}(primary_key=True{arguments})"]
            if keeps_old:
                text.append(f"{OLD}{key.name} = {old_field(key)}")
            with suppress(OSError, TypeError):
                inspect.findsource(model)  # Nobody edits a generated class, which has none.
                needed = f"from django_sortable_ids.fields import {field.__name__}"
                alike[needed, *text].append(model)
    for (needed, *lines), group in alike.items():
        places = dict.fromkeys(_place(model, group) for model in group)
        yield Edit(
            tuple(f"{place.__module__}.{place.__qualname__}" for place in places),
            tuple(model._meta.label for model in group),
            tuple(lines),
            (needed,),
        )


def _place(model: Model, edited: Sequence[Model]) -> type:
    """The class that defines the key, unless a model that is not edited inherits it, too."""
    counter = model._meta.pk.creation_counter  # Inherited fields have the same one.
    parents: list[Any] = [parent for parent in model.__mro__ if hasattr(parent, "_meta")]
    places = {f.creation_counter: parent for parent in parents for f in parent._meta.local_fields}
    place = places[counter]
    keys = (other._meta.pk for other in apps.get_models())
    heirs = {key.model for key in keys if key.creation_counter == counter}
    return place if heirs <= {*edited} and not is_installed(place) else model


def kept_problems(unprepared: Iterable[Model], to: str | None) -> Iterator[str]:
    """What to do to replace keys that are neither counted nor UUIDs, such as a country's code."""
    for model in unprepared:
        key, field = model._meta.pk, new_key(model, to)[0].__name__
        if not isinstance(key, (SortableIDField, models.CompositePrimaryKey, *_REPLACED)):
            yield (
                f"{model._meta.label} keeps its key {key.name}, a {type(key).__name__}. To replace "
                f"it, write {key.name} = {field}(primary_key=True) and {OLD}{key.name} = "
                f"{old_field(key)}"
            )


def new_key(model: Model, to: str | None) -> tuple[type[Any], dict[str, str]]:
    """The class and the options of the new key. Code may expect that a counted key is None
    until its row is inserted, so the new one is, too. Texts of a GenericRelation refer to texts."""
    key = model._meta.pk
    usual = "UUIDv7AutoField" if isinstance(key, models.AutoField) else "UUIDv7Field"
    field = getattr(fields, to or usual)
    options = {"db_column": str(key.db_column)} if key.db_column else {}
    storage = {str: "char", UUID: "char36"}.get(field.value_type)
    for relation in model._meta.private_fields if storage else ():
        if name := getattr(relation, "object_id_field_name", None):
            column = relation.related_model._meta.get_field(name)
            if isinstance(column, models.CharField | models.TextField):
                options["storage"] = str(storage)
    return field, options


def is_installed(model: type) -> bool:
    """Whether nobody edits the class, because a package has it."""
    try:
        path = Path(inspect.getfile(model))
    except (OSError, TypeError):
        return False
    packages = {"site-packages", "dist-packages"}
    return not packages.isdisjoint(path.parts) or path.is_relative_to(Path(__file__).parents[1])


def old_field(before: Any) -> str:
    """The definition of the field that keeps the old key, as Python source."""
    options = ("null=True", "unique=True", "editable=False")
    if isinstance(before, SortableIDField):
        return plain_source(before, *options)
    internal, classes = before.get_internal_type(), type(before).__mro__
    plain = next(class_ for class_ in classes if class_.__module__.startswith("django.db.models"))
    length = f"max_length={before.max_length}, " if internal == "CharField" else ""
    return f"models.{COUNTED.get(internal, plain).__name__}({length}{', '.join(options)})"


def old_field_problems(
    moving: Iterable[Model], state: ProjectState, connection: Any, *, keeps_old: bool
) -> Iterator[str]:
    """What models lack for keeping their old keys. ``state`` is that of the migrations."""
    for model in moving:
        before = state.apps.get_model(model._meta.label)._meta.pk
        if not keeps_old:
            continue
        name = f"{OLD}{before.name}"
        by_name = {field.name: field for field in model._meta.local_concrete_fields}
        old, expected = by_name.get(name), before.rel_db_type(connection)
        if not (old and old.null and old.unique and old.db_type(connection) == expected):
            yield (
                f"{model._meta.label} has no such field for its old key: expected\n"
                f"    {name} = {old_field(before)}\n"
                f"or the option --drop-old"
            )


def name_problems(moving: Iterable[Model], state: ProjectState) -> Iterator[str]:
    """What prevents another name of a key, or of its column."""
    for model in moving:
        key = model._meta.pk
        before = state.apps.get_model(model._meta.label)._meta.pk
        if key.name == before.name and key.column != before.column:
            yield (
                f"{model._meta.label}.{key.name}: the column of the key is {before.column}, and "
                f'the model says {key.column}: add db_column="{before.column}"'
            )
        if key.name != before.name:
            yield (
                f"the key of {model._meta.label} was {before.name}, and is {key.name} now: call it "
                f"{before.name}, and the field of the old one {OLD}{before.name}. Migrations with "
                f"RenameField give them other names after the move"
            )
