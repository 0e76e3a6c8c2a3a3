"""Operations for migrations of tables that have rows and are in use."""

__all__ = ["AddSortableID", "ConstrainSortableID"]

from typing import Any, ClassVar

from django.db import NotSupportedError
from django.db.migrations.operations import AddField, AlterField
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import QuerySet

from .backfill import finding, plan, run
from .backfill.constraints import constrain
from .backfill.errors import BackfillError
from .backfill.locks import with_short_waits
from .fields import SortableIDField

SMALL = 100_000
"""How many rows a migration fills by itself: some seconds."""


class ConstrainSortableID(AlterField):
    """An ``AlterField`` from NULL to NOT NULL, to unique, or both, which lets writers write.

    PostgreSQL builds the index concurrently and proves NOT NULL by a constraint that is validated;
    MariaDB and MySQL do both in place, without a lock; SQLite copies the table, as Django does. The
    constraint has the name that Django gives. A lock that isn't free is waited for in tries of half
    a second (a second on MariaDB and MySQL), so that no writer queues up for longer.

    The migration needs ``atomic = False``; one that was stopped at any statement is run again.

    Raises ``BackfillError`` for rows without an id, ids that are not unique, and locks that are
    never free; ``ValueError`` where the field changes in anything else.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        _refuse_transaction(self, schema_editor)
        from_model = from_state.apps.get_model(app_label, self.model_name)
        old, new = (each._meta.get_field(self.name) for each in (from_model, model))
        constrain(schema_editor, from_model, old, new)

    def describe(self) -> str:
        return f"Make field {self.name} on {self.model_name} NOT NULL and unique beside writers"


class AddSortableID(AddField):
    """Adds a field with an id for every row: an ``AddField``, the backfill and the constraints.

    ``field`` is as it is to be in the end: unique, and not NULL. The ids of ``small`` rows at most
    are made at once, from their times in ``created_from``; no ``created_from`` is needed where the
    table is empty. With more rows it stops and says which command fills them; ``migrate`` goes on
    behind that.

    The migration needs ``atomic = False``, and one of this app that comes before:
    ``("django_sortable_ids", "0005_verification_run")``.

    Raises ``BackfillError`` where there are too many rows, or as ``backfill_ids`` does.
    """

    fills_rows: ClassVar[bool] = True
    """The guard of ``migrate`` needs to know."""

    def __init__(
        self,
        model_name: str,
        name: str,
        field: SortableIDField,
        created_from: str | None = None,
        small: int = SMALL,
    ) -> None:
        if field.primary_key:
            raise ValueError(f"{name} is a primary key: add a second field")
        super().__init__(model_name, name, field)
        self.field: SortableIDField = field
        self.created_from = created_from
        self.small = small

    def deconstruct(self) -> Any:
        name, args, kwargs = super().deconstruct()
        kwargs |= {"created_from": self.created_from} if self.created_from else {}
        kwargs |= {"small": self.small} if self.small != SMALL else {}
        return name, args, kwargs

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        final = to_state.apps.get_model(app_label, self.model_name)
        connection = schema_editor.connection
        if not self.allow_migrate_model(connection.alias, final):
            return
        _refuse_transaction(self, schema_editor)
        state = from_state.clone()
        AddField(self.model_name, self.name, self._nullable()).state_forwards(app_label, state)
        model = state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        if schema_editor.collect_sql or not _has_column(connection, field):
            before = from_state.apps.get_model(app_label, self.model_name)

            def add() -> None:
                schema_editor.add_field(before, field)

            add() if schema_editor.collect_sql else with_short_waits(connection, add)
        if not schema_editor.collect_sql:
            self._fill(model, field, connection.alias)
        constrain(schema_editor, model, field, final._meta.get_field(self.name))

    def _nullable(self) -> SortableIDField:
        args: list[Any]
        kwargs: dict[str, Any]
        _, _, args, kwargs = self.field.deconstruct()
        kwargs.pop("unique", None)
        return type(self.field)(*args, **kwargs | {"null": True})

    def _fill(self, model: Any, field: SortableIDField, using: str) -> None:
        rows: QuerySet[Any] = QuerySet(model, using=using)
        missing = rows.filter(**{f"{field.name}__isnull": True}).order_by()
        if not missing.exists():
            return
        found = finding.of_model(model, field, self.created_from, using)
        if missing[: self.small + 1].count() > self.small:
            raise BackfillError(
                f"more than {self.small:,} rows of {found.label} have no id, which is much for a "
                f"migration: run `manage.py {found.command}`, and migrate again"
            )
        run.execute(plan.build(found, 5000))

    def describe(self) -> str:
        return f"Add field {self.name} to {self.model_name}, with an id for every row"


def _refuse_transaction(operation: Operation, schema_editor: Any) -> None:
    connection = schema_editor.connection
    if connection.features.can_rollback_ddl and connection.in_atomic_block:
        raise NotSupportedError(
            f"{type(operation).__name__} needs more than one transaction: set atomic = False on "
            f"the migration"
        )


def _has_column(connection: Any, field: SortableIDField) -> bool:
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, field.model._meta.db_table)
    return field.column in {each.name for each in columns}
