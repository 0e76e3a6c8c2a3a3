"""Tables of MariaDB and MySQL that Django has not made: only NULL changes, all else stays."""

import re

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, connection

from tests.marks import own_tables
from tests.support import query

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "mysql", reason="definitions of MariaDB and MySQL"),
]

STATE = """\
SeparateDatabaseAndState(state_operations=[
    CreateModel("Order", [
        ("id", BigAutoField(primary_key=True)),
        ("name", CharField(max_length=9)),
        ("public", ULIDField(null=True, storage="varchar")),
    ]),
]),
"""
CONSTRAIN = 'ConstrainSortableID("order", "public", ULIDField(storage="varchar", unique=True)),'
IDS = [f"01JGFJJZ0000000000000000A{letter}" for letter in "ABCDE"]
ASCII = "CHARACTER SET ascii COLLATE ascii_bin"
COLUMNS = {
    "nothing": "char(26)",
    "a character set": f"char(26) {ASCII}",
    "a comment": r"char(26) COMMENT 'it''s \\ of `q`,\n NOT NULL (100 %)'",
    "a default": "char(26) DEFAULT 'x'''",
    "a default that is a word": "char(26) DEFAULT 'NULL'",
    "a default of an expression": "char(36) DEFAULT (uuid()) COMMENT 'shown'",
    "a check": f"char(26) {ASCII} CHECK (length(public) = 26)",
    "no NULL in a check": "char(26) CHECK (public IS NOT NULL OR public <> 'NOT NULL')",
    "words of an enum": f"enum{(*IDS, 'NULL')} COMMENT ''",
    "invisible": "char(26) INVISIBLE DEFAULT 'x' COMMENT 'shown'",
    "all": f"varchar(30) {ASCII} DEFAULT 'NULL' COMMENT 'NULL' CHECK (length(public) > 0)",
}
HELD = """
    SELECT column_type, character_set_name, collation_name, column_default, column_comment,
        replace(extra, 'NULL', ''), ordinal_position
    FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'depot_order' AND column_name = 'public'
"""
CHECKS = """
    SELECT check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = DATABASE() AND check_clause LIKE '%public%' ORDER BY constraint_name
"""


def held():
    """What the column has besides NULL or NOT NULL."""
    # MariaDB calls the default of a column without one NULL, where it may be NULL.
    ((kind, characters, collation, default, *rest),) = query(HELD)
    return kind, characters, collation, default or "NULL", *rest, query(CHECKS)


def definition():
    ((_, sql),) = query("SHOW CREATE TABLE depot_order")
    return re.sub(r" AUTO_INCREMENT=\d+", "", sql)


def make(depot, column):
    query(
        f"CREATE TABLE depot_order (id bigint AUTO_INCREMENT PRIMARY KEY, "
        f"public {column}, name varchar(9) NULL COMMENT 'public')"
    )
    for name, public in zip("abcde", IDS, strict=True):
        query("INSERT INTO depot_order (name, public) VALUES (%s, %s)", name, public)
    depot.write(STATE)
    depot.migrate()


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("modes", ["", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"], ids=["", "other modes"])
def test_the_column_keeps_all_that_it_has(depot, column, modes):
    make(depot, column)
    before, had = definition(), held()
    depot.write(CONSTRAIN, atomic=False)
    query("SET SESSION sql_mode = %s", modes)
    depot.migrate()
    assert query("SELECT @@sql_mode, @@sql_quote_show_create") == [(modes, 1)]
    connection.close()
    assert held() == had
    with pytest.raises(IntegrityError):
        query("INSERT INTO depot_order (name, public) VALUES ('f', NULL)")
    depot.migrate(depot.names[0])
    assert definition() == before


def test_what_the_server_cannot_do_while_others_write_is_printed(depot):
    make(depot, "char(26) COMMENT 'shown'")
    query("ALTER TABLE depot_order ADD FULLTEXT (name)")
    depot.write(CONSTRAIN, atomic=False)
    with pytest.raises(CommandError, match="Stop all writers, run this") as refused:
        depot.migrate()
    query(str(refused.value).partition("migrate again: ")[2])
    had = definition()
    depot.migrate()
    assert definition() == had
    assert "NOT NULL COMMENT 'shown'" in had
