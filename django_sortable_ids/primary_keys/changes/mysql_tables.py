"""Tables of MariaDB and MySQL that are exchanged: a new one LIKE each old one gets the new columns
and all rows, and one RENAME TABLE exchanges all of them at one instant. A move that stops before
its note starts again; after it, the rest is repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.backends.utils import truncate_name
from django.utils.functional import cached_property

from ...db import row, rows, tables, value
from ...db.transactions import session_variables
from ...schema.table_definition import MYSQL, Token, elements

if TYPE_CHECKING:
    from .change import Key, Table
    from .engine import KeyEngine

_VARIABLES: dict[str, Any] = {
    # Values that the tables contain are copied as they are; others are refused.
    "sql_mode": "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES",
    "sql_quote_show_create": 1,
    # Tables are dropped that others still refer to; foreign keys are added without a check, since
    # each value is from a map, or was copied.
    "foreign_key_checks": 0,
    # INSERT ... SELECT ... ORDER BY of MySQL writes TIMESTAMPs as local times, which occur twice
    # when summer time ends.
    "time_zone": "+00:00",
    # Rows are sorted by their new keys.
    "sort_buffer_size": 64 << 20,
}
NEW, OLD = "sortable_ids_new__", "sortable_ids_old__"
_LONGEST = 54
"""Characters of a new table's name, to which MySQL appends ``_chk_1``: it allows 64."""
_COLUMNS = """
SELECT column_name, is_nullable = 'YES', column_default, column_comment, extra, data_type,
    COALESCE(generation_expression, '') <> '', collation_name
FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = %s ORDER BY ordinal_position
"""
_TABLE = """
SELECT table_collation, auto_increment FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = %s
"""
_TEXT = re.compile(r"(var)?char\b|(tiny|medium|long)?text\b", re.IGNORECASE)
_CONSTRAINED = """
SELECT 1 FROM information_schema.table_constraints
WHERE table_schema = DATABASE() AND table_name = %s AND constraint_name = %s
    AND constraint_type = %s
"""


def prefixed(prefix: str, table: str) -> str:
    """The name of the new table until it is used, or of the old one until it is dropped."""
    return truncate_name(f"{prefix}{table}", _LONGEST, 8)


def plain(connection: Any, table: str) -> str:
    """The name without a schema, as the server spells it."""
    return tables.folded_table(connection, tables.split(connection, table)[1])


@contextmanager
def copying(connection: Any) -> Iterator[None]:
    """A session that copies every value unchanged."""
    own = "max_statement_time" if connection.mysql_is_mariadb else "information_schema_stats_expiry"
    with session_variables(connection, **_VARIABLES, **{own: 0}):
        yield


class ServerColumn(NamedTuple):
    name: str
    null: bool
    default: str | None
    """The text of information_schema: SQL on MariaDB."""
    comment: str
    extra: str
    kind: str
    is_computed: bool
    collation: str | None


class Element(NamedTuple):
    """A column, an index or a constraint of SHOW CREATE TABLE."""

    tokens: list[Token]
    text: str

    @property
    def name(self) -> str:
        """Empty for a primary key."""
        return next((token.name for token in self.tokens if token.text[0] == "`"), "")

    @property
    def is_index(self) -> bool:
        return self.tokens[0].text[0] != "`" and self.tokens[0].keyword != "CONSTRAINT"

    @property
    def columns(self) -> list[str]:
        """The columns of an index, in lower case."""
        quoted = (token for token in self.tokens if token.depth == 2 and token.text[0] == "`")
        return [token.name.lower() for token in quoted]

    def is_constraint(self, kind: str) -> bool:
        """``kind`` is FOREIGN or CHECK; checks of MariaDB's columns are parts of these."""
        return [token.keyword for token in self.tokens[:3:2]] == ["CONSTRAINT", kind]

    @property
    def expressions(self) -> Iterator[Token]:
        # KEY `name` (`column`, (`expression`))
        least = 3 if self.is_index else 2
        if not self.is_constraint("FOREIGN"):
            yield from (token for token in self.tokens if token.depth >= least)


