"""What prevents a move, found before anything is written.

These include programs of the database (triggers, views, routines, events, rules) that name a moved
table. A move leaves their texts as they are, and nothing but a person can tell whether these fit
the new keys. So each is refused by name until ``--allow`` names it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from django.db import DatabaseError, models
from django.db.models import Max, QuerySet
from django.db.models.functions import Length

from ..db import row, tables, value
from ..db.transactions import savepoint
from ..errors import BackfillError, counted
from ..fields import SortableIDField
from ..schemes.support import is_named, nearest
from .changes import texts
from .changes.change import ReferringColumn
from .changes.engine import KeyEngine
from .changes.moved import Reference
from .notes import UNMOVED

_EXACT = {
    "mysql": "CAST(CONVERT({} USING utf8mb4) AS BINARY)",
    "postgresql": '{}::text COLLATE "C"',
    "sqlite": "CAST({} AS BLOB)",
}
"""What compares as the bytes of a text, whatever its type and collation."""


def check(engine: KeyEngine, allowed: Sequence[str]) -> None:
    """Raise ``BackfillError`` with all that prevents the move; if nothing does, with the errors of
    a dry run on empty copies of the tables."""
    if reasons := [*dict.fromkeys(problems(engine, allowed))] or [*engine.rehearse()]:
        if engine.note.backwards:  # Later migrations may be undone already.
            reasons.append(
                "To keep the new keys, undo nothing more: `manage.py migrate` applies all "
                "migrations again"
            )
        raise BackfillError("\n".join([f"{UNMOVED}.", *reasons]))


def problems(engine: KeyEngine, allowed: Sequence[str]) -> Iterator[str]:
    """The problems, each with what to do. ``allowed`` are the programs that somebody has read."""
    yield from engine.problems_of_undo()
    if already := [*_problems_of_columns(engine)]:
        yield from already
        return  # Nothing else is as the migrations say.
    yield from _problems_of_unlisted(engine)
    yield from _problems_of_sizes(engine)
    for table in engine.change.tables:
        for column in table.columns:
            yield from _problems_of_reference(engine, table.name, column)
    yield from texts.problems(engine.connection, engine.change)
    yield from engine.problems()
    yield from _problems_of_programs(engine, allowed)


def _problems_of_columns(engine: KeyEngine) -> Iterator[str]:
    for table in engine.change.tables:
        for _, old in table.added:
            if tables.has_column(engine.connection, table.name, old.column):
                yield (
                    f"{table.name} has a column {old.column} already, which a move adds: if the "
                    f"key was moved before, restore the migration as it was then; otherwise rename "
                    f"or drop the column, and run this again"
                )


def _problems_of_sizes(engine: KeyEngine) -> Iterator[str]:
    """The new field, the old one and the map can't hold more, as an unsigned column may."""
    for key in engine.change.keys:
        kind, longest = key.before.get_internal_type(), key.before.max_length
        keys: QuerySet[Any] = QuerySet(key.model, using=engine.using)
        if isinstance(key.before, models.IntegerField):
            _, most = engine.connection.ops.integer_field_range(kind)
            if most and (keys.aggregate(last=Max("pk"))["last"] or 0) > most:
                yield (
                    f"{key.table}.{key.name} has keys above {most}, which {kind} can't hold: make "
                    f"it a BigAutoField before the move, by makemigrations and migrate, and run "
                    f"this again"
                )
        elif isinstance(key.before, models.CharField) and longest:
            length = keys.aggregate(longest=Max(Length("pk")))["longest"] or 0
            if length > longest:
                yield (
                    f"{key.table}.{key.name} has a key of {length} characters, and "
                    f"max_length={longest}: correct the model before the move, by makemigrations "
                    f"and migrate, and run this again"
                )


def _problems_of_reference(engine: KeyEngine, table: str, column: ReferringColumn) -> Iterator[str]:
    """Rows that refer to no key, or to one in another spelling."""
    name, key, field = f"{table}.{column.name}", column.key, column.after
    is_plain = not (field is None or field.is_relation or column.is_history)
    needed = "" if engine.note.backwards else key.after.rel_db_type(engine.connection)
    if is_plain and needed and field.db_type(engine.connection) != needed:
        yield (
            f"{name} has a foreign key to {key.label}, and is a {type(field).__name__} in "
            f"the migrations: name it by --adopt {name}={key.label}, or make it a "
            f"ForeignKey, by makemigrations and migrate, before the move"
        )
    orphans = engine.with_orphans(table, column, key.own)
    # Histories may contain keys of deleted rows: the query only shows whether they compare.
    limit = " LIMIT 0" if column.is_history else ""
    try:
        with savepoint(engine.using):
            count = value(engine.connection, f"SELECT COUNT(*) {orphans}{limit}")
    except DatabaseError as error:  # such as another collation
        yield (
            f"{name} can't be compared with {key.table}.{key.name}: {error}. Give it the "
            f"type and the collation of the key, and run this again"
        )
        return
    if count:
        yield (
            f"{counted(count, 'row')} of {name} without a row of {key.table}: correct or "
            f"delete them, and run this again"
        )
    is_text = isinstance(key.before, models.CharField | models.TextField)
    if isinstance(key.before, SortableIDField) or not is_text:  # an id has one spelling
        return
    of_key, of_row = f"p.{engine.quote(key.name)}", f"t.{engine.quote(column.name)}"
    exact = _EXACT[engine.connection.vendor].format
    joined = f"{engine.quote(table)} t JOIN {engine.quote(key.table)} p"
    sql = f"{joined} ON {of_key} = {of_row} WHERE {exact(of_key)} <> {exact(of_row)}"
    if spelled := value(engine.connection, f"SELECT COUNT(*) FROM {sql}"):
        yield (
            f"{counted(spelled, 'row')} of {name} with a key of {key.table} in another "
            f"spelling, such as another case, which the database compares as equal: write "
            f"them as the keys are, and run this again"
        )


