"""Moves that are stopped at one statement after the other."""

import os
from itertools import count

from django.db import connection

EVERY = int(os.environ.get("STOP_EVERY", "12"))
"""1: at each statement; 12: at each twelfth one."""


class Stopped(BaseException):
    pass


def stopping_at(number):
    """Stop before the statement with that number that writes or changes a table."""
    left = count(number, -1)

    def execute(run, sql, params, many, context):
        is_change = not sql.lstrip().upper().startswith(("SELECT", "PRAGMA", "SHOW"))
        if is_change and next(left) == 0:
            raise Stopped
        return run(sql, params, many, context)

    return connection.execute_wrapper(execute)


def migrate_until_done(depot, *to):
    """Stop at the first statement, then at a later one and so on; the last one's number."""
    number = 0
    while True:
        try:
            with stopping_at(number):
                depot.migrate(*to)
        except Stopped:
            connection.close()
            number += EVERY
        else:
            return number
