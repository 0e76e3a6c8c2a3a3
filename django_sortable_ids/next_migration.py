"""What comes behind a backfill: the migration that makes its column NOT NULL and unique."""

import os
from collections.abc import Iterator

from django.db.migrations import Migration
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.writer import MigrationWriter

from .backfill.target import Target
from .fields import SortableIDField
from .operations import ConstrainSortableID


def lines(target: Target) -> Iterator[str]:
    """The file to save, for people; nothing where the migrations have it so already."""
    meta = target.model._meta
    loader = MigrationLoader(None, ignore_no_migrations=True)
    leaves = loader.graph.leaf_nodes(meta.app_label)
    state = loader.project_state().models.get((meta.app_label, str(meta.model_name)))
    if len(leaves) != 1 or state is None or target.field.name not in state.fields:
        return
    now, field = state.fields[target.field.name], constrained(target)
    if not now.null and (now.unique or not field.unique):
        return
    number = (MigrationAutodetector.parse_number(leaves[0][1]) or 0) + 1
    name = f"{number:04}_constrain_{meta.model_name}_{target.field.name}"
    operation = ConstrainSortableID(str(meta.model_name), target.field.name, field)
    content = {"dependencies": [leaves[0]], "operations": [operation]}
    migration = type("Migration", (Migration,), content)(name, meta.app_label)
    writer = MigrationWriter(migration, include_header=False)
    change = "write unique=True instead of null=True" if field.unique else "take null=True away"
    yield f"Next: {change} in the model, save this as {os.path.relpath(writer.path)}, and migrate:"
    yield ""
    head = "class Migration(migrations.Migration):\n"
    # The writer leaves "atomic" away.
    yield from writer.as_string().replace(head, f"{head}\n    atomic = False\n").splitlines()


def constrained(target: Target) -> SortableIDField:
    """The field as it is to be: not NULL, and unique where no constraint of the model says so."""
    field, meta = target.field, target.model._meta
    _, _, args, kwargs = field.deconstruct()
    has_constraint = any(
        tuple(each.fields) == (field.name,) for each in meta.total_unique_constraints
    )
    kwargs = {key: value for key, value in kwargs.items() if key not in ("null", "blank")}
    if not has_constraint:
        kwargs = {key: value for key, value in kwargs.items() if key != "db_index"}
        kwargs["unique"] = True
    made: SortableIDField = type(field)(*args, **kwargs)
    return made
