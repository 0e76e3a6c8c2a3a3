"""What the tests of MariaDB and MySQL share."""

import re

import pytest
from django.db import connection

mysql_only = pytest.mark.skipif(
    connection.vendor != "mysql", reason="only there, tables are copied in steps"
)


def run(*statements):
    with connection.cursor() as cursor:
        for sql in statements:
            cursor.execute(sql, None)


def ask(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql, None)
        return list(cursor.fetchall())


def definition(table):
    """The lines of SHOW CREATE TABLE in any order, without the next number."""
    ((_, sql),) = ask(f"SHOW CREATE TABLE {table}")
    lines = re.sub(r" AUTO_INCREMENT=\d+", "", sql).splitlines()
    return sorted(line.strip().rstrip(",") for line in lines)


def definitions():
    """Of all tables of the app, also those that are left over from a move."""
    names = (name for name, _ in ask("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'"))
    return {name: definition(name) for name in names if "depot" in name}
