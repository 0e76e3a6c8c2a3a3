"""PostgreSQL changes the type of a column with an expression for its values: each table is written
once, and its indexes, rights and comments remain.

The expression can't contain a subquery, but it can call a function that looks a key up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.backends.utils import truncate_name

from ...db.locks import with_short_lock_timeout
from ...db.queries import row, rows, value
from ..changes import Column, Key, Table
from .base import ForeignKey, KeyEngine
from .postgresql_dependents import PATTERN_INDEXES, View, create, drop, problems, rehearse, views_of

_FOREIGN_KEYS = """
SELECT conrelid, confrelid, conname, (SELECT {spelled} WHERE t.oid = conrelid),
    ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place),
    (SELECT {spelled} WHERE t.oid = confrelid),
    ARRAY(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute ON attrelid = confrelid AND attnum = number ORDER BY place),
    pg_get_constraintdef(c.oid), obj_description(oid, 'pg_constraint')
FROM pg_constraint c WHERE contype = 'f' AND conparentid = 0 ORDER BY conname
""".format(
    spelled="""CASE WHEN pg_table_is_visible(t.oid) THEN relname::text
        ELSE '"' || nspname || '"."' || relname || '"' END
        FROM pg_class t JOIN pg_namespace n ON n.oid = relnamespace"""
)
"""With the names of tables as models spell them."""
_TYPE = """
SELECT format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attname = %s
"""
_IDENTITY = """
SELECT CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, attidentity <> ''
FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s
"""
_OPTIONS = """
SELECT CASE WHEN seqincrement > 0 THEN concat_ws(' ',
    'INCREMENT BY ' || NULLIF(seqincrement, 1), 'START WITH ' || NULLIF(seqstart, 1),
    'MINVALUE ' || NULLIF(seqmin, 1),
    CASE WHEN seqmax NOT IN (32767, 2147483647, 9223372036854775807) THEN 'MAXVALUE ' || seqmax END,
    'CACHE ' || NULLIF(seqcache, 1), CASE WHEN seqcycle THEN 'CYCLE' END) ELSE '' END
FROM pg_sequence WHERE seqrelid = to_regclass(%s)
"""
"""What is not as usual in a sequence; nothing of one that counts downwards."""
_COMMENT = "SELECT obj_description(to_regclass(%s), 'pg_class')"
_PROGRAMS = """
SELECT 'trigger', tgname::text, pg_get_triggerdef(t.oid) || ' ' || prosrc, relname::text
FROM pg_trigger t JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class c ON c.oid = tgrelid
WHERE NOT tgisinternal AND tgparentid = 0
UNION ALL SELECT 'rule', rulename::text, pg_get_ruledef(r.oid), relname::text
FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE rulename <> '_RETURN' AND r.oid >= 16384
UNION ALL SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, p.oid::regproc::text,
    pg_get_functiondef(p.oid), NULL
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE prokind IN ('f', 'p', 'w') AND nspname NOT IN ('information_schema', 'pg_catalog')
    AND prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    )
