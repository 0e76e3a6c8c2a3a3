"""Which keys change, and which columns contain their values: for every database and direction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.apps.registry import Apps
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.migrations.state import ProjectState

from ...fields import history
from .maps import DELETED, LIVE, NEW_KEY, OLD_KEY
from .moved import AdoptedTexts, GenericReference, MovedKey, Reference


class Values(NamedTuple):
    """A table with the next value of each of its keys."""

    table: str
    column: str
    """The column with the keys."""
    next: str
    model: Any
    """The model of the table."""

    @property
    def key_field(self) -> Any:
        """The field of ``column``."""
        return self._field(self.column)

    @property
    def next_field(self) -> Any:
        """The field of ``next``."""
        return self._field(self.next)

    def _field(self, column: str) -> Any:
        fields = self.model._meta.local_concrete_fields
        return next(each for each in fields if each.column == column)


@dataclass(frozen=True, eq=False)
class Key:
    """A primary key whose values are replaced by those of another column."""

    label: str
    """``app.Model``."""
    table: str
    column: str
    next: str
    """The column with the values that the key gets; no table has it yet if ``is_mapped``."""
    model: Any
    """The model before."""
    live: Values
    """The table with the next values of all rows: that of the model, or its map."""
    old: str | None
    """The column that keeps the previous values; None if they are dropped."""
    before: Any
    """The field of the key."""
    after: Any
    """The field that it becomes."""
    old_field: Any
    """The field of ``old``; None if they are dropped."""
    content_types: tuple[tuple[str, str], ...]
    """App label and name of the models whose rows it identifies."""
    deleted: Values | None
    """The keys of deleted rows that history tables contain; None if no history table copies the
    key."""

    @property
    def is_mapped(self) -> bool:
        """Whether the next values are in a table of their own."""
        return self.live.table != self.table

    @property
    def own(self) -> Values:
        """The table of the model. It has no next values if the key ``is_mapped``."""
        return self.live._replace(table=self.table, column=self.column, model=self.model)

    @property
    def values(self) -> tuple[Values, ...]:
        """The tables with all next values of the key."""
        return (self.live,) if self.deleted is None else (self.live, self.deleted)

    @property
    def holders(self) -> tuple[Values, ...]:
        """The tables with all values of the key, which exist before there are next values."""
        return (self.own, *self.values[1:])


@dataclass(frozen=True, eq=False)
class Column:
    """A column that contains values of a key."""

    name: str
    key: Key
    before: Any
    """Its field; None if no model has the column."""
    after: Any
    is_history: bool
    """Whether it may also contain keys of deleted rows."""

    @property
    def values(self) -> tuple[Values, ...]:
        """The tables with the next values of those that it may contain."""
        return self.key.values if self.is_history else self.key.values[:1]

    @property
    def holders(self) -> tuple[Values, ...]:
        """The tables with the values that it may contain."""
        return self.key.holders if self.is_history else self.key.holders[:1]

    def db_type(self, connection: Any) -> str:
        """The type that the column gets."""
        kind: str = (
            self.key.after.rel_db_type(connection)
            if self.after is None
            else self.after.db_type(connection)
        )
        return kind


@dataclass(frozen=True, eq=False)
class Table:
    """A table with columns that change."""

    name: str
    key: Key | None
    columns: tuple[Column, ...]

    @property
    def values(self) -> Iterator[tuple[str, Key]]:
        """Each column that changes, and the key whose values it contains."""
        if self.key:
            yield self.key.column, self.key
        yield from ((each.name, each.key) for each in self.columns)

    @property
    def changed(self) -> list[str]:
        """The columns that change."""
        return [name for name, _ in self.values]


class Texts(NamedTuple):
    """A column of texts with keys."""

    table: str
    column: str
    content_type: str | None
    """The column of the content types; None if all keys are those of one model."""
    key: str | None
    """That model: ``app.Model``."""
    room: int | None
    """The most characters of a text; None if it isn't known."""
    field: Any
    """The field of the column; None if no model has it."""
    is_adopted: bool
    """Whether keys of deleted rows get new ones."""
    content_types: str = "django_content_type"
    """The table of the content types."""

    def has(self, key: Key) -> bool:
        """Whether it may contain values of the key."""
        return self.content_type is not None or self.key == key.label


@dataclass(frozen=True)
class Change:
    keys: tuple[Key, ...]
    tables: tuple[Table, ...]
    """Those with a key that changes, and those with columns that contain its values."""
    texts: tuple[Texts, ...]

    @property
    def histories(self) -> Iterator[tuple[Table, Column]]:
        """Each column that may contain keys of deleted rows."""
        for table in self.tables:
            yield from ((table, each) for each in table.columns if each.is_history)


