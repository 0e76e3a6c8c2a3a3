"""What tests of many folders do: SQL, commands and their refusals, another connection."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from django_sortable_ids.errors import BackfillError

ROOT = Path(__file__).parents[1]
"""Of the repository."""

# SQL


def execute(*statements: str) -> list[tuple[Any, ...]]:
    """Execute them as they are, with their "%", and return the rows of the last."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def query(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of one statement, if it has some."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return list(cursor.fetchall()) if cursor.description else []


def explained(sql: str, parameters: Sequence[Any] | None = None, options: str = "") -> list[str]:
    """The lines of what the database will do, which has to use an index if it can. The options are
    those of MySQL and MariaDB.
    """
    before, explain = {
        "sqlite": (["ANALYZE"], "EXPLAIN QUERY PLAN"),
        "postgresql": (
            ["SET LOCAL enable_seqscan = off", "SET LOCAL enable_bitmapscan = off"],
            "EXPLAIN",
        ),
        "mysql": ([], f"EXPLAIN {options}"),
    }[connection.vendor]
    execute(*before)
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", parameters)
        rows = [" ".join(map(str, row)) for row in cursor.fetchall()]
    # MySQL 9 answers with one text of many lines.
    return [line for row in rows for line in row.splitlines()]


def columns(table: str) -> dict[str, Any]:
    """What Django reads of each column of the table, by name."""
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
    return {column.name: column for column in described}


def constraints(table: str) -> dict[str, dict[str, Any]]:
    """What Django reads of the table's constraints and indexes, by name."""
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, table)


_TRIGGERS = {
    "sqlite": "CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END",
    "mysql": "CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW BEGIN {body} END",
    "postgresql": """
        CREATE OR REPLACE FUNCTION {name}_f() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN {body} RETURN NULL; END$$;
        CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}_f()
    """,
}


def trigger(name: str, event: str, table: str, body: str) -> str:
    """The SQL of a trigger. On PostgreSQL its body is in a function, which stays when the table is
    dropped.
    """
    return _TRIGGERS[connection.vendor].format(name=name, event=event, table=table, body=body)


EVERYTHING = ("ALL ON ALL TABLES IN SCHEMA public", "ALL ON ALL SEQUENCES IN SCHEMA public")


@contextmanager
def limited_to(*privileges: str, without: str = "") -> Iterator[str]:
    """On PostgreSQL, the name of a role that the session has in the block, with these privileges
    alone and with none on the table ``without``.
    """
    role = f"limited_{connection.settings_dict['NAME']}"
    execute(f"CREATE ROLE {role}", *(f"GRANT {each} TO {role}" for each in privileges))
    execute(*[f"REVOKE ALL ON {without} FROM {role}"] * bool(without), f"SET ROLE {role}")
    try:
        yield role
    finally:
        execute("RESET ROLE", f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def elsewhere(action: Callable[[], Any]) -> Any:
    """Do it on another connection: that of another thread."""

    def act() -> Any:
        try:
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act).result()


@contextmanager
def open_transaction(*statements: str) -> Iterator[BaseDatabaseWrapper]:
    """Another connection, whose transaction has executed them. It ends with the block, or before by
    ``commit()`` or ``rollback()``.
    """
    other = connection.copy()
    other.set_autocommit(False)
    other.inc_thread_sharing()
    try:
        with other.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        yield other
    finally:
        other.close()


@contextmanager
def on_statement(
    pattern: str,
    action: Callable[[], object] = lambda: None,
    *,
    after: bool = False,
    once: bool = False,
) -> Iterator[list[str]]:
    """Act before each statement of this connection in which the pattern is found, or after it, or
    the first time only. Those statements are listed.
    """
    found: list[str] = []

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        matches = not (once and found) and re.search(pattern, sql, re.DOTALL) is not None
        if matches:
            found.append(sql)
            if not after:
                action()
        result = run(sql, params, many, context)
        if matches and after:
            action()
        return result

    with connection.execute_wrapper(execute):
        yield found


def raising(error: BaseException) -> Callable[[], NoReturn]:
    """An action that raises it."""

    def action() -> NoReturn:
        raise error

    return action


# Commands


def printed(command: str, *arguments: str, **options: Any) -> str:
    """What the command prints."""
    out = StringIO()
    call_command(command, *arguments, stdout=out, **options)
    return out.getvalue()


def refusal(command: str, *arguments: str, **options: Any) -> str:
    """The error that the command ends with."""
    try:
        printed(command, *arguments, **options)
    except CommandError as error:
        return str(error)
    raise AssertionError("it was not refused")


def refusal_of(action: Callable[..., object], *arguments: Any) -> str:
    """The ``BackfillError`` that it ends with."""
    try:
        action(*arguments)
    except BackfillError as error:
        return str(error)
    raise AssertionError("it was not refused")
