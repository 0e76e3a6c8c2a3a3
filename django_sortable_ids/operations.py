"""Migration operations for tables that have rows and are in use."""

__all__ = [
    "AddSortableID",
    "ConstrainSortableID",
    "KeyCopy",
    "MigratePrimaryKey",
    "MovedKey",
    "SwapSortableID",
]

from dataclasses import replace
from typing import Any, ClassVar

from django.db.migrations.operations import AddField, AlterField
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import QuerySet

from .backfill import plan, run
from .backfill.sources.find import target_of
from .backfill.sources.id_column import require_table
from .db import tables
from .db.transactions import with_short_lock_timeout, without_statement_limit
from .errors import BackfillError, counted
from .fields import SortableIDField
from .models import MoveNote
from .primary_keys.changes.moved import KeyCopy, MovedKey
from .primary_keys.operation import BothWays, MigratePrimaryKey
from .schema import swap
from .schema.constraints import check_before, constrain, redefined
from .schema.constraints_sqlite import drop_column

SMALL = 100_000
"""The most rows that a migration fills by itself, in a few seconds."""


class ConstrainSortableID(BothWays, AlterField):
    """An ``AlterField`` to NOT NULL, to unique, or both, without blocking writers.

    PostgreSQL builds the index concurrently and proves NOT NULL by a validated constraint. MariaDB
    and MySQL change the table in place, without a lock. SQLite gets a unique index and an edited
    table definition: a copy would lose what the model doesn't know. The constraint has Django's
    name. Locks are requested with a timeout of half a second (one second on MariaDB and MySQL) and
    retried, so no other query waits for the migration for longer.

    The migration needs ``atomic = False``. It can be run again after a stop at any statement.

    Raises ``BackfillError`` for rows without an id, for ids that are not unique, and for locks that
    never become free; ``ValueError`` if the field changes in anything else.
    """

    def _change(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any, backwards: bool
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        _refuse_transaction(self, schema_editor)
        from_model = from_state.apps.get_model(app_label, self.model_name)
        old, new = from_model._meta.get_field(self.name), model._meta.get_field(self.name)
        constrain(schema_editor, old, new, backwards)

    def describe(self) -> str:
        return f"Make field {self.name} on {self.model_name} NOT NULL and unique online"


class AddSortableID(BothWays, AddField):
    """Adds a field with an id for every row: an ``AddField``, the backfill and the constraints.

    ``field`` is the final field: unique and not NULL. At most ``small`` rows get their ids during
    the migration, from their times in ``created_from``; an empty table needs no ``created_from``.
    With more rows the operation stops and names the command that fills them. Run ``migrate`` again
    after that command: it continues.

    If an UPDATE of a row changes more than its id, for example by a trigger, the operation stops
    and names the cause. ``allow_triggers`` permits that.

    The migration needs ``atomic = False`` and the dependency
    ``("django_sortable_ids", "0001_initial")``.

    Raises ``BackfillError`` for more than ``small`` rows, and whenever ``backfill_ids`` does;
    ``ValueError`` for a primary key or a ``db_default``.
    """

    fills_rows: ClassVar[bool] = True
    """Read by the guard of ``migrate``."""

    def __init__(
        self,
        model_name: str,
        name: str,
        field: SortableIDField,
        created_from: str | None = None,
        small: int = SMALL,
        allow_triggers: bool = False,
    ) -> None:
        if not isinstance(field, SortableIDField):
            raise TypeError(
                f"{name} is of type {type(field).__name__}: expected a sortable id, such as "
                f"ULIDField(unique=True)"
            )
        if field.primary_key:
            raise ValueError(f"{name} is a primary key: add a second field instead")
        if field.has_db_default():
            raise ValueError(
                f"{name} has a db_default, which would give existing rows ids of the current time: "
                f"add the field without it, and set the db_default by an AlterField afterwards"
            )
        super().__init__(model_name, name, field)
        self.field: SortableIDField = field
        self.created_from = created_from
        self.small = small
        self.allow_triggers = allow_triggers

    def deconstruct(self) -> Any:
        name, args, kwargs = super().deconstruct()
        kwargs |= {"created_from": self.created_from} if self.created_from else {}
        kwargs |= {"small": self.small} if self.small != SMALL else {}
        kwargs |= {"allow_triggers": True} if self.allow_triggers else {}
        return name, args, kwargs

    def _change(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any, backwards: bool
    ) -> None:
        final = (from_state if backwards else to_state).apps.get_model(app_label, self.model_name)
        connection = schema_editor.connection
        if not self.allow_migrate_model(connection.alias, final):
            return
        if backwards:
            field = final._meta.get_field(self.name)
            if connection.vendor == "sqlite":
                # Django would copy the table and lose what the model doesn't know.
                drop_column(schema_editor, field)
            else:
                schema_editor.remove_field(final, field)
            return
        _refuse_transaction(self, schema_editor)
        state = from_state.clone()
        without = ("unique", "db_index") if self.field.unique else ()
        nullable = redefined(self.field, *without, null=True)
        AddField(self.model_name, self.name, nullable).state_forwards(app_label, state)
        model = state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        final_field = final._meta.get_field(self.name)
        check_before(schema_editor, field, final_field)
        require_table(final, connection.alias)
        if not tables.has_column(connection, final._meta.db_table, field.column):
            before = from_state.apps.get_model(app_label, self.model_name)
            with_short_lock_timeout(schema_editor, lambda: schema_editor.add_field(before, field))
        self._fill(model, field, connection.alias)
        with without_statement_limit(connection):  # The fill has set it back.
            constrain(schema_editor, field, final_field)

    def _fill(self, model: Any, field: SortableIDField, using: str) -> None:
        rows: QuerySet[Any] = QuerySet(model, using=using)
        missing = rows.filter(**{f"{field.name}__isnull": True}).order_by()
        if not missing.exists():
            return
        source = {"created_from": self.created_from} if self.created_from else {}
        target = replace(target_of(model, field, source, using), allow_triggers=self.allow_triggers)
        if missing[: self.small + 1].count() > self.small:
            raise BackfillError(
                f"more than {counted(self.small, 'row')} of {target.label} without an id, too many "
                f"for a migration: run `manage.py {target.command}`, and migrate again"
            )
        try:
            planned = plan.build(target, 5000)
        except BackfillError as error:
            raise BackfillError(
                f"{error} The column has been added: run `manage.py {target.command}` with such an "
                f"option, or correct the rows, and migrate again"
            ) from None
        run.execute(planned)

    def describe(self) -> str:
        return f"Add field {self.name} to {self.model_name}, with an id for every row"


class SwapSortableID(BothWays):
    """Swaps the names of two fields of a model: ``name`` gets the ids of ``other``.

    This is the last step to ids of another scheme: ``other`` was filled by ``backfill_ids
    --convert-from``, verified and constrained, and ``name`` is the id that the application uses.
    Columns with their data, indexes and constraints are renamed, and the old ids remain as
    ``other``. The same swap reverses it. Swap the two definitions in the model as well.

    Columns are renamed and no row is written: in the transaction of the migration on PostgreSQL and
    SQLite, in one statement on MariaDB and MySQL. Put the operation into its own migration.

    Raises ``BackfillError`` if a row has an id in ``name`` but none in ``other``, if ``name`` is
    NOT NULL or unique and ``other`` is not, and if a foreign key or an expression of the model uses
    one of the fields. Raises ``FieldDoesNotExist`` for a name that is no field.
    """

    def __init__(self, model_name: str, name: str, other: str) -> None:
        self.model_name = model_name
        self.model_name_lower = model_name.lower()
        self.name = name
        self.other = other
        self.renamed_fields = [(name, other), (other, name)]
        """Read by the guard of ``migrate``."""

    def deconstruct(self) -> Any:
        return type(self).__name__, [self.model_name, self.name, self.other], {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        options = state.models[app_label, self.model_name_lower].options
        names = {self.name: self.other, self.other: self.name}
        for key in ("indexes", "constraints"):
            options[key] = [_swapped(definition, names) for definition in options.get(key, ())]
        temporary = f"{swap.TEMPORARY}{self.name}"
        for old, new in ((self.name, temporary), (self.other, self.name), (temporary, self.other)):
            state.rename_field(app_label, self.model_name_lower, old, new)

    def _change(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any, backwards: bool
    ) -> None:
        before, after = (
            state.apps.get_model(app_label, self.model_name) for state in (from_state, to_state)
        )
        using = schema_editor.connection.alias
        if not self.allow_migrate_model(using, after):
            return
        require_table(MoveNote, using)
        swap.swap(schema_editor, before, after, self.name, self.other, backwards=backwards)

    def describe(self) -> str:
        return f"Swap the fields {self.name} and {self.other} of {self.model_name}"


def _swapped(definition: Any, names: dict[str, str]) -> Any:
    _, args, kwargs = definition.deconstruct()
    if not set(kwargs.get("fields", ())) & {*names, *(f"-{name}" for name in names)}:
        return definition
    fields = [
        f"-{names.get(name[1:], name[1:])}" if name.startswith("-") else names.get(name, name)
        for name in kwargs["fields"]
    ]
    return type(definition)(*args, **kwargs | {"fields": fields})


def _refuse_transaction(operation: Operation, schema_editor: Any) -> None:
    connection = schema_editor.connection
    if connection.features.can_rollback_ddl and connection.in_atomic_block:
        raise BackfillError(
            f"{type(operation).__name__} needs more than one transaction: set atomic = False on "
            f"the migration"
        )
