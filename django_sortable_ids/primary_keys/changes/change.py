"""What changes in the tables: the same for every database, and in both directions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps.registry import Apps

from . import graph
from .moved import GenericReference, MovedKey, Reference


@dataclass(frozen=True, eq=False)
class Key:
    """A primary key whose values are replaced by those of another column."""

    label: str
    """``app.Model``."""
    table: str
    column: str
    next: str
    """The column with the values that the key gets."""
    next_field: Any
    """Its field in the models before."""
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


@dataclass(frozen=True, eq=False)
class Column:
    """A column that contains values of a key."""

    name: str
    key: Key
    before: Any
    """Its field; None if no model has the column."""
    after: Any

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


@dataclass(frozen=True)
class Change:
    keys: tuple[Key, ...]
    tables: tuple[Table, ...]
    """Those with a key that changes, and those with columns that contain its values."""
    generic: tuple[GenericReference, ...]


def build(
    moved: Sequence[MovedKey],
    before: Apps,
    after: Apps,
    references: Iterable[Reference],
    generic: Iterable[GenericReference],
    *,
    backwards: bool,
) -> Change:
    """The change from the models of one state, which have the columns of the next values, to those
    of another."""
    keys = {each.model: _key(each, before, after, backwards) for each in moved}
    columns: dict[str, list[Column]] = defaultdict(list)
    for table, name, label in references:
        fields = (graph.field_of(apps, table, name) for apps in (before, after))
        columns[table].append(Column(name, keys[label], *fields))
    of_table = {each.table: each for each in keys.values()}
    names = sorted({*columns, *of_table})
    tables = (Table(name, of_table.get(name), tuple(columns[name])) for name in names)
    return Change(tuple(keys.values()), tuple(tables), tuple(generic))


def _key(moved: MovedKey, before: Apps, after: Apps, backwards: bool) -> Key:
    models = [apps.get_model(moved.model) for apps in (before, after)]
    fields = [model._meta.pk for model in models]
    following = models[0]._meta.get_field(moved.old_name if backwards else moved.next_name)
    old = None if backwards or moved.old is None else models[1]._meta.get_field(moved.old_name)
    return Key(
        label=moved.model,
        table=models[0]._meta.db_table,
        column=str(fields[0].column),
        next=str(following.column),
        next_field=following,
        old=None if old is None else str(old.column),
        before=fields[0],
        after=fields[1],
        old_field=old,
        content_types=tuple(graph.models_of(before, moved)),
    )
