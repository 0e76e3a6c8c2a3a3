"""What a filled column still needs to be complete, and the next command."""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.utils.functional import cached_property

from ..backfill.engines import engine_of
from ..backfill.target import database_option
from ..db.tables import is_unique, may_be_null
from ..errors import BackfillError
from ..fields import SortableIDField
from ..fields.of_model import is_unique_with_others
from ..migrating.next_migration import UNREADABLE
from ..migrating.unrecorded_swaps import find
from ..schema.stored_values import found_in

VALUES = 100
"""How many values are read at each end of a table and in its middle."""


class Migrations:
    """The migrations of a project, and which of them are applied to a database."""

    def __init__(self, using: str) -> None:
        self._connection = connections[using]

    @cached_property
    def _loader(self) -> MigrationLoader:
        try:
            return MigrationLoader(self._connection, ignore_no_migrations=True)
        except UNREADABLE as error:
            raise BackfillError(f"the migrations can't be read: {error}") from error

    @cached_property
    def _recorded(self) -> Any:
        nodes = self._loader.graph.nodes
        return self._loader.project_state([key for key in self._applied if key in nodes])

    @cached_property
    def _written(self) -> Any:
        return self._loader.project_state()

    @property
    def _applied(self) -> Any:
        return self._loader.applied_migrations

    @cached_property
    def _unrecorded(self) -> set[str]:
        return {f"{each.model}.{name}" for each in find(self._connection) for name in each.fields}

    def is_pending(self, field: SortableIDField) -> bool:
        """Whether ``migrate`` has something to do for the app of the field."""
        app_label, nodes = field.model._meta.app_label, self._loader.graph.nodes
        if any(key[0] == app_label and key not in self._applied for key in nodes):
            return True
        return str(field) in self._unrecorded

    def recorded(self, field: SortableIDField) -> SortableIDField | None:
        """The field as the applied migrations define it."""
        recorded = _in_state(self._recorded, field)
        return recorded if isinstance(recorded, SortableIDField) else None

    def is_edited(self, field: SortableIDField) -> bool:
        """Whether ``makemigrations`` has something to write for the field."""
        written = _in_state(self._written, field)
        return written is None or written.deconstruct()[1:] != field.deconstruct()[1:]

    def step_to(self, field: SortableIDField) -> str:
        """The command that creates a missing column; empty if the migrations are applied."""
        app_label = field.model._meta.app_label
        if self.is_pending(field) or app_label in self._loader.unmigrated_apps:
            return f"migrate {app_label}{database_option(self._connection.alias)}"
        return f"makemigrations {app_label}" if self.is_edited(field) else ""


def _in_state(state: Any, field: SortableIDField) -> Any:
    meta = field.model._meta
    model = state.models.get((meta.app_label, meta.model_name))
    return model and model.fields.get(field.name)


def needs(field: SortableIDField, using: str, migrations: Migrations) -> tuple[str, str]:
    """What is needed, and the command for it; two empty texts for a complete column."""
    return (
        _right_ids(field, using, migrations)
        or _in_model(field, using)
        or _in_database(field, using, migrations)
        or ("", "")
    )


def _right_ids(
    field: SortableIDField, using: str, migrations: Migrations
) -> tuple[str, str] | None:
    connection, app_label = connections[using], field.model._meta.app_label
    needed = f"ids of {field.scheme.title}"
    is_wrong = found_in(field, connection, VALUES) is not None
    before = migrations.recorded(field)
    if is_wrong or (before and found_in(field, connection, VALUES, before)):
        if migrations.is_pending(field):
            return needed, f"migrate {app_label}{database_option(using)}"
        return needed, f"check --database {using}" if is_wrong else f"makemigrations {app_label}"
    return None


def _in_model(field: SortableIDField, using: str) -> tuple[str, str] | None:
    if field in field.model._meta.pk_fields:
        return None
    is_one = _is_unique_alone(field) or is_unique_with_others(field)
    lacking = _lacking({"NOT NULL": not field.null, "unique": is_one})
    return (lacking, _verify(field, using)) if lacking else None


def _in_database(
    field: SortableIDField, using: str, migrations: Migrations
) -> tuple[str, str] | None:
    connection, meta = connections[using], field.model._meta
    if field in meta.pk_fields:
        return None
    column, table = str(field.column), meta.db_table
    has_no_way = not meta.managed and not engine_of(using).adds_not_null
    lacking = _lacking(
        {
            "NOT NULL": has_no_way or not may_be_null(connection, table, column),
            "unique": not _is_unique_alone(field) or is_unique(connection, table, column),
        }
    )
    if not lacking:
        return None
    if not meta.managed:
        step = _verify(field, using)
    elif migrations.is_pending(field):
        step = f"migrate {meta.app_label}{database_option(using)}"
    elif migrations.is_edited(field):
        step = f"makemigrations {meta.app_label}"
    else:
        step = _verify(field, using).replace("--verify", "--write-migration")
    return f"{lacking} in the database", step


def _verify(field: SortableIDField, using: str) -> str:
    return f"backfill_ids {field} --verify{database_option(using)}"


def _is_unique_alone(field: SortableIDField) -> bool:
    constraints = field.model._meta.total_unique_constraints
    return field.unique or any(tuple(each.fields) == (field.name,) for each in constraints)


def _lacking(has: dict[str, bool]) -> str:
    return " and ".join(what for what, is_so in has.items() if not is_so)
