"""Two columns exchange their names, and what is named after them does, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, models, transaction
from django.db.models import QuerySet

from ..db.locks import with_short_lock_timeout
from ..errors import BackfillError
from ..models import BackfillRun, SequenceCounter, VerificationRun
from ..sequences.counters import key_of
from . import swap_notes
from .index_names import Renaming, renamings

TEMPORARY = "swapped__"


@dataclass(frozen=True)
class Swap:
    """``name`` gets the column of ``other``, and the other way round.

    ``before`` and ``after`` are the model as the migration finds and leaves it.
    """

    editor: Any
    before: type[models.Model]
    after: type[models.Model]
    name: str
    other: str

    @property
    def label(self) -> str:
        return f"{self.before._meta.label}.{self.name}"

    @property
    def moves(self) -> dict[str, str]:
        """The new name of each column that gets one."""
        pairs = ((self.name, self.other), (self.other, self.name))
        columns = {
            str(_field(self.before, old).column): str(_field(self.after, new).column)
            for old, new in pairs
        }
        return {old: new for old, new in columns.items() if old != new}

    # What is refused

    def check(self) -> None:
        """Raise ``BackfillError`` where the new column can't do what the old one does."""
        old, new = _field(self.before, self.name), _field(self.before, self.other)
        weaker = [
            what
            for what, is_so in (
                ("NOT NULL", new.null and not old.null),
                ("unique", _is_unique(old) and not _is_unique(new)),
            )
            if is_so
        ]
        if weaker:
            raise BackfillError(
                f"{self.label} is {' and '.join(weaker)}, and {self.other} is not: fill it, and "
                f"migrate a ConstrainSortableID of {self.other} before the swap"
            )
        if self.editor.collect_sql or not new.null:
            return
        rows: QuerySet[Any] = QuerySet(self.before, using=self.editor.connection.alias)
        lost = rows.filter(**{f"{self.name}__isnull": False, f"{self.other}__isnull": True})
        if lost.order_by().exists():
            raise BackfillError(
                f"{lost.count():,} rows of {self.label} have no {self.other} yet, and would be "
                f"left without an id: run `manage.py backfill_ids "
                f"{self.before._meta.label}.{self.other} --convert-from {self.name}`, and this "
                f"again"
            )

    # The database

    def execute(self, backwards: bool) -> None:
        """Swap, unless the note of a run that was killed before it was recorded says it is done."""
        connection = self.editor.connection
        if self.editor.collect_sql:
            self._rename([])
            return
        tables = connection.introspection.table_names()
        if VerificationRun._meta.db_table not in tables:
            raise BackfillError(
                f"the database {connection.alias!r} has no table {VerificationRun._meta.db_table}: "
                f"add ('django_sortable_ids', '0001_initial') to the dependencies of the "
                f"migration"
            )
        if connection.features.can_rollback_ddl:
            with transaction.atomic(connection.alias), self._usual_lock_timeout():
                with_short_lock_timeout(connection, lambda: self._rename_once(backwards))
        else:
            with_short_lock_timeout(connection, lambda: self._rename_once(backwards))

    @contextmanager
    def _usual_lock_timeout(self) -> Iterator[None]:
        """For what follows in the transaction."""
        if self.editor.connection.vendor != "postgresql":
            yield
            return
        with self.editor.connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            (usual,) = cursor.fetchone()
            yield
            cursor.execute(f"SET LOCAL lock_timeout = '{usual}'")

    def _rename_once(self, backwards: bool) -> None:
        connection, table = self.editor.connection, self.before._meta.db_table
        notes = VerificationRun.objects.using(connection.alias)
        key = swap_notes.key(self.before, self.name, self.other)
        this = swap_notes.circumstances(self.before, self.name, self.other, backwards=backwards)
        note = notes.filter(target=key).first()
        is_same = note is not None and note.judged_by == this
        if note is None or not is_same or not swap_notes.is_done(note, connection, table):
            values = {
                "judged_by": this,
                "state": swap_notes.state(connection, table, self.moves),
            }
            note, _ = notes.update_or_create(target=key, defaults=values)
            self._rename(renamings(self.editor, self.before, self.moves))
        if not note.state.get("finished"):
            with transaction.atomic(connection.alias):
                self._rename_records()
                notes.filter(pk=note.pk).update(state=note.state | {"finished": True})

    def _rename(self, names: list[Renaming]) -> None:
        quote, table = self.editor.quote_name, self.before._meta.db_table
        vendor = self.editor.connection.vendor
        if vendor == "mysql":
            changes = [
                f"RENAME COLUMN {quote(old)} TO {quote(new)}" for old, new in self.moves.items()
            ]
            changes += [each.on_mysql(quote) for each in names]
            how = "ALGORITHM=INPLACE, LOCK=NONE"
            self._execute(f"ALTER TABLE {quote(table)} {', '.join([*changes, how])}")
            return
        for each in names:
            self._execute(each.make_way(quote, table, vendor))
        for old, new in _without_clashes(self.moves):
            self._execute(f"ALTER TABLE {quote(table)} RENAME COLUMN {quote(old)} TO {quote(new)}")
        for each in names:
            self._execute(each.take_place(quote, table, vendor))

    def _execute(self, sql: str) -> None:
        try:
            self.editor.execute(sql, None)
        except DatabaseError as error:
            if self.editor.connection.vendor != "sqlite":
                raise
            raise BackfillError(
                f"{self.label}: SQLite can't rename the column: {error}. Drop what uses it, and "
                f"create it again afterwards"
            ) from error

    # The app's own records

    def _rename_records(self) -> None:
        """Runs of the two fields and their counters, which know them by their names."""
        using = self.editor.connection.alias
        labels = {
            f"{self.before._meta.label}.{old}": f"{self.before._meta.label}.{new}"
            for old, new in ((self.name, self.other), (self.other, self.name))
        }
        VerificationRun.objects.using(using).filter(target__in=labels).delete()
        runs = BackfillRun.objects.using(using)
        found = list(runs.filter(target__in=labels))
        for run in found:
            runs.filter(pk=run.pk).update(target=f"{TEMPORARY}{run.pk}")
        for run in found:
            options = self._options(run.options)
            runs.filter(pk=run.pk).update(target=labels[run.target], options=options)
        self._rename_counters(using)

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        names = {self.name: self.other, self.other: self.name}
        sources = ("created_from", "convert_from")
        return {
            key: names.get(value, value) if key in sources else value
            for key, value in options.items()
        }

    def _rename_counters(self, using: str) -> None:
        counters = SequenceCounter.objects.using(using)
        keys = {
            key_of(_field(self.before, old)): key_of(_field(self.after, new))
            for old, new in ((self.name, self.other), (self.other, self.name))
        }
        found = list(counters.filter(key__in=keys))
        for counter in found:
            counters.filter(pk=counter.pk).update(key=f"{TEMPORARY}{counter.pk}")
        for counter in found:
            counters.filter(pk=counter.pk).update(key=keys[counter.key])


