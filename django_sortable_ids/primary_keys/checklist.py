"""Columns that seem to contain keys, although no foreign key says so: shown after a plan.

It reads names of columns and a few rows of each table.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.apps import apps
from django.db import DatabaseError, transaction
from django.db.models import BooleanField

from ..db import rows, tables
from ..errors import counted, documented
from ..fields.of_model import referenced_column
from ..models import BackfillRun
from .changes.change import Change, columns
from .changes.moved import KEPT_TABLE, MAP_TABLE
from .changes.texts import by_key, is_content_type, looked_up

ADVICE: Mapping[str, str] = {
    "column": "name it by --adopt, make it a foreign key before the move, or --leave it",
    "several": "no move changes several keys in a value: look rows up by old keys; --leave it",
    "generic": "name it by --adopt TABLE.COLUMN=TABLE.CONTENT_TYPE, or --leave it",
    "document": "change these values after the move, or read them by resolve_id(); --leave it",
}
"""What to do, by kind of finding."""
_READ = 1000
"""Rows at each end of a table from which the values are taken."""
_MOST_NAMES = 50
_DOCUMENTS = 20
_MEMBERS = 500
_LEAST_SHARE = 0.9
"""The least share of keys among values in JSON, if no name says so: rows may be deleted."""
_OWN = f"{BackfillRun._meta.app_label}_"
_DJANGO = ("django_migrations", "django_content_type")
_NOT_LISTED = (_OWN, *_DJANGO, MAP_TABLE, KEPT_TABLE, "sqlite_", "moving__")
_NUMBERS = ("int", "serial", "numeric", "decimal")
_TEXTS = ("char", "text", "json")
_GENERIC = re.compile(r"(object|obj)_(id|pk)$")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEY = re.compile(r"_?(id|pk)$", re.IGNORECASE)
_KEYS = re.compile(r"_?(id|pk)s$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    kind: str
    """One of ``ADVICE``."""
    column: str
    """``table.column``."""
    text: str
    """What the column contains."""


def lines_of(findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        yield f"Decide about {counted(len(findings), 'column')} without a foreign key:"
    for kind, places in groupby(findings, attrgetter("kind")):
        yield f"  {ADVICE[kind]}:"
        yield from (f"    {place.column}  {place.text}" for place in places)
    page = documented('see "Before you move a primary key"', "how-to/before-you-move.html")
    yield f"URLs, code, SQL, sessions, tasks, caches and settings: {page}"


def checklist(connection: Any, change: Change) -> list[Finding]:
    """The findings for a planned change. Writes nothing."""
    known = {(table.name, column.name) for table in change.tables for column in table.columns}
    known |= {(text.table, text.column) for text in change.texts}
    known |= {
        (model._meta.db_table, str(field.column))
        for model, field in columns(apps)
        if field.remote_field is not None or isinstance(field, BooleanField)
    }
    # Columns that are named like keys of rows of any type, each with the column of the type.
    generic = {}
    for model in apps.get_models():
        fields = model._meta.local_concrete_fields
        types = [str(field.column) for field in fields if is_content_type(field)]
        for field in fields if types else ():
            place = model._meta.db_table, str(field.column)
            if _GENERIC.search(field.name) and place not in known:
                generic[place] = types[0]
    findings = [
        Finding("generic", f"{table}.{column}", f"with the content type {content_type}")
        for (table, column), content_type in generic.items()
        if tables.has_column(connection, table, column)
    ]

    def folded(table: str, column: str) -> tuple[str, str]:
        return tables.folded_table(connection, table), tables.folded(connection, column)

    settled = {folded(*place) for place in (*known, *generic)}
    own = {folded(key.table, key.name): key.label for key in change.keys}
    names = _Names(change)
    for table in _tables(connection):
        indexes = tables.constraints(connection, table).values()
        key = next((index["columns"] for index in indexes if index["primary_key"]), ())
        for column in tables.columns(connection, table).values():
            if folded(table, column.name) not in settled:
                label = own.get(folded(table, column.name))
                sample = _Sample(connection, table, key, column.name, column.kind.lower(), label)
                findings += [*sample.references(change, names)] or sample.documents(change, names)
    return sorted(findings, key=lambda finding: ([*ADVICE].index(finding.kind), finding))


def adopted_otherwise(change: Change, adopted: Iterable[Sequence[str]]) -> Iterator[str]:
    """Warnings about columns whose names tell of other models than ``--adopt``."""
    names = _Names(change)
    for table, column, label in adopted:
        named = sorted(names.models(column))
        if "." in label and named and label not in named:
            yield (
                f"{table}.{column} is adopted with keys of {label}, but its name says "
                f"{' or '.join(named)}: compare its values with both tables before you write the "
                f"migration"
            )


def columns_of(connection: Any) -> list[str]:
    """``table.column`` of each column, as ``--leave`` names them."""
    return [
        f"{table}.{column.name}"
        for table in _tables(connection)
        for column in tables.columns(connection, table).values()
    ]


class _Names:
    """Tells by the names of models and foreign keys which keys a column contains. A name that is
    both of a moved model and of another one counts as that of the moved one."""

    def __init__(self, change: Change) -> None:
        keys = {apps.get_model(key.label)._meta.pk: key.label for key in change.keys}
        self._words: defaultdict[str, set[str]] = defaultdict(set)
        for model in apps.get_models():
            meta, fields = model._meta, model._meta.local_concrete_fields
            words = [(field.name, field) for field in fields if field.remote_field]
            of_key = (_WORDS.sub("_", model.__name__), str(meta.model_name))
            words += ((name, meta.pk) for name in of_key)
            for word, field in words:
                label = keys.get(referenced_column(field))
                self._words[word.lower()].update({label} if label else ())

    def _models(self, word: str) -> set[str]:
        """The labels of the moved models for whose rows a word such as ``customer``,
        ``newCustomer`` or ``buyer`` stands."""
        word = _WORDS.sub("_", word).lower().lstrip("_")
        while word and word not in self._words:
            _, _, word = word.partition("_")
        return self._words.get(word, set())

    def models(self, column: str) -> set[str]:
        """The labels of the models whose keys a column of this name contains."""
        return self._models(column) | self._models(_KEY.sub("", column))

    def is_key(self, name: str, ending: re.Pattern[str] = _KEY) -> bool:
        return (word := ending.sub("", name)) != name and bool(self._models(word))

    def in_document(self, name: str, owner: str) -> tuple[str, bool | None]:
        """The name of a value in a JSON document, after that of its owner, the object around it, if
        it needs it; and whether it names a key, or only a row (False). None for other names."""
        owners = (owner, owner.removesuffix("s"))
        if name.lower() in ("id", "pk") and any(map(self._models, owners)):
            return f"{owner}.{name}", True
        if self.is_key(name) or self.is_key(name, _KEYS):
            return name, True
        is_row = name == "pk" or any(map(self._models, (name, name.removesuffix("s"))))
        return name, False if is_row else None


def _tables(connection: Any) -> list[str]:
    with connection.cursor() as cursor:
        names = set(connection.introspection.table_names(cursor))
    folded = {tables.folded_table(connection, name) for name in names}
    models = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    unlisted = (table for table in models if tables.folded_table(connection, table) not in folded)
    names |= {table for table in unlisted if tables.kind(connection, table) == "table"}
    return sorted(name for name in names if not name.startswith(_NOT_LISTED))


@dataclass(frozen=True)
class _Sample:
    _connection: Any
    _table: str
    _key: Sequence[str]
    """The columns of the primary key."""
    _name: str
    _kind: str
    _own: str | None
    """The model of which it is the key, if this moves to values of its own."""

    def references(self, change: Change, names: _Names) -> Iterator[Finding]:
        if not any(word in self._kind for word in (*_NUMBERS, *_TEXTS, "uuid")):
            return
        is_several, is_key = names.is_key(self._name, _KEYS), names.is_key(self._name)
        labels = sorted(names.models(self._name) - {self._own})
        if not labels and not is_several:
            return
        values, least = self._values(_READ), _LEAST_SHARE if self._own else 0
        if is_several and values:
            yield self._finding("several", f"such as {str(values[0])[:60]}")
        elif is_key and not values:
            yield self._finding("column", "no values")
        elif not is_several and (match := self._key_of(values, change, labels, least)):
            label, count = match
            text = f"{count:,} of {len(values):,} values are keys of {label}"
            yield self._finding("column", text)

    def documents(self, change: Change, names: _Names) -> Iterator[Finding]:
        """Names of keys in JSON; also lists at any depth whose members are keys, whatever their
        name. Small numbers are keys of nearly every table, and only a person can say that they mean
        something else."""
        if not any(word in self._kind for word in (*_TEXTS, "[]")) or "varchar" in self._kind:
            return
        used: set[str] = set()
        members: dict[str, dict[str, None]] = defaultdict(dict)
        for document in map(_parsed, self._values(_DOCUMENTS)):
            for name, owner, value in _values_in(document):
                label, is_key = names.in_document(name, owner)
                if is_key:
                    used.add(label)
                elif isinstance(value, list):
                    members[label] |= dict.fromkeys(map(str, value))
                elif is_key is not None:
                    members[label][str(value)] = None
        for label in [*members][:_MOST_NAMES]:
            values = [*members[label]][:_MEMBERS]
            match = self._key_of(values, change, least=_LEAST_SHARE)
            if match and label:
                used.add(label)
            elif match:
                text = f"lists, in which {match[1]} of {len(values)} members are keys of {match[0]}"
                yield self._finding("several", text)
        if used:
            yield self._finding("document", ", ".join(sorted(used)))

    def _finding(self, kind: str, text: str) -> Finding:
        return Finding(kind, f"{self._table}.{self._name}", text)

    def _values(self, most: int) -> list[Any]:
        """The values of the first ``most`` rows and of the last ones: old ones may be of no row."""
        quote = self._connection.ops.quote_name
        table, name = quote(self._table), quote(self._name)
        if self._connection.vendor == "postgresql":
            name = f"to_json({name})::text" if "[]" in self._kind else f"{name}::text"
        values: list[Any] = []
        first, last = (", ".join(quote(part) + way for part in self._key) for way in ("", " DESC"))
        orders = [f"ORDER BY {first}", f"ORDER BY {last}"] if self._key else [""]
        try:
            with transaction.atomic(self._connection.alias):
                for order in orders:
                    sql = (
                        f"SELECT DISTINCT v FROM (SELECT {name} AS v FROM {table} {order} "
                        f"LIMIT {_READ}) t WHERE v IS NOT NULL LIMIT {most}"
                    )
                    values += [value for (value,) in rows(self._connection, sql)]
                return [*dict.fromkeys(values)]
        except DatabaseError:
            # A table that nobody may read shows nothing.
            return []

    def _key_of(
        self, values: Collection[Any], change: Change, named: Iterable[str] = (), least: float = 0
    ) -> tuple[str, int] | None:
        """The label of the moved model, of those that the name tells, of which most of the values
        are keys, and how many. None if no value is a key of any, or less than ``least`` of all."""
        counts = {}
        for key in change.keys:
            wanted = [*by_key(self._connection, key, map(str, values))]
            counts[key.label] = len([*looked_up(self._connection, key.own, wanted, "pk")])
        label = max(named or counts, key=counts.__getitem__)
        is_found = any(counts.values()) and counts[label] >= least * len(values)
        return (label, counts[label]) if is_found else None


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) and text[:1] in ("{", "[") else None
    except ValueError:
        return None


def _values_in(document: Any) -> Iterator[tuple[str, str, Any]]:
    """The values of a JSON document that may be keys, and plain lists of such, with their name and
    that of the object around them. A block of wagtail has its name in ``type``."""
    waiting: list[tuple[str, str, Any]] = [("", "", document)]
    while waiting:
        name, owner, value = waiting.pop()
        members = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            kind = value.get("type")
            block = kind if isinstance(kind, str) else "value"
            for key, inner in value.items():
                waiting.append((block if key == "value" else key, name, inner))
        elif members and all(type(member) in (int, str) for member in members):
            yield name, owner, value
        elif isinstance(value, list):
            waiting += [(name, owner, member) for member in value]
