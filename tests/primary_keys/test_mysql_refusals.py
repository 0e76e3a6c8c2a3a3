"""MariaDB and MySQL: what can't be moved is refused, and everything is as before."""

import time
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import MoveNote
from django_sortable_ids.primary_keys.changes import mysql
from tests.marks import own_tables
from tests.support import elsewhere, execute, on_statement

from .mysql import definition, definitions, mysql_only
from .test_graph import MODELS, MOVE, ROWS, content

pytestmark = [own_tables, mysql_only]

GRAPH = f"{MODELS}RunPython(add_rows, RunPython.noop),"
UUID, ULID = (
    MOVE.format(field=f"{name}(primary_key=True)") for name in ("UUIDv7Field", "ULIDField")
)
TABLES = {
    "ALTER TABLE depot_order ADD g int AS (shown_to_id % 2) VIRTUAL": "depends on shown_to_id",
    "ALTER TABLE depot_order ALTER customer_id SET DEFAULT 1": "has the DEFAULT '?1'?, which",
    "CREATE TABLE sortable_ids_old__depot_order (id int)": "sortable_ids_old__depot_order exists",
}


@pytest.fixture
def graph(depot):
    depot.write(GRAPH, ROWS)
    depot.migrate()
    yield depot
    execute("DROP TABLE IF EXISTS sortable_ids_old__depot_order")


def refused(depot, match, move=UUID):
    """The move is refused, and nothing is changed."""
    before = content(depot), definitions()
    depot.write(move, atomic=False)
    with pytest.raises(BackfillError, match=match):
        depot.migrate()
    assert depot.applied() == ["0001_step"]
    assert (content(depot), definitions()) == before


@pytest.mark.parametrize("sql", TABLES)
def test_what_a_table_must_not_have(graph, sql):
    execute(sql)
    refused(graph, TABLES[sql])


def without_foreign_keys(table):
    for line in definition(table):
        if " FOREIGN KEY " in line:
            execute(f"ALTER TABLE {table} DROP FOREIGN KEY {line.split()[1]}")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("ENGINE = MyISAM", "depot_tag_customers is stored by MyISAM"),
        ("PARTITION BY KEY (id) PARTITIONS 2", "depot_tag_customers has partitions"),
    ],
)
def test_how_a_table_must_not_be_stored(graph, change, match):
    table = "depot_tag_customers"
    without_foreign_keys(table)
    execute(f"ALTER TABLE {table} DROP INDEX {unique_of(table)}", f"ALTER TABLE {table} {change}")
    refused(graph, match)


def unique_of(table):
    """The unique index, which partitions don't allow."""
    (name,) = (line.split()[2] for line in definition(table) if line.startswith("UNIQUE KEY"))
    return name


def test_a_table_without_room_for_the_new_columns(graph):
    """A row has at most 65,535 bytes."""
    for length in range(65535, 0, -8):
        try:
            execute(f"ALTER TABLE depot_order ADD wide varchar({length}) CHARACTER SET ascii")
        except OperationalError:
            continue
        break
    refused(graph, "depot_order: a copy with the new columns can't be made: .*[Rr]ow size", ULID)


def test_an_index_without_room_for_the_new_keys(graph):
    execute("ALTER TABLE depot_order ADD note varchar(766), ADD INDEX (note, customer_id)")
    refused(graph, "depot_order: a copy .* can't be made: .*max key length")


def test_a_foreign_key_of_another_database(graph):
    own = connection.settings_dict["NAME"]
    execute(
        f"CREATE DATABASE {own}_b",
        f"CREATE TABLE {own}_b.other (id int PRIMARY KEY, CONSTRAINT outer_key FOREIGN KEY (id) "
        f"REFERENCES {own}.depot_order (id))",
    )
    try:
        refused(graph, f"{own}_b.other of another database has the foreign key outer_key")
    finally:
        execute(f"DROP DATABASE {own}_b")


@contextmanager
def user_without(right):
    """The connection is that of a user without that right on the tables."""
    if connection.mysql_is_mariadb and right != "EVENT":
        pytest.skip("it gives everybody these rights on databases named test_...")
    own, settings = connection.settings_dict["NAME"], connection.settings_dict
    before = settings["USER"], settings["PASSWORD"]
    users = "'less'@'%'", "'less'@'localhost'"
    for user in users:
        execute(
            f"CREATE USER {user} IDENTIFIED BY 'pw'",
            f"GRANT ALL ON `{own}`.* TO {user}",
            f"REVOKE {right} ON `{own}`.* FROM {user}",
        )
    connection.close()
    settings.update(USER="less", PASSWORD="pw")
    try:
        yield
    finally:
        connection.close()
        settings["USER"], settings["PASSWORD"] = before
        execute(f"DROP USER {', '.join(users)}")


def test_a_user_who_may_not_read_triggers(graph):
    execute("CREATE TRIGGER unseen BEFORE INSERT ON depot_order FOR EACH ROW SET @a = 1")
    with user_without("TRIGGER"):
        refused(graph, "depot_order: this user may not see its triggers: .*Grant TRIGGER")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE depot_note SET vip_id = NULL",
        "DELETE FROM depot_note LIMIT 1",
    ],
)
def test_rows_that_are_written_during_the_copy(graph, sql):
    graph.write(UUID, atomic=False)

    def write():
        time.sleep(1.1)
        elsewhere(lambda: execute(sql))

    copies = "INSERT INTO `sortable_ids_new__depot_order`"
    refused = pytest.raises(BackfillError, match="depot_note was written during the migration")
    with refused, on_statement(copies, write, after=True, once=True):
        graph.migrate()
    graph.migrate()
    assert not [name for name in definitions() if name.startswith("sortable_ids_new__")]


def test_two_moves_at_once(graph, monkeypatch):
    monkeypatch.setattr(mysql, "WAIT", 0)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT GET_LOCK(CONCAT('move ', DATABASE()), 0)")
        refused(graph, "another process moves keys of this database")
    finally:
        other.close()


def test_an_unfinished_move_of_other_keys(graph):
    graph.write(UUID, atomic=False)
    MoveNote.objects.create(
        target="move depot.Customer", identity={"other": 1}, state={"steps": {}}
    )
    with pytest.raises(BackfillError, match="was stopped in the middle, and it was another one"):
        graph.migrate()