def refuse(model: type[models.Model], name: str, other: str) -> None:
    """Raise ``BackfillError`` for fields of a model that can't be swapped."""
    label = f"{model._meta.label}.{name}"
    for each in (name, other):
        field = _field(model, each)
        if field in model._meta.pk_fields:
            raise BackfillError(
                f"{model._meta.label}.{each} is the primary key or a part of it, and other tables "
                f"hold its values: it can't be swapped"
            )
        if field.is_relation or not field.concrete:
            raise BackfillError(
                f"{model._meta.label}.{each} has no column of ids: it can't be swapped"
            )
    names = {name, other}
    for relation in model._meta.related_objects:
        pointed = {each.name for each in relation.field.foreign_related_fields}
        if names & pointed:
            raise BackfillError(
                f"{relation.field.model._meta.label}.{relation.field.name} points to "
                f"{model._meta.label}.{(names & pointed).pop()} by to_field, and holds its values: "
                f"point it to the primary key before {label} is swapped"
            )
    users = [*_users(model, names)]
    if users:
        raise BackfillError(
            f"{', '.join(users)} of {model._meta.label} uses {name} or {other} in an expression or "
            f"a condition: remove it before the swap, and add it again afterwards"
        )


def _users(model: type[models.Model], names: set[str]) -> Iterator[str]:
    words = re.compile(rf"\b({'|'.join(map(re.escape, names))})(\b|__)")
    for each in (*model._meta.indexes, *model._meta.constraints):
        _, args, kwargs = each.deconstruct()
        rest = {key: value for key, value in kwargs.items() if key not in ("fields", "name")}
        if words.search(repr((args, rest))):
            yield each.name
    for field in model._meta.local_fields:
        if field.generated and words.search(repr(getattr(field, "expression", ""))):
            yield field.name


def _is_unique(field: models.Field[Any, Any]) -> bool:
    constraints = field.model._meta.total_unique_constraints
    return field.unique or any(tuple(each.fields) == (field.name,) for each in constraints)


def _field(model: type[models.Model], name: str) -> Any:
    return model._meta.get_field(name)


def _without_clashes(moves: dict[str, str]) -> list[tuple[str, str]]:
    """One after the other, with a temporary name where two columns exchange theirs."""
    if len(moves) < 2:
        return list(moves.items())
    (first, to_first), (second, to_second) = moves.items()
    temporary = f"{TEMPORARY}{first}"[:60]
    return [(first, temporary), (second, to_second), (temporary, to_first)]
