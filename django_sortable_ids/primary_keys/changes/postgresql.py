"""PostgreSQL changes the type of a column with an expression for its values: each table is written
once, and its indexes, rights and comments remain.

The expression can't contain a subquery, but it can call a function that looks a key up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...db import rows, value
from ...db.tables import may_hide_rows
from ...db.transactions import with_short_lock_timeout
from .change import Key, ReferringColumn, Table
from .engine import ForeignKey, InOneTransaction
from .postgresql_dependents import PATTERN_INDEXES, View, create, problems, rehearse, views_of

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
"""Foreign keys, with the names of tables as models spell them."""
_TYPE = """
SELECT format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attname = %s
"""
_PROGRAMS = r"""
SELECT 'trigger', tgname::text, pg_get_triggerdef(t.oid) || ' ' || prosrc, relname::text
FROM pg_trigger t JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class c ON c.oid = tgrelid
WHERE NOT tgisinternal AND tgparentid = 0
UNION ALL SELECT 'rule', rulename::text, pg_get_ruledef(r.oid), relname::text
FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE rulename <> '_RETURN' AND r.oid >= 16384
UNION ALL SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, p.oid::regproc::text,
    regexp_replace(regexp_replace(pg_get_functiondef(p.oid), '\n LANGUAGE \w+', ''),
        '\$(function|procedure)x*\$', ' ', 'g'), NULL
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE prokind IN ('f', 'p', 'w') AND nspname NOT IN ('information_schema', 'pg_catalog')
    AND prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    )
ORDER BY 1, 2, 4
"""
"""Programs without functions of extensions. A trigger's text contains that of its function."""


