"""Migrations that are stopped at one statement."""

import os
import re
from itertools import count

import pytest
from django.db import connection

EVERY = int(os.environ.get("STOP_EVERY", "12"))
"""1: at each statement; 12: at each twelfth one."""
RECORDS = re.compile(r'(INSERT INTO|DELETE FROM) ["`]?django_migrations')


class Stopped(BaseException):
    pass


def end():
    raise Stopped


def changes(sql):
    """Whether it writes or changes a table."""
    first = ("CREATE", "ALTER", "DROP", "RENAME", "INSERT", "UPDATE", "DELETE")
    return sql.lstrip().upper().startswith(first)


def stopping_at(number, counts=changes, *, after=False, stop=end):
    """Stop before or after the statement with that number, from 1, of those that count."""
    numbers = count(1)

    def execute(run, sql, params, many, context):
        is_last = counts(sql) and next(numbers) == number
        if is_last and not after:
            stop()
        result = run(sql, params, many, context)
        if is_last:
            stop()
        return result

    return connection.execute_wrapper(execute)


def stop_before(depot, statement, to=None):
    """Migrate, and stop before the first statement that matches, with its parameters."""

    def execute(run, sql, params, *rest):
        if statement.match(f"{sql} {params!r}"):
            raise Stopped
        return run(sql, params, *rest)

    with pytest.raises(Stopped), connection.execute_wrapper(execute):
        depot.migrate(to)
    connection.close()


def migrate_until_done(depot, *to):
    """Stop at the first statement, then at a later one and so on; the last one's number."""
    number = 0
    while True:
        try:
            with stopping_at(number + 1):
                depot.migrate(*to)
        except Stopped:
            connection.close()
            number += EVERY
        else:
            return number