class ServerTable:
    """A table as the server describes it. Use it within ``copying``."""

    def __init__(self, connection: Any, name: str) -> None:
        quoted = connection.ops.quote_name(name)
        sql = str(row(connection, f"SHOW CREATE TABLE {quoted}")[1])
        listed = list(elements(sql, MYSQL))
        self.elements = [
            Element(tokens, sql[tokens[0].start : end.start].strip()) for tokens, end in listed
        ]
        self._options = sql[listed[-1][1].end :]
        described = (ServerColumn(*entry) for entry in rows(connection, _COLUMNS, [name]))
        self.columns = {column.name.lower(): column for column in described}
        self.collation, number = row(connection, _TABLE, [name])
        self.next_number = int(number or 1)
        """The next value of its AUTO_INCREMENT column; 1 if it has none."""

    def constraints(self, kind: str) -> dict[str, str]:
        constraints = (element for element in self.elements if element.is_constraint(kind))
        return {constraint.name: constraint.text for constraint in constraints}

    @property
    def parts(self) -> set[str]:
        """All that a table LIKE this one should have, too, in SQL."""
        texts = {part.text for part in self.elements if part.tokens[0].keyword != "CONSTRAINT"}
        # A copy writes the character set of a literal, such as _utf8mb3'paid', otherwise.
        texts |= {
            re.sub(r"\b_\w+(?='[ -~]*')", "", check.partition(" CHECK ")[2])
            for check in self.constraints("CHECK").values()
        }
        return texts | {re.sub(r" AUTO_INCREMENT=\d+", "", self._options, count=1).strip()}

    def is_added_later(self, element: Element) -> bool:
        """Whether the index is added to the filled table. A column with AUTO_INCREMENT always needs
        one, and so does the one that counts the rows of a FULLTEXT index."""
        counted = {name for name, column in self.columns.items() if "auto_inc" in column.extra}
        is_plain = element.tokens[0].keyword in ("KEY", "UNIQUE")
        return is_plain and not {*counted, "fts_doc_id"} & {*element.columns}


class NewTable:
    """The table that takes the place of one table of a change. Use it within ``copying``."""

    def __init__(self, engine: KeyEngine, table: Table) -> None:
        self._engine = engine
        self._editor = engine.editor
        self._connection = engine.connection
        self._quote = engine.quote
        self.table = table
        self.name = plain(engine.connection, table.name)
        self.new_name = prefixed(NEW, self.name)

    @cached_property
    def old(self) -> ServerTable:
        return ServerTable(self._connection, self.name)

    def create(self) -> None:
        """Create it LIKE the old table. One that a killed process created is replaced."""
        self._engine.drop_table(self.new_name)
        new, like = self._quote(self.new_name), self._quote(self.name)
        self._engine.execute(f"CREATE TABLE {new} LIKE {like}")

    def alter(self) -> None:
        """Give its columns their new types. The ``later_indexes`` are dropped until it is filled:
        they are built from sorted rows in less time."""
        changes = [
            f"DROP INDEX {self._quote(element.name)}"
            for element in self.old.elements
            if self.old.is_added_later(element)
        ]
        # Names of checks are unique in a database of MySQL: they are added after the exchange.
        checks = () if self._connection.mysql_is_mariadb else self.old.constraints("CHECK")
        for number, _ in enumerate(checks, 1):
            changes.append(f"DROP CHECK {self._quote(f'{self.new_name}_chk_{number}')}")
        for name, kind in self._types():
            # MariaDB converts no number to a UUID, and none back.
            if "uuid" in (kind, self.old.columns[name.lower()].kind):
                changes.append(f"MODIFY {self._quote(name)} binary(16) NOT NULL")
        self.apply(changes)
        self.apply(self._changes())

    def fill(self) -> None:
        """Copy the rows, in the order of their new primary key if its values change. Rows without a
        key in the map are left out: ``refuse_unfilled`` or the checksum shows them.

        The map is read after the table, whatever the server expects: the other way round, the order
        of the new keys would read each row at random, from a disk if the table is larger than the
        buffer pool (200 s instead of 30 s for 2.7 million rows).
        """
        quote, key = self._quote, self.table.key
        selected = dict(self._selected())
        joined = ""
        if key:
            same = f"m.{quote(key.map.column)} = t.{quote(key.name)}"
            joined = f" STRAIGHT_JOIN {quote(key.map.table)} m ON {same}"
        changed, folded = {*map(str.lower, self.table.names)}, [*map(str.lower, selected)]
        order = [
            str(folded.index(column) + 1)
            for element in self.old.elements
            if element.tokens[0].keyword == "PRIMARY" and changed & {*element.columns}
            for column in element.columns
        ]
        self._editor.execute(
            f"INSERT INTO {quote(self.new_name)} ({', '.join(map(quote, selected))}) "
            f"SELECT {', '.join(selected.values())} FROM {quote(self.name)} t{joined}"
            f"{' ORDER BY ' if order else ''}{', '.join(order)}",
            None,
        )
        self.apply(self.later_indexes())
        # Without it, plans are made for a table without rows.
        self._editor.execute(f"ANALYZE TABLE {quote(self.new_name)}", None)

    def apply(self, changes: Iterable[str]) -> None:
        if listed := ", ".join(changes):
            self._engine.execute(f"ALTER TABLE {self._quote(self.new_name)} {listed}")

    def _types(self) -> Iterator[tuple[str, str]]:
        for column in self.table.changed:
            yield column.name, self._collated(column.db_type(self._connection), column.key)

    def _changes(self) -> Iterator[str]:
        key = self.table.key
        for name, kind in self._types():
            info = self.old.columns[name.lower()]
            parts = (
                f"MODIFY {self._quote(name)} {kind} {'NULL' if info.null else 'NOT NULL'}",
                self._engine.default_of(key) if key and name == key.name else "",
                "INVISIBLE" if "INVISIBLE" in info.extra else "",
                f"COMMENT {self._editor.quote_value(info.comment)}" if info.comment else "",
            )
            yield " ".join(filter(None, parts))
        for name, old in self.table.added:
            sql, _ = self._editor.column_sql(old.model, old)
            # ``later_indexes`` has it.
            sql = sql.removesuffix(" UNIQUE")
            yield f"ADD {self._quote(old.column)} {sql} AFTER {self._quote(name)}"
        yield from (f"DROP {self._quote(column)}" for column in self.table.dropped)
        number = self.old.next_number
        if key:
            is_counted = "AUTO_INCREMENT" in key.after.db_type(self._connection)
            number = self._engine.last_number(key) + 1 if is_counted else 1
        if number > 1:
            yield f"AUTO_INCREMENT = {number}"

    def _collated(self, kind: str, key: Key) -> str:
        """The type of a column with values of the key, which needs the collation of the key."""
        if not _TEXT.match(kind) or "COLLATE" in kind.upper():
            return kind
        of_key = collation_of(self._connection, key.table)
        own = key.after.db_parameters(self._connection).get("collation")
        # MySQL shows the one of a field, even if it is that of the table.
        return f"{kind} COLLATE {own or of_key}" if own or of_key != self.old.collation else kind

    def later_indexes(self) -> Iterator[str]:
        """What adds the indexes that the table has after it is filled."""
        for _, old in self.table.added:
            quoted = self._quote(old.column)
            if old.unique:
                yield f"ADD UNIQUE ({quoted})"
            elif old.db_index:
                name = self._editor._create_index_name(self.name, [old.column])
                yield f"ADD INDEX {self._quote(name)} ({quoted})"
        dropped = [[column.lower()] for column in self.table.dropped]
        for element in self.old.elements:
            if self.old.is_added_later(element) and element.columns not in dropped:
                yield f"ADD {element.text}"

    def _selected(self) -> Iterator[tuple[str, str]]:
        """Each column of the new table, and where its values come from."""
        quote, key = self._quote, self.table.key
        changed = {it.name.lower(): self._engine.new_value(it) for it in self.table.columns}
        if key:
            changed[key.name.lower()] = f"m.{quote(key.map.next)}"
        dropped = {*map(str.lower, self.table.dropped)}
        for folded, column in self.old.columns.items():
            if not column.is_computed and folded not in dropped:
                yield column.name, changed.get(folded, f"t.{quote(column.name)}")
        for name, old in self.table.added:
            yield old.column, f"t.{quote(name)}"