class PostgreSQLKeys(InOneTransaction):
    locks = "these tables, for reading as well, until it ends"
    programs_sql = _PROGRAMS

    def foreign_keys(self) -> Iterator[ForeignKey]:
        """Every foreign key. Tables have the names that the models spell, if there are models."""
        spelled = {self._oid(table.name): table.name for table in self.change.tables}
        entries = rows(self.connection, _FOREIGN_KEYS)
        for child, parent, name, table, columns, referenced, *others in entries:
            table, referenced = spelled.get(child, table), spelled.get(parent, referenced)
            yield ForeignKey(name, table, tuple(columns), referenced, *others)

    def _oid(self, table: str) -> Any:
        return value(self.connection, "SELECT to_regclass(%s)::oid::bigint", [self.quote(table)])

    def problems(self) -> Iterator[str]:
        of_texts = {text.table for text in self.change.texts}
        for name in sorted(of_texts.union(table.name for table in self.change.tables)):
            if may_hide_rows(self.connection, name):
                yield (
                    f"the row-level security of {name} may hide rows, whose keys would be lost: "
                    f"migrate as a role with BYPASSRLS, or run `ALTER TABLE {name} NO FORCE ROW "
                    f"LEVEL SECURITY`"
                )
        for table in self.change.tables:
            yield from problems(self.connection, self.quote(table.name), table)

    def rehearse(self) -> Iterator[str]:
        types = {
            table.name: [(column.name, self._new_type(column)) for column in table.changed]
            for table in self.change.tables
        }
        return rehearse(self.connection, types)

    def views(self) -> Iterator[str]:
        tables = [self.quote(table.name) for table in self.change.tables]
        for view in views_of(self.connection, tables):
            yield view.name.rpartition(".")[2].strip('"')

    def last_counted(self, key: Key) -> int | None:
        sequence = self._sequence(key)
        sql = f"SELECT last_value - (NOT is_called)::int FROM {sequence}"
        return int(value(self.connection, sql)) if sequence else None

    def replace_keys(self) -> None:
        tables = [self.quote(table.name) for table in self.change.tables]
        names = ", ".join(tables)
        # ALTER TABLE refuses tables with pending checks of foreign keys.
        self.execute("SET CONSTRAINTS ALL IMMEDIATE")
        views: list[View] = []

        def lock() -> None:
            self.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            views[:] = views_of(self.connection, tables)
            for view in reversed(views):
                self.execute(f"DROP {view.kind} {view.name}")

        with_short_lock_timeout(self.editor, lock)
        self.refuse_unfilled()
        self._key_types = {
            key: str(value(self.connection, _TYPE, [self.quote(key.table), key.name]))
            for key in self.change.keys
        }
        changed = {(table.name, name) for table in self.change.tables for name in table.names}
        dropped = []
        for foreign_key in self.foreign_keys():
            child, parent = foreign_key.table, foreign_key.referenced_table
            used = {(child, column) for column in foreign_key.columns}
            used |= {(parent, column) for column in foreign_key.referenced_columns}
            if used & changed:
                quoted = self.quote(child), self.quote(foreign_key.name)
                dropped.append((*quoted, foreign_key.definition, foreign_key.comment))
        for child, name, *_ in dropped:
            self.execute(f"ALTER TABLE {child} DROP CONSTRAINT {name}")
        for number, key in enumerate(self.change.keys):
            # From the value of a key to its next one.
            pairs, new, old = map(self.quote, (key.map.table, key.map.next, key.map.column))
            self.execute(f"ANALYZE {pairs}")
            self.execute(
                f"CREATE FUNCTION pg_temp.moved_{number}({self._key_types[key]}) "
                f"RETURNS {key.map.next_field.db_type(self.connection)} "
                f"LANGUAGE plpgsql STABLE STRICT AS "
                f"'BEGIN RETURN (SELECT {new} FROM {pairs} WHERE {old} = $1); END'"
            )
        for table in self.change.tables:
            self._alter(table)
        for key in self.change.keys:
            self._create_pattern_index(key.after)
            if suffix := key.after.db_type_suffix(self.connection):
                self._number(key, suffix)
            if default := self.default_of(key):
                table, name = map(self.quote, (key.table, key.name))
                self.execute(f"ALTER TABLE {table} ALTER {name} SET {default}")
        for table in self.change.tables:
            for column in table.dropped:
                self.execute(f"ALTER TABLE {self.quote(table.name)} DROP {self.quote(column)}")
        for child, name, definition, comment in dropped:
            self.execute(f"ALTER TABLE {child} ADD CONSTRAINT {name} {definition}")
            if comment:
                self.execute(f"COMMENT ON CONSTRAINT {name} ON {child} IS {_literal(comment)}")
        for number, _ in enumerate(self.change.keys):
            self.execute(f"DROP FUNCTION pg_temp.moved_{number}")
        create(views, self.execute)
        # Statistics of the old values would mislead the planner for minutes.
        self.execute(f"ANALYZE {names}")

    def _alter(self, table: Table) -> None:
        quoted = self.quote(table.name)
        if table.key:
            of_key = f"ALTER TABLE {quoted} ALTER {self.quote(table.key.name)}"
            self.execute(f"{of_key} DROP IDENTITY IF EXISTS")
            self.execute(f"{of_key} DROP DEFAULT")
        for name in table.names:
            for (index,) in rows(self.connection, PATTERN_INDEXES, [quoted, name]):
                self.execute(f"DROP INDEX {index}")
        changes = []
        for column in table.changed:
            name, number = self.quote(column.name), self.change.keys.index(column.key)
            moved = f"pg_temp.moved_{number}({name}::{self._key_types[column.key]})"
            changes.append(f"ALTER {name} TYPE {self._new_type(column)} USING {moved}")
        # Expressions see the row as it was.
        for name, old in table.added:
            kind = self._collated(old.db_type(self.connection), old)
            self.execute(f"ALTER TABLE {quoted} ADD {self.quote(old.column)} {kind}")
            using = f"TYPE {kind} USING {self.quote(name)}"
            changes.append(f"ALTER {self.quote(old.column)} {using}")
            if not old.null:
                changes.append(f"ALTER {self.quote(old.column)} SET NOT NULL")
        self.execute(f"ALTER TABLE {quoted} {', '.join(changes)}")
        for column in table.columns:
            self._create_pattern_index(column.after)
        for _, old in table.added:
            if old.unique:
                self.execute(f"ALTER TABLE {quoted} ADD UNIQUE ({self.quote(old.column)})")
            for statement in self.editor._field_indexes_sql(old.model, old):
                self.execute(str(statement))

    def _new_type(self, column: Key | ReferringColumn) -> str:
        return self._collated(column.db_type(self.connection), column.after or column.key.after)

    def _collated(self, kind: str, field: Any) -> str:
        """A type with the collation of the field, which a change of a column's type would reset."""
        collation = field.db_parameters(self.connection).get("collation")
        return f"{kind} COLLATE {self.quote(collation)}" if collation else kind

    def _number(self, key: Key, suffix: str) -> None:
        """Number the rows again: by the sequence that a serial column has kept, or as Django does.
        No number is given twice."""
        table, name = map(self.quote, (key.table, key.name))
        last, sequence = self.last_number(key), self._sequence(key)
        default = f"SET DEFAULT nextval({_literal(sequence)})" if sequence else f"ADD {suffix}"
        self.execute(f"ALTER TABLE {table} ALTER {name} {default}")
        literals = ", ".join(map(_literal, (table, key.name)))
        self.execute(
            f"SELECT setval(seqrelid, GREATEST({last}, seqmin), {last} >= seqmin) "
            f"FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence({literals})::regclass"
        )

    def _sequence(self, key: Key) -> str | None:
        sql = "SELECT pg_get_serial_sequence(%s, %s)"
        name: str | None = value(self.connection, sql, [self.quote(key.table), key.name])
        return name

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