def build(
    moved: Sequence[MovedKey],
    before: Apps,
    after: Apps,
    references: Iterable[Reference],
    texts: Iterable[GenericReference | AdoptedTexts],
    histories: Set[str],
    adopted: Set[Reference],
    *,
    backwards: bool,
) -> Change:
    """The change from the models of one state, which have the columns of the next values, to those
    of another. Keys of deleted rows may be in the tables ``histories`` and the columns
    ``adopted``."""
    references = list(references)
    found = tuple(_texts(each, before) for each in texts)
    of_deleted = {each for each in references if each.table in histories} | adopted
    copied = {each.key for each in of_deleted}
    adopted_texts = {each.key for each in found if each.is_adopted}
    copied |= {key.model for key in moved if not adopted_texts.isdisjoint((None, key.model))}
    keys = {
        each.model: _key(each, before, after, is_copied=each.model in copied, backwards=backwards)
        for each in moved
    }
    columns: dict[str, list[Column]] = defaultdict(list)
    for reference in references:
        table, name, label = reference
        old, new = (field_of(apps, table, name) for apps in (before, after))
        columns[table].append(Column(name, keys[label], old, new, reference in of_deleted))
    of_table = {each.table: each for each in keys.values()}
    names = sorted({*columns, *of_table})
    tables = (Table(name, of_table.get(name), tuple(columns[name])) for name in names)
    return Change(tuple(keys.values()), tuple(tables), found)


def _texts(found: GenericReference | AdoptedTexts, before: Apps) -> Texts:
    table, column, of = found
    is_adopted = isinstance(found, AdoptedTexts)
    content_type, key = (None, of) if is_adopted and "." in of else (of, None)
    field = field_of(before, table, column)
    room = getattr(field, "max_length", None)
    return Texts(table, column, content_type, key, room, field, is_adopted)


def _key(moved: MovedKey, before: Apps, after: Apps, *, is_copied: bool, backwards: bool) -> Key:
    models = [apps.get_model(moved.model) for apps in (before, after)]
    fields = [model._meta.pk for model in models]
    live = _live(moved, models[0], backwards)
    old = None if backwards or moved.old is None else models[1]._meta.get_field(moved.old_name)
    return Key(
        label=moved.model,
        table=models[0]._meta.db_table,
        column=str(fields[0].column),
        next=moved.next_name if live.model is not models[0] else live.next,
        model=models[0],
        live=live,
        old=None if old is None else str(old.column),
        before=fields[0],
        after=fields[1],
        old_field=old,
        content_types=tuple(models_of(before, moved)),
        deleted=_deleted(moved, before, backwards) if is_copied else None,
    )


def _live(moved: MovedKey, model: Any, backwards: bool) -> Values:
    found = None if backwards else LIVE.model_of(model._meta.apps, moved)
    if found is not None:
        return Values(found._meta.db_table, OLD_KEY, NEW_KEY, found)
    following = model._meta.get_field(moved.old_name if backwards else moved.next_name)
    return Values(model._meta.db_table, str(model._meta.pk.column), str(following.column), model)


def _deleted(moved: MovedKey, before: Apps, backwards: bool) -> Values:
    model = DELETED.model_of(before, moved)
    columns = (OLD_KEY, NEW_KEY)
    return Values(model._meta.db_table, *(columns[::-1] if backwards else columns), model)


def rendered(state: ProjectState) -> ProjectState:
    """The same state with models that refer to each other. After a change of a plain field, Django
    leaves models that refer to the class of the model before it."""
    found = state.clone()
    found.__dict__.pop("apps", None)
    return found


def key_field(apps: Apps, key: MovedKey) -> models.Field[Any, Any]:
    """The primary key of the model, as the state has it."""
    field: models.Field[Any, Any] = apps.get_model(key.model)._meta.pk
    return field


def references(apps: Apps, keys: Iterable[MovedKey]) -> list[Reference]:
    """Every column that contains values of these keys: foreign keys, one-to-one fields, links of
    multi-table inheritance, the tables of many-to-many fields, and copies in history models."""
    keys = list(keys)
    moved = {key_field(apps, key): key.model for key in keys}
    found = {
        Reference(model._meta.db_table, str(field.column), moved[target])
        for model, field in _columns(apps)
        if field is not (target := final_target(field)) and target in moved
    }
    found |= {
        Reference(field.model._meta.db_table, str(field.column), key)
        for field, key in copies(apps, keys)
    }
    return sorted(found)


def copies(apps: Apps, keys: Iterable[MovedKey]) -> Iterator[tuple[Any, str]]:
    """Each field of a history model that copies one of these keys and is no foreign key, with the
    model of the key."""
    moved = {key_field(apps, key): key.model for key in keys}
    for model, field in _columns(apps):
        original = history.original_of(model)
        if original is None or field.is_relation:
            continue
        try:
            copied: Any = original._meta.get_field(field.name)
        except FieldDoesNotExist:
            continue
        if copied in moved:
            yield field, moved[copied]


def final_target(field: Any) -> Any:
    """The field whose values the column contains: the field itself, or the end of the chain of
    foreign keys."""
    while field.remote_field is not None:
        field = field.target_field
    return field


def field_of(apps: Apps, table: str, column: str) -> Any | None:
    """The field of a column; None if no model has it."""
    for model, field in _columns(apps):
        if (model._meta.db_table, field.column) == (table, column):
            return field
    return None


def models_of(apps: Apps, key: MovedKey) -> Iterator[tuple[str, str]]:
    """The content types whose rows the key identifies: of the model, and of its proxies and
    children."""
    pk = key_field(apps, key)
    for model in apps.get_models():
        proxied = model._meta.concrete_model or model
        if final_target(model._meta.pk) is pk or proxied._meta.pk is pk:
            yield model._meta.app_label, str(model._meta.model_name)


def _columns(apps: Apps) -> Iterator[tuple[type[models.Model], Any]]:
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.proxy:
            for field in model._meta.local_concrete_fields:
                yield model, field