def unmodelled(engine: KeyEngine) -> Iterator[Reference]:
    """Foreign keys of the database that refer to a changed column, and that no model has."""
    # Names as the database compares them.
    folded = partial(tables.folded, engine.connection)
    folded_table = partial(tables.folded_table, engine.connection)
    spelled = {folded_table(table.name): table.name for table in engine.change.tables}
    changed = {
        folded_table(table.name): {folded(column.name): column.key for column in table.changed}
        for table in engine.change.tables
    }
    for foreign_key in engine.foreign_keys():
        if not (parent := changed.get(folded_table(foreign_key.referenced_table))):
            continue
        child = folded_table(foreign_key.table)
        for column, referred in zip(
            foreign_key.columns, foreign_key.referenced_columns, strict=True
        ):
            key = parent.get(folded(referred))
            if key and folded(column) not in changed.get(child, ()):
                yield Reference(spelled.get(child, foreign_key.table), column, key.label)


def _problems_of_unlisted(engine: KeyEngine) -> Iterator[str]:
    modelled = {
        Reference(table.name, column.name, column.key.label)
        for table in engine.change.tables
        for column in table.columns
    }
    for reference in sorted({*modelled, *unmodelled(engine)} - engine.change.listed):
        table, column, key = reference
        name = engine.quote(column)
        sql = f"SELECT 1 FROM {engine.quote(table)} WHERE {name} IS NOT NULL LIMIT 1"
        # The type of a column that no model has would stay, and the server refuse its foreign key.
        if reference not in modelled or row(engine.connection, sql) is not None:
            step = (
                f"write the migration again by `manage.py backfill_ids {key} --primary-key "
                f"--write-migration`"
            )
            if engine.note.backwards:
                step = f"add {tuple(reference)} to its references, and migrate again"
            yield f"{table}.{column} refers to {key}, and the migration doesn't list it: {step}"


def _problems_of_programs(engine: KeyEngine, allowed: Sequence[str]) -> Iterator[str]:
    """The programs that name a table which the change writes, or that a row of it fires; and the
    options that allow them. A view of such a table counts as one."""
    change, programs = engine.change, list(engine.programs())
    written = [*(table.name for table in change.tables), *(text.table for text in change.texts)]
    moved = {tables.split(engine.connection, table)[1].lower() for table in written}
    moved |= {view.lower() for view in engine.views()}
    names = set(moved)
    views = [program for program in programs if program.kind == "view"]
    while new_names := {view.name for view in views if _named(view.sql, names)} - names:
        names |= new_names
    refused: list[str] = []
    for program in programs:
        used = _named(program.sql, names - {program.name} if program.kind == "view" else names)
        why = f"names {', '.join(used)}" if used else None
        if program.table and program.table.lower() in moved:
            why = "fires on a table that changes"
        elif program.sql is None:
            why = "can't be read by this user"
        if why and not is_named(program.name, allowed):
            refused.append(program.name)
            of_table = f" of {program.table}" if program.table else ""
            yield f"{program.kind} {program.name}{of_table} {why}"
    if refused:
        allowing = list(dict.fromkeys(refused))
        options = " ".join(f"--allow {shlex.quote(name)}" for name in allowing)
        yield (
            f"Read what is named, which the move doesn't change. What fits the new keys: write the "
            f"migration with {options} (or give the operation allowed={[*allowed, *allowing]}). "
            f"Anything else: drop it, migrate, and create one that fits"
        )


def _named(sql: str | None, names: set[str]) -> list[str]:
    """The tables that a text contains as whole words, quoted or not, also in its strings."""
    named = []
    for name in sorted(names):
        spelled = (name, *(name.replace(quote, quote * 2) for quote in ('"', "`")))
        word = rf"(?<![\w$])(?:{'|'.join(map(re.escape, spelled))})(?![\w$])"
        named += [name] if re.search(word, sql or "", re.IGNORECASE) else []
    return named


def refuse_unknown(option: str, names: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise ``BackfillError`` for names and patterns that fit nothing of the database."""
    for name in names:
        if not any(is_named(existing, [name]) for existing in known):
            has = f"the database has no such {what}{nearest(name, known)}"
            raise BackfillError(f"{option} {name}: {has}. Correct the name, or omit it")
