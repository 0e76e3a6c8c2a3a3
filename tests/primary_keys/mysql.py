"""What the tests of MariaDB and MySQL share."""

import re

import pytest
from django.db import connection

from tests.support import execute

mysql_only = pytest.mark.skipif(
    connection.vendor != "mysql", reason="only there, tables are copied in steps"
)


def definition(table):
    """The lines of SHOW CREATE TABLE in any order, without the next number."""
    ((_, sql),) = execute(f"SHOW CREATE TABLE {table}")
    lines = re.sub(r" AUTO_INCREMENT=\d+", "", sql).splitlines()
    return sorted(line.strip().rstrip(",") for line in lines)


def definitions():
    """Of all tables of the app, also those that are left over from a move."""
    names = (name for name, _ in execute("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'"))
    return {name: definition(name) for name in names if "depot" in name}
