"""MariaDB and MySQL: sessions, and what is refused. ``mysql_statements.py`` has the UPDATEs.

Impossible dates, such as 2020-02-00, and ambiguous TIMESTAMPs are refused. Drivers read an
impossible date as NULL. The database doesn't treat it as NULL, except for the zero date,
0000-00-00, if the column is NOT NULL; on MySQL, ``<`` never finds that of a TIMESTAMP.
"""

from __future__ import annotations

import re
from typing import Any

from django.db.models import BooleanField, CharField, DateField, DateTimeField, F, Model, QuerySet
from django.db.models.functions import Cast

from ...db import named_rows, row, rows, tables
from ...db.transactions import lift_statement_limit
from ...errors import BackfillError, counted
from ...functions.fragments import SQL
from ..sources.target import EveryRow, Target, first_named
from .base import LOCK_SECONDS, Engine
from .mysql_statements import SEES_TRIGGERS, MySQLStatements, quoted, stored_as

_DEPENDS_ON_SESSION = re.compile(
    r"\b(from_unixtime|unix_timestamp|dayname|monthname)\(|'system'|date_format\(.*%[abMW]",
    re.IGNORECASE,
)
"""Expressions that depend on the session's time zone or language."""
_TRIGGERS = """
SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = COALESCE(%s, DATABASE()) AND event_object_table = %s
AND FIND_IN_SET('UPDATE', event_manipulation) ORDER BY action_order, trigger_name
"""
_COLUMNS = f"""
SELECT column_name, data_type, generation_expression, extra FROM information_schema.columns
WHERE {tables.OF_MYSQL} ORDER BY ordinal_position
"""
_LAG_COLUMNS = ("Seconds_Behind_Source", "Seconds_Behind_Master")


