"""Retry on collision: a row whose new id is taken already is inserted again with a fresh one.

Ids of 64 bits without a worker number can collide: of ``Time64Field()``, for one, there are 100,000
in each 0.1 ms, for all processes together. A unique constraint then refuses the row, and here it
gets another id, up to ``TRIES`` ids in all.

Only an id is replaced that nobody can have seen: one that Python made for this very insert. Hence
the keys of ``RetryOnCollision`` models are made when the row is inserted, and never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

from django.db import IntegrityError, connections, models, transaction

from .db.tables import folded
from .db.transactions import in_transaction
from .db.violations import columns_in_violation
from .fields import SortableIDField

__all__ = ["RetryOnCollision", "SortableIDQuerySet"]

TRIES = 5
"""How many ids a row gets before the violation is raised."""

Row = TypeVar("Row", bound=models.Model, covariant=True)
Result = TypeVar("Result")


class SortableIDQuerySet(models.QuerySet[Row]):
    """A queryset whose ``bulk_create`` makes the ids of all rows at once and retries on collision.

    It makes those that are None. A key is made with its instance, so it is a given one here, unless
    its model is a ``RetryOnCollision``.
    """

    def bulk_create(
        self,
        objs: Iterable[Row],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,
        update_conflicts: bool = False,
        update_fields: Any = None,
        unique_fields: Any = None,
    ) -> list[Row]:
        """As Django's. The ids of a column are made by one call, for a sequence by one UPDATE.

        Where an id that was made here is taken, in the table or by a given one of ``objs``, the
        rows with such ids get fresh ones, behind all others, and all rows are inserted again: in
        one transaction, with a savepoint for each of ``TRIES`` tries. Every other violation is
        raised at once, the last one as it is, and the ids are None again then.
        ``ignore_conflicts`` and ``update_conflicts`` leave collisions to the database.
        """
        self._for_write = True
        rows = list(objs)
        made = _MadeIDs(self.model, rows, self.db)

        def insert() -> list[Row]:
            return super(SortableIDQuerySet, self).bulk_create(
                rows, batch_size, ignore_conflicts, update_conflicts, update_fields, unique_fields
            )

        with transaction.atomic(using=self.db, savepoint=False):
            made.fill()
            if ignore_conflicts or update_conflicts:
                return insert()
            return made.retry(insert)


SortableIDManager = models.Manager.from_queryset(SortableIDQuerySet, "SortableIDManager")


class RetryOnCollision(models.Model):
    """A base for models: ``save()`` and ``bulk_create()`` insert a row again, with a fresh id,
    where the one that was made for it is taken.

    That is done when, and only when, a unique constraint of the column refuses the row, alone or
    with other columns, and Python made the id for this insert: never for an id that was given, by
    a fixture either, nor for any other constraint. A row gets ``TRIES`` ids at most; then the last
    ``IntegrityError`` is raised as it is. After one, the instance has the ids that it had before.

    The key is None until the row is inserted, as Django's own counted keys are: so no related
    object has copied an id that is replaced, nor has a ``pre_save`` receiver. Signals are sent
    once. Where a parent model has the key, the parent must be the ``RetryOnCollision``.

    Inside ``atomic()`` each try takes a savepoint. A model with a manager of its own derives it
    from ``SortableIDManager``, or its queryset from ``SortableIDQuerySet``.
    """

    makes_key_on_insert: ClassVar[bool] = True

    objects = SortableIDManager()

    class Meta:
        abstract = True

    def _save_table(
        self,
        raw: bool = False,
        cls: type[models.Model] | None = None,
        force_insert: bool = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Any = None,
    ) -> bool:
        # Django calls this for the table of each parent and then for the model's own. It may try an
        # UPDATE first, so ids are left to be made by the INSERT; one by a new key could only hit
        # the row of another.
        table_of = cls or type(self)
        made = _MadeIDs(table_of, [self], using or "default")
        force_insert = force_insert or (made.has_key and not (force_update or update_fields))

        def save() -> bool:
            saved: bool = super(RetryOnCollision, self)._save_table(  # type: ignore[misc]
                raw, cls, force_insert, force_update, using, update_fields
            )
            return saved

        return made.retry(save)


class _MadeIDs:
    """The ids that are made for rows of one table while they are inserted."""

    def __init__(self, model: type[models.Model], rows: Sequence[models.Model], using: str) -> None:
        self._model: type[models.Model] = model._meta.concrete_model or model
        self._using = using
        self._all_rows = rows
        missing = {field: _without(field, rows) for field in _made_fields(self._model)}
        self._rows = {field: rows for field, rows in missing.items() if rows}

    @property
    def has_key(self) -> bool:
        return any(field.primary_key for field in self._rows)

    def fill(self) -> None:
        """Make all of them, in the order of the rows."""
        for field, rows in self._rows.items():
            self._make(field, rows)

    def retry(self, insert: Callable[[], Result]) -> Result:
        """What ``insert`` gives, once no id is taken.

        Raises the ``IntegrityError`` of the last try, or of the first that isn't a collision.
        """
        if not self._rows:
            return insert()
        for left in reversed(range(TRIES)):
            try:
                if not in_transaction(self._using):
                    return insert()
                with transaction.atomic(using=self._using):
                    return insert()
            except IntegrityError as error:
                if not left or not self._replace(error):
                    self._forget()
                    raise
        raise AssertionError("the last try returns or raises")

    def _replace(self, error: IntegrityError) -> bool:
        """Give fresh ids to the rows that collided; False where it was no collision."""
        connection = connections[self._using]
        violated = columns_in_violation(error, self._model._meta.db_table, connection)
        colliding = {
            field: self._colliding(field)
            for field in self._rows
            if folded(connection, str(field.column)) in violated
        }
        for field, rows in colliding.items():
            self._make(field, rows)
        return any(colliding.values())

    def _colliding(self, field: SortableIDField) -> list[models.Model]:
        # Not a row that an UPDATE was tried for: it has kept its NULL.
        made = {_id(field, row): row for row in self._rows[field] if _id(field, row) is not None}
        if len(self._all_rows) == 1:
            return list(made.values())
        given = set(self._given(field))
        taken = {*self._in_table(field, list(made)), *given}
        found = [row for value, row in made.items() if value in taken]
        # A snapshot that was taken before the other row was committed doesn't show it.
        return found if found or given else list(made.values())

    def _in_table(self, field: SortableIDField, values: list[Any]) -> Iterator[Any]:
        rows = self._model._base_manager.using(self._using)
        size = connections[self._using].ops.bulk_batch_size([field], values)
        for start in range(0, len(values), size):
            among = {f"{field.name}__in": values[start : start + size]}
            yield from rows.filter(**among).values_list(field.name, flat=True)

    def _given(self, field: SortableIDField) -> Iterator[Any]:
        made = {id(row) for row in self._rows[field]}
        return (_id(field, row) for row in self._all_rows if id(row) not in made)

    def _make(self, field: SortableIDField, rows: Sequence[models.Model]) -> None:
        fresh = field.generate_many_for(rows, self._using)
        for row, value in zip(rows, fresh, strict=True):
            setattr(row, field.attname, value)

    def _forget(self) -> None:
        for field, rows in self._rows.items():
            for row in rows:
                setattr(row, field.attname, None)


def _made_fields(model: type[models.Model]) -> list[SortableIDField]:
    fields = model._meta.local_concrete_fields
    return [field for field in fields if isinstance(field, SortableIDField) and field.generates_ids]


def _without(field: SortableIDField, rows: Sequence[models.Model]) -> list[models.Model]:
    return [row for row in rows if _id(field, row) is None]


def _id(field: SortableIDField, row: models.Model) -> Any:
    return getattr(row, field.attname)
