"""Which keys change, and which columns contain their values: for every database and direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.apps.registry import Apps
from django.db import models

from ...db import tables
from ...fields import history_models
from ...fields.of_model import referenced_column
from .moved import KEPT, MAP, NEW_KEY, OLD_KEY, MovedKey, Reference

if TYPE_CHECKING:
    from ..operation import MigratePrimaryKey


class KeyColumn(NamedTuple):
    """A primary key, and the next value of each."""

    table: str
    column: str
    """The column with the keys."""
    model: Any
    """The model of the table."""
    next: str = ""
    """The name of the field with the next value of each, and of its column; empty without one."""

    @property
    def key_field(self) -> Any:
        return self.model._meta.pk

    @property
    def next_field(self) -> Any:
        return self.model._meta.get_field(self.next)


@dataclass(frozen=True, eq=False)
class ChangedColumn:
    """A column whose values are replaced."""

    name: str
    before: Any
    """Its field; None if no model has the column."""
    after: Any
    old: Any
    """The field that keeps the previous values; None if they are dropped."""
    dropped: Any
    """To undo a move: the field of the old values, which come back, and which is dropped then."""


@dataclass(frozen=True, eq=False)
class Key(ChangedColumn):
    """A primary key whose values are replaced by those of its map."""

    label: str
    """``app.Model``."""
    table: str
    model: Any
    """The model before."""
    map: KeyColumn
    """The next value of each key, also of deleted rows."""
    kept_keys: KeyColumn | None
    """The pairs of deleted rows that stay in the database; None if no history contains keys."""
    content_types: tuple[tuple[str, str], ...]
    """App label and name of the models whose rows it identifies: its own, proxies and children."""

    @property
    def own(self) -> KeyColumn:
        return KeyColumn(self.table, self.name, self.model)

    @property
    def key(self) -> Key:
        """The key whose values the column contains: this one."""
        return self

    def db_type(self, connection: Any) -> str:
        return str(self.after.db_type(connection))


@dataclass(frozen=True, eq=False)
class ReferringColumn(ChangedColumn):
    key: Key
    is_history: bool
    """Whether it may also contain keys of deleted rows."""

    def db_type(self, connection: Any) -> str:
        of_key, field = self.key.after, self.after
        return str(of_key.rel_db_type(connection) if field is None else field.db_type(connection))


@dataclass(frozen=True, eq=False)
class Table:
    name: str
    key: Key | None
    columns: tuple[ReferringColumn, ...]

    @property
    def changed(self) -> tuple[Key | ReferringColumn, ...]:
        return (self.key, *self.columns) if self.key else self.columns

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.changed]

    @property
    def added(self) -> list[tuple[str, Any]]:
        """The columns whose previous values are kept, and the field that keeps them."""
        return [(column.name, column.old) for column in self.changed if column.old is not None]

    @property
    def dropped(self) -> list[str]:
        """The columns that kept the values which come back."""
        return [str(it.dropped.column) for it in self.changed if it.dropped is not None]


class Texts(NamedTuple):
    table: str
    column: str
    of: str
    """The column of their content types; or ``app.Model``, if all keys are those of one model."""
    field: Any
    """The field of the column; None if no model has it."""
    is_adopted: bool
    """Whether keys of deleted rows get new ones."""

    @property
    def content_type(self) -> str | None:
        return None if "." in self.of else self.of


@dataclass(frozen=True)
class Change:
    keys: tuple[Key, ...]
    tables: tuple[Table, ...]
    """The tables with a key that changes, or with columns that contain its values."""
    texts: tuple[Texts, ...]
    listed: frozenset[Reference]
    """The references that the migration lists."""

    def histories_of(self, key: Key) -> list[tuple[Table, ReferringColumn]]:
        """The columns that may contain keys of deleted rows of its model."""
        columns = ((table, column) for table in self.tables for column in table.columns)
        return [
            (table, column) for table, column in columns if column.is_history and column.key is key
        ]


def build(
    operation: MigratePrimaryKey,
    moved: Sequence[MovedKey],
    before: Apps,
    after: Apps,
    connection: Any,
    *,
    backwards: bool,
) -> Change:
    """The change of some keys of an operation, from the models of one state, which have the maps,
    to those of another; without columns and texts of which this database has no table."""
    labels = {moved_key.model for moved_key in moved}
    adopted = {reference for reference in operation.adopted if reference.key in labels}
    known = adopted.union(listed for listed in operation.references if listed.key in labels)
    references = known.union(references_of(before, moved))
    fields_before, fields_after = by_column(before), by_column(after)
    texts = [
        Texts(*text, fields_before.get((text.table, text.column)), is_adopted)
        for is_adopted, listed in ((False, operation.generic), (True, operation.texts))
        for text in listed
        if tables.kind(connection, text.table) == "table"
    ]
    histories = {before.get_model(history.model)._meta.db_table for history in operation.histories}
    of_deleted = {reference for reference in references if reference.table in histories}
    of_deleted |= adopted
    copied = {reference.key for reference in of_deleted}
    for text in texts:
        if text.is_adopted:
            copied |= labels if text.content_type else {text.of}
    # The fields of old values: what is kept and what is dropped of each column.
    old_fields: dict[tuple[str, str], tuple[Any, Any]] = {}
    with_old = before if backwards else after
    for changed in operation.fields_of(moved):
        if changed.old is not None:
            field: Any = before.get_model(changed.model)._meta.get_field(changed.name)
            old = with_old.get_model(changed.model)._meta.get_field(changed.old_name)
            place = field.model._meta.db_table, field.column
            old_fields[place] = (None, old) if backwards else (old, None)
    present_key, next_key = (NEW_KEY, OLD_KEY) if backwards else (OLD_KEY, NEW_KEY)
    keys, key_of = {}, {}
    for moved_key in moved:
        model, final = (apps.get_model(moved_key.model) for apps in (before, after))
        pk, maps = model._meta.pk, {}
        old, dropped = old_fields.get((model._meta.db_table, pk.column), (None, None))
        for suffix in (MAP, KEPT):
            pairs: Any = before.get_model(f"{moved_key.model}{suffix}")
            maps[suffix] = KeyColumn(pairs._meta.db_table, present_key, pairs, next_key)
        key = Key(
            label=moved_key.model,
            table=model._meta.db_table,
            name=str(pk.column),
            model=model,
            map=maps[MAP],
            kept_keys=maps[KEPT] if moved_key.model in copied else None,
            before=pk,
            after=final._meta.pk,
            old=old,
            dropped=dropped,
            content_types=tuple(
                (other._meta.app_label, str(other._meta.model_name))
                for other in before.get_models()
                if referenced_column(other._meta.pk) is pk
            ),
        )
        keys[key.label] = key_of[key.table] = key
    by_table: dict[str, list[ReferringColumn]] = defaultdict(list)
    existing = {
        name: tables.columns(connection, name)
        for name in {reference.table for reference in references}
        if tables.kind(connection, name) == "table"
    }
    for reference in sorted(references):
        table, name, label = reference
        if tables.folded(connection, name) in existing.get(table, ()):
            was, will_be = fields_before.get((table, name)), fields_after.get((table, name))
            olds = old_fields.get((table, name), (None, None))
            is_history = reference in of_deleted
            referring = ReferringColumn(name, was, will_be, *olds, keys[label], is_history)
            by_table[table].append(referring)
    names = sorted({*by_table, *key_of})
    changed_tables = (Table(name, key_of.get(name), tuple(by_table[name])) for name in names)
    return Change(tuple(keys.values()), tuple(changed_tables), tuple(texts), frozenset(known))


def references_of(apps: Apps, keys: Iterable[MovedKey]) -> list[Reference]:
    """Every column that contains values of these keys."""
    fields = referring(apps, keys)
    return sorted(
        {Reference(field.model._meta.db_table, field.column, key) for field, key in fields}
    )


def referring(apps: Apps, keys: Iterable[MovedKey]) -> Iterator[tuple[Any, str]]:
    """Each field that contains values of these keys, with the model of the key: foreign keys,
    one-to-one fields, links of multi-table inheritance, those of the tables of many-to-many fields,
    and copies in history models, which are no relations."""
    moved = {apps.get_model(key.model)._meta.pk: key.model for key in keys}
    for model in apps.get_models(include_auto_created=True):
        original = history_models.original_of(model)
        copied = {field.name: field for field in original._meta.fields} if original else {}
        for field in () if model._meta.proxy else model._meta.local_concrete_fields:
            target = referenced_column(field) if field.is_relation else copied.get(field.name)
            if target in moved:
                yield field, moved[target]


def by_column(apps: Apps) -> dict[tuple[str, str], Any]:
    """The field of each column, by table and column; of several models on a table, the first."""
    pairs = reversed(columns(apps))
    return {(model._meta.db_table, str(field.column)): field for model, field in pairs}


def columns(apps: Apps) -> list[tuple[type[models.Model], Any]]:
    return [
        (model, field)
        for model in apps.get_models(include_auto_created=True)
        if not model._meta.proxy
        for field in model._meta.local_concrete_fields
    ]