class MySQL(Engine):
    statements = MySQLStatements
    rows_per_second = (10_000.0, 60_000.0)
    finds_ends_by_time = True

    def side_effects(self, target: Target) -> list[str]:
        """Triggers, system versioning, and stored columns that are computed again."""
        table = target.model._meta.db_table
        names = tables.split(self.connection, table)
        effects = [f"the trigger {name}" for (name,) in rows(self.connection, _TRIGGERS, names)]
        if stored_as(self.connection, table)[2] == "SYSTEM VERSIONED":
            effects.append(
                f"the system versioning of {table}, which keeps the old version of each row"
            )
        # Servers may compute each of them again, whatever an UPDATE changes. The column of the id
        # is the same in each session.
        columns = rows(self.connection, _COLUMNS, names)
        local = [f"`{name}`" for name, data_type, *_ in columns if data_type == "timestamp"]
        effects += [
            f"the stored column {name}, which is computed again, with the time zone and the "
            f"language of this session: {expression}"
            for name, _, expression, extra in columns
            if expression and "STORED" in extra
            if _DEPENDS_ON_SESSION.search(expression) or any(time in expression for time in local)
        ]
        if not rows(self.connection, SEES_TRIGGERS, [names[0], *names]):
            effects.append("triggers that this user may not see (GRANT TRIGGER to it shows them)")
        return effects

    def check_table(self, target: Target) -> None:
        """Refuse MyISAM and the like, where a batch can't be rolled back; a key that MariaDB
        compares as a text without hyphens, and Django with them; and times on impossible days."""
        table, quote = target.model._meta.db_table, self.connection.ops.quote_name
        engine = stored_as(self.connection, table)[0]
        if engine in ("MyISAM", "Aria", "MEMORY", "MRG_MyISAM", "CSV"):
            raise BackfillError(
                f"{table} is stored by {engine}, which has no transactions. Run this, and then the "
                f"command again: ALTER TABLE {quote(table)} ENGINE = InnoDB"
            )
        for key in target.model._meta.pk_fields:
            stored = tables.column_info(self.connection, table, str(key.column))
            if stored and stored.kind.lower() == "char" and key.db_type(self.connection) == "uuid":
                altered = f"ALTER TABLE {quote(table)} MODIFY {quote(str(key.column))} uuid"
                raise BackfillError(
                    f"{key} is no uuid but a char, as Django 4 created it, so Django finds no row "
                    f"by it. Use the Char32UUIDField of Django's release notes of 5.0, or run, as "
                    f"for all columns that refer to it: {altered}"
                )
        source = target.source.field
        if not isinstance(source, DateField):
            return
        wrong: QuerySet[Any] = QuerySet(source.model, using=target.using)
        # By the column's own name: for a related row, source.name is the whole path.
        column = F(source.attname)
        wrong = wrong.filter(SQL(f"({_IS_IMPOSSIBLE})", column, output_field=BooleanField()))
        if (first := first_named(wrong)) is None:
            return
        pk, who = first
        text = wrong.filter(pk=pk).values_list(Cast(source.attname, CharField()), flat=True)
        name = quote(str(source.column))
        nearest = _NEAREST_DAY.format(name)
        if isinstance(source, DateTimeField):
            nearest = f"CONCAT({nearest}, ' ', TIME({name}))"
        raise BackfillError(
            f"{who} has the {source.attname} {text.get()}, which is no day of the calendar. "
            f"Correct it, for example to the nearest day, in 1971 if it has no year: UPDATE "
            f"{quote(source.model._meta.db_table)} SET {name} = {nearest} WHERE "
            f"{_IS_IMPOSSIBLE.format(name)}; nothing was written."
        )

    def check_session(self, target: Target) -> None:
        """Refuse a TIMESTAMP in an hour that the session's zone repeats."""
        connection, source = self.connection, target.source.field
        names: list[tuple[type[Model], str]] = [(source.model, str(source.column))]
        if not (connection.mysql_is_mariadb or isinstance(target, EveryRow)):
            # Its UPDATE with a join copies these columns through a temporary table.
            names += [(target.model, name) for name in self.statements(target).self_assigned]
        for model, name in names:
            table, column = model._meta.db_table, quoted(name)
            stored = tables.column_info(connection, table, name)
            if stored is None or stored.kind.lower() != "timestamp":
                continue
            # The column stores the instant. Its local time, converted back, gives one of the two.
            count, example, zone, system = row(
                connection,
                f"SELECT COUNT(*), MIN({column}), @@time_zone, @@system_time_zone "
                f"FROM {connection.ops.quote_name(table)} "
                f"WHERE UNIX_TIMESTAMP({column}) <> UNIX_TIMESTAMP(CAST({column} AS DATETIME(6)))",
            )
            if count:
                zone = system if zone == "SYSTEM" else zone
                raise BackfillError(
                    f"{counted(count, 'row')} of {model._meta.label} in an hour that the time zone "
                    f"of the session, {zone}, has twice, such as {example}: {name} is a TIMESTAMP, "
                    f"and both hours are read as one. Set the session to UTC (OPTIONS: "
                    f"init_command \"SET time_zone = '+00:00'\"); nothing was written."
                )

    def prepare_session(self) -> None:
        """Lift the limit of statements, and set a short lock timeout and READ COMMITTED: REPEATABLE
        READ also locks the rows that an UPDATE reads but doesn't change."""
        lift_statement_limit(self.connection)
        with self.connection.cursor() as cursor:
            # The timeouts of row locks, and of table locks: LOCK TABLES, ALTER TABLE.
            waits = f"innodb_lock_wait_timeout = {LOCK_SECONDS}, lock_wait_timeout = {LOCK_SECONDS}"
            cursor.execute(f"SET SESSION {waits}, sql_safe_updates = 0")
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def end_session(self) -> None:
        self.connection.close()

    def lag(self) -> float | None:
        if not (sources := named_rows(self.connection, "SHOW REPLICA STATUS")):
            return super().lag()
        lag = next(sources[0][name] for name in _LAG_COLUMNS if name in sources[0])
        return None if lag is None else float(lag)


# LAST_DAY() of an impossible date is NULL, or a warning that stops an UPDATE.
_MONTH = "CONCAT(IF(YEAR({0}), LPAD(YEAR({0}), 4, '0'), 1971), '-', GREATEST(MONTH({0}), 1), '-')"
_LAST_DAY = f"DAYOFMONTH(LAST_DAY(CONCAT({_MONTH}, '01')))"
_IS_IMPOSSIBLE = (
    "YEAR({0}) = 0 OR MONTH({0}) = 0 OR DAYOFMONTH({0}) = 0"
    f" OR (DAYOFMONTH({{0}}) > 28 AND DAYOFMONTH({{0}}) > {_LAST_DAY})"
)
_NEAREST_DAY = f"CONCAT({_MONTH}, LEAST(GREATEST(DAYOFMONTH({{0}}), 1), {_LAST_DAY}))"