ORDER BY 1, 2, 4
"""
"""Without functions of extensions. A function of triggers is a part of each of their texts."""


class _Counter(NamedTuple):
    """The sequence of a counted key."""

    sequence: str
    """The name with its schema, in SQL."""
    last: int
    """The last number that it gave."""
    is_identity: bool
    generated: str
    """``ALWAYS`` or ``BY DEFAULT``."""
    options: str
    """Of the sequence, in SQL."""


class PostgreSQLKeys(KeyEngine):
    locks = "these tables, for reading as well, until it ends"
    programs_sql = _PROGRAMS

    def foreign_keys(self) -> Iterator[ForeignKey]:
        """With the names of tables as the models spell them, where they have one."""
        spelled = {self._oid(each.name): each.name for each in self.change.tables}
        for child, parent, name, table, columns, of, *others in rows(
            self.connection, _FOREIGN_KEYS
        ):
            table, of = spelled.get(child, table), spelled.get(parent, of)
            yield ForeignKey(name, table, tuple(columns), of, *others)

    def _oid(self, table: str) -> Any:
        return value(self.connection, "SELECT to_regclass(%s)::oid::bigint", [self.quote(table)])

    def problems(self) -> Iterator[str]:
        for table in self.change.tables:
            yield from problems(self.connection, self.quote(table.name), table)

    def rehearse(self) -> Iterator[str]:
        types = {
            each.name: [(part.name, self._new_type(part)) for part in each.parts]
            for each in self.change.tables
        }
        return rehearse(self.connection, types, self._views)

    def _views(self) -> list[View]:
        """Those of the tables, also if they read whole rows."""
        return views_of(self.connection, [self.quote(each.name) for each in self.change.tables])

    def last_counted(self, key: Key) -> int:
        counter = self._counter(key.table, key.gone) if key.gone else None
        return counter.last if counter else 0

    def exchange(self) -> None:
        tables = [each.name for each in self.change.tables]
        names = ", ".join(map(self.quote, tables))
        # ALTER TABLE refuses tables with pending checks of foreign keys.
        self.execute("SET CONSTRAINTS ALL IMMEDIATE")
        views: list[View] = []

        def lock() -> None:
            self.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            views[:] = self._views()
            drop(views, self.execute)

        with_short_lock_timeout(self.editor, lock)
        self.refuse_unfilled()
        counters = {key: self._counter(key.table, key.column) for key in self.change.keys}
        keys = list(self._affected_keys())
        self._key_types = {
            each: str(value(self.connection, _TYPE, [self.quote(each.table), each.column]))
            for each in self.change.keys
        }
        for table, name, *_ in keys:
            self.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for number, key in enumerate(self.change.keys):
            self._create_function(number, key)
        for each in self.change.tables:
            self._alter(each, counters[each.key] if each.key else None)
        for key in self.change.keys:
            self._finish(key, counters[key])
        for each in self.change.tables:
            for column in each.dropped:
                self.execute(f"ALTER TABLE {self.quote(each.name)} DROP {self.quote(column)}")
        for table, name, definition, comment in keys:
            self.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
            if comment:
                self.execute(f"COMMENT ON CONSTRAINT {name} ON {table} IS {_literal(comment)}")
        for number, _ in enumerate(self.change.keys):
            self.execute(f"DROP FUNCTION pg_temp.moved_{number}")
        create(views, self.execute)
        # Statistics of the old values would mislead the planner for minutes.
        self.execute(f"ANALYZE {names}")

    def _affected_keys(self) -> Iterator[tuple[str, str, str, str | None]]:
        """Table, name, definition and comment of each foreign key from or to a column that
        changes."""
        changed = {(each.name, column) for each in self.change.tables for column in each.changed}
        for each in self.foreign_keys():
            used = {(each.table, column) for column in each.columns}
            used |= {(each.referenced_table, column) for column in each.referenced_columns}
            if used & changed:
                yield self.quote(each.table), self.quote(each.name), each.definition, each.comment

    def _create_function(self, number: int, key: Key) -> None:
        """From the value of a key to its next one."""
        found, new, old = map(self.quote, (key.map.table, key.map.next, key.map.column))
        self.execute(f"ANALYZE {found}")
        self.execute(
            f"CREATE FUNCTION pg_temp.moved_{number}({self._key_types[key]}) "
            f"RETURNS {key.map.next_field.db_type(self.connection)} "
            f"LANGUAGE plpgsql STABLE STRICT AS "
            f"'BEGIN RETURN (SELECT {new} FROM {found} WHERE {old} = $1); END'"
        )

    def _alter(self, table: Table, counter: _Counter | None) -> None:
        quoted = self.quote(table.name)
        if table.key:
            what = "IDENTITY" if counter and counter.is_identity else "DEFAULT"
            self.execute(f"ALTER TABLE {quoted} ALTER {self.quote(table.key.column)} DROP {what}")
        for column in table.changed:
            for (index,) in rows(self.connection, PATTERN_INDEXES, [quoted, column]):
                self.execute(f"DROP INDEX {index}")
        changes = [*map(self._changed, table.parts)]
        # Expressions see the row as it was.
        for name, old in table.added:
            self.execute(f"ALTER TABLE {quoted} ADD {self.quote(old.column)} {self._type_of(old)}")
            using = f"TYPE {self._type_of(old)} USING {self.quote(name)}"
            changes.append(f"ALTER {self.quote(old.column)} {using}")
            if not old.null:
                changes.append(f"ALTER {self.quote(old.column)} SET NOT NULL")
        self.execute(f"ALTER TABLE {quoted} {', '.join(changes)}")
        for each in table.columns:
            self._create_pattern_index(each.after)
        for _, old in table.added:
            if old.unique:
                self.execute(f"ALTER TABLE {quoted} ADD UNIQUE ({self.quote(old.column)})")
            for statement in self.editor._field_indexes_sql(old.model, old):
                self.execute(str(statement))

    def _changed(self, part: Key | Column) -> str:
        key = part if isinstance(part, Key) else part.key
        name, number = self.quote(part.name), self.change.keys.index(key)
        moved = f"pg_temp.moved_{number}({name}::{self._key_types[key]})"
        return f"ALTER {name} TYPE {self._new_type(part)} USING {moved}"

    def _new_type(self, part: Key | Column) -> str:
        if isinstance(part, Key):
            return self._type_of(part.after)
        collated = self._collated(part.after or part.key.after)
        return f"{part.db_type(self.connection)}{collated}"

    def _type_of(self, field: Any) -> str:
        return f"{field.db_type(self.connection)}{self._collated(field)}"

    def _collated(self, field: Any) -> str:
        """The collation of a column of the field, which a change of its type would reset."""
        collation = field.db_parameters(self.connection).get("collation")
        return f" COLLATE {self.quote(collation)}" if collation else ""

    def _finish(self, key: Key, counter: _Counter | None) -> None:
        table, name = map(self.quote, (key.table, key.column))
        if counter and not counter.is_identity:
            self.execute(f"DROP SEQUENCE {counter.sequence}")
        suffix = key.after.db_type_suffix(self.connection)
        last = self.last_number(key) if suffix else 0
        remembered = self._remembered(key) if suffix else None
        if counter and key.old:
            self._remember(key, counter)
        if suffix:
            generated, options = remembered or ("BY DEFAULT", "")
            suffix = suffix.replace("BY DEFAULT", generated)
            self.execute(
                f"ALTER TABLE {table} ALTER {name} ADD {suffix}{options and f' ({options})'}"
            )
            literals = map(_literal, (table, key.column))
            self._set_last(f"pg_get_serial_sequence({', '.join(literals)})", last)
        self._create_pattern_index(key.after)

    def _sequence(self, table: str, column: str) -> str | None:
        """The sequence that the column owns."""
        sql = "SELECT pg_get_serial_sequence(%s, %s)"
        found: str | None = value(self.connection, sql, [self.quote(table), column])
        return found

    def _counter(self, table: str, column: str) -> _Counter | None:
        sequence = self._sequence(table, column)
        if sequence is None:
            return None
        options = value(self.connection, _OPTIONS, [sequence])
        number, is_called = row(self.connection, f"SELECT last_value, is_called FROM {sequence}")
        last = int(number) if is_called else int(number) - 1
        generated, is_identity = row(self.connection, _IDENTITY, [self.quote(table), column])
        return _Counter(sequence, last, is_identity, generated, options)

    def _remember(self, key: Key, counter: _Counter) -> None:
        """Keep the last number in a sequence of the old key, so that none is given twice after a
        migration backwards. Its options are those of the previous one. Its comment says how that
        generated keys, and its name, which differs from the usual one after a table was renamed."""
        name = self.quote(truncate_name(f"{key.table.strip(chr(34))}_{key.old.column}_seq", 63))
        column = f"{self.quote(key.table)}.{self.quote(key.old.column)}"
        options = counter.options and f"{counter.options} "
        self.execute(f"CREATE SEQUENCE {name} {options}OWNED BY {column}")
        comment = _literal(f"{counter.generated}: {counter.sequence}")
        self.execute(f"COMMENT ON SEQUENCE {name} IS {comment}")
        self._set_last(_literal(name), counter.last)

    def _remembered(self, key: Key) -> tuple[str, str] | None:
        """How keys were generated, and the options of the sequence in SQL, with its name if that is
        free."""
        sequence = key.gone and self._sequence(key.table, key.gone)
        comment = sequence and value(self.connection, _COMMENT, [sequence])
        if not comment:
            return None
        generated, _, name = comment.partition(": ")
        options = str(value(self.connection, _OPTIONS, [sequence]))
        if value(self.connection, "SELECT to_regclass(%s)", [name]) is None:
            options = f"SEQUENCE NAME {name} {options}".rstrip()
        return generated, options

    def _set_last(self, sequence: str, number: int) -> None:
        """``sequence`` is an expression."""
        self.execute(
            f"SELECT setval(seqrelid, GREATEST({number}, seqmin), {number} >= seqmin) "
            f"FROM pg_sequence WHERE seqrelid = {sequence}::regclass"
        )

    def _create_pattern_index(self, field: Any) -> None:
        """The index with which Django finds texts that start with others."""
        if field is None:
            return
        statement = self.editor._create_like_index_sql(field.model, field)
        if statement is not None and self._oid(str(statement.parts["name"])) is None:
            self.execute(str(statement))


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