def collation_of(connection: Any, table: str) -> str:
    """The collation of new columns of the table."""
    return str(row(connection, _TABLE, [plain(connection, table)])[0])


class Steps(NamedTuple):
    """What the exchange needs to know; the note has it as JSON. All names are plain."""

    checksums: dict[str, int | None]
    """The ``CHECKSUM TABLE`` of each old table, of the rows that its new one has."""
    foreign_keys: list[list[str]]
    """Table, name and text of the foreign keys from and to these tables."""
    checks: list[list[str]]
    """The same of the checks that the new tables don't have."""


def exchange(engine: KeyEngine, steps: Steps) -> None:
    """Exchange the tables. After a stop at any statement, it continues when it is run again."""
    connection, quote, execute = engine.connection, engine.quote, engine.execute

    def has(*constraint: str) -> bool:
        return value(connection, _CONSTRAINED, constraint) is not None

    if any(tables.kind(connection, prefixed(NEW, table)) for table in steps.checksums):
        # Foreign keys that stay would follow the old tables to their new names.
        for table, name, _ in steps.foreign_keys:
            if has(table, name, "FOREIGN KEY"):
                execute(f"ALTER TABLE {quote(table)} DROP FOREIGN KEY {quote(name)}")
        renames = (
            f"{quote(table)} TO {quote(prefixed(OLD, table))}, "
            f"{quote(prefixed(NEW, table))} TO {quote(table)}"
            for table in steps.checksums
        )
        execute(f"RENAME TABLE {', '.join(renames)}")
    for table in steps.checksums:
        engine.drop_table(prefixed(OLD, table))
    for constraints, kind in ((steps.checks, "CHECK"), (steps.foreign_keys, "FOREIGN KEY")):
        missing: dict[str, list[str]] = {}
        for table, name, text in constraints:
            if not has(table, name, kind):
                missing.setdefault(table, []).append(f"ADD {text}")
        for table, changes in missing.items():
            execute(f"ALTER TABLE {quote(table)} {', '.join(changes)}")
