"""MariaDB and MySQL: what can't be moved is refused, and a killed move is completed."""

import os
import signal
import time
from contextlib import contextmanager

import pytest
from django.db import connection

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.models import MoveNote
from django_sortable_ids.primary_keys.changes import mysql
from tests.marks import own_tables
from tests.support import elsewhere, execute, on_statement, raising

from . import small
from .histories import is_one_to_one
from .mysql import definition, definitions, mysql_only
from .stops import EVERY, Stopped, stopping_at

pytestmark = [own_tables, mysql_only]

UUID, ULID = "UUIDv7Field(primary_key=True)", "ULIDField(primary_key=True)"
TABLES = {
    "ALTER TABLE depot_order ADD g int AS (customer_id % 2) VIRTUAL": "depends on customer_id",
    "ALTER TABLE depot_order ALTER customer_id SET DEFAULT 1": "has the DEFAULT '?1'?, which",
    "CREATE TABLE sortable_ids_old__depot_order (id int)": "sortable_ids_old__depot_order exists",
}


@pytest.fixture
def graph(depot):
    small.create(depot)
    yield depot
    execute("DROP TABLE IF EXISTS sortable_ids_old__depot_order")


def refused(depot, match, field=UUID):
    """The move is refused, and nothing is changed."""
    before = definitions()
    small.write_move(depot, field)
    with pytest.raises(BackfillError, match=match):
        depot.migrate()
    assert depot.applied() == ["0001_step"]
    assert small.names(depot) == small.IN_ORDER_OF_KEYS
    assert definitions() == before


@pytest.mark.parametrize("sql", TABLES)
def test_what_a_table_must_not_have(graph, sql):
    execute(sql)
    refused(graph, TABLES[sql])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("ENGINE = MyISAM", "depot_order is stored by MyISAM"),
        ("PARTITION BY KEY (id) PARTITIONS 2", "depot_order has partitions"),
    ],
)
def test_how_a_table_must_not_be_stored(graph, change, match):
    for line in definition("depot_order"):
        if " FOREIGN KEY " in line:
            execute(f"ALTER TABLE depot_order DROP FOREIGN KEY {line.split()[1]}")
    execute(f"ALTER TABLE depot_order {change}")
    refused(graph, match)


def test_an_index_without_room_for_the_new_keys(graph):
    execute("ALTER TABLE depot_order ADD note varchar(766), ADD INDEX (note, customer_id)")
    refused(graph, "depot_order: a copy .* can't be made: .*max key length")


def test_a_foreign_key_of_another_database(graph):
    own = connection.settings_dict["NAME"]
    execute(
        f"CREATE DATABASE {own}_b",
        f"CREATE TABLE {own}_b.other (id bigint PRIMARY KEY, CONSTRAINT outer_key FOREIGN KEY (id) "
        f"REFERENCES {own}.depot_order (id))",
    )
    try:
        refused(graph, f"{own}_b.other of another database has the foreign key outer_key")
    finally:
        execute(f"DROP DATABASE {own}_b")


@contextmanager
def user(*statements):
    """The connection is that of a user, whose rights on the database ``own`` these grant."""
    if connection.mysql_is_mariadb and "EVENT" not in statements[-1]:
        pytest.skip("it gives everybody these rights on databases named test_...")
    own, settings = connection.settings_dict["NAME"], connection.settings_dict
    before = settings["USER"], settings["PASSWORD"]
    users = "'less'@'%'", "'less'@'localhost'"
    for name in users:
        given = (each.format(own=f"`{own}`.*", user=name) for each in statements)
        execute(f"CREATE USER {name} IDENTIFIED BY 'pw'", *given)
    connection.close()
    settings.update(USER="less", PASSWORD="pw")
    try:
        yield
    finally:
        connection.close()
        settings["USER"], settings["PASSWORD"] = before
        execute(f"DROP USER {', '.join(users)}")


def user_without(right):
    return user("GRANT ALL ON {own} TO {user}", f"REVOKE {right} ON {{own}} FROM {{user}}")


def test_a_user_who_may_not_read_triggers(graph):
    execute("CREATE TRIGGER unseen BEFORE INSERT ON depot_order FOR EACH ROW SET @a = 1")
    with user_without("TRIGGER"):
        refused(graph, "depot_order: this user may not see its triggers: .*Grant TRIGGER")


@pytest.mark.parametrize("times", ['created_from="created_at"', 'created_at="now"'])
def test_a_user_whose_rights_are_those_of_a_role(graph, times):
    execute("CREATE ROLE less_role")
    grants = (
        "GRANT ALL ON {own} TO less_role",
        "GRANT less_role TO {user}",
        "SET DEFAULT ROLE less_role TO {user}",
    )
    try:
        with user(*grants):
            small.write_move(graph, options=f"{times}, old={small.OLD}")
            graph.migrate()
    finally:
        execute("DROP ROLE less_role")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE depot_customer SET name = 'x' WHERE name = 'a'",
        "DELETE FROM depot_order LIMIT 1",
        # As another process does that moves the same keys:
        "UPDATE sortable_ids_next__depot_customer SET new_key = REPLACE(UUID(), '-', '') LIMIT 1",
    ],
)
def test_rows_that_are_written_during_the_copy(graph, sql):
    small.write_move(graph)

    def write():
        time.sleep(1.1)
        elsewhere(lambda: execute(sql))

    copies = "INSERT INTO `sortable_ids_new__depot_order`"
    refused = pytest.raises(
        BackfillError, match=r"depot_(customer|order) was written during the migration"
    )
    with refused, on_statement(copies, write, after=True, once=True):
        graph.migrate()
    graph.migrate()
    assert not [name for name in definitions() if name.startswith("sortable_ids_new__")]


def test_rows_that_are_written_while_those_of_another_table_are_compared(graph):
    small.write_move(graph)
    time.sleep(1.1)

    def write():
        if len(compared) == 2:
            elsewhere(lambda: execute("UPDATE depot_customer SET name = 'x' WHERE name = 'a'"))

    refused = pytest.raises(BackfillError, match=r"depot_customer was written during the migration")
    with refused, on_statement("^CHECKSUM TABLE `depot_order`", write) as compared:
        graph.migrate()


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
    small.write_move(graph)
    keys = [["depot.Customer", UUIDv7Field().deconstruct()[1]]]
    other = {"keys": keys, "backwards": False, "fields": ["UUIDv7Field()"]}
    MoveNote.objects.create(target="move depot.Customer", identity=other, state={"steps": {}})
    with pytest.raises(BackfillError, match="was stopped in the middle, and it was another one"):
        graph.migrate()


# A process is killed at every statement of a move, and the next one ends it


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def is_killed(number, after, action):
    """Run the action in another process. Whether that was killed before its end."""
    connection.close()
    process = os.fork()
    if not process:
        status = 1
        try:
            with stopping_at(number, after=after, stop=kill):
                action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(process, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def test_it_continues_after_a_kill_at_each_statement(filled):
    depot, keys, states = filled.depot, filled.keys(), {}
    filled.write_move()
    for name in ("0002_step", "0001_step"):
        depot.migrate(name)
        states[name] = definitions()
    for number in range(1, 1000, EVERY):
        kills = 0
        for name in ("0002_step", "0001_step"):
            after = number // EVERY % 2
            kills += is_killed(number, after, lambda name=name: depot.migrate(name))
            depot.migrate(name)
            assert definitions() == states[name], (number, name)
            assert is_one_to_one(keys, filled.keys()), (number, name)
        assert filled.keys() == keys, number
        if not kills:
            break
    assert number > 40


def test_rows_that_are_written_after_a_stop_are_not_dropped_with_the_old_tables(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move()
    with on_statement("^RENAME TABLE", raising(Stopped())), pytest.raises(Stopped):
        depot.migrate()
    rename = "UPDATE depot_historicalcustomer SET name = '{}' WHERE name = '{}'".format
    execute(rename("x", "a"))
    refused = pytest.raises(
        BackfillError, match=r"^depot_historicalcustomer was written since its rows were copied"
    )
    for _ in range(2):
        with refused:
            depot.migrate()
    assert execute("SELECT name FROM depot_historicalcustomer WHERE name = 'x'") == [("x",)]
    execute(rename("a", "x"))
    depot.migrate()
    assert is_one_to_one(before, filled.keys())


def test_rows_that_are_written_while_texts_are_replaced(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move()
    rename = "UPDATE depot_historicalcustomer SET name = '{}' WHERE name = '{}'".format
    refused = pytest.raises(
        BackfillError, match=r"^depot_historicalcustomer was written since its rows were copied"
    )

    def write():
        elsewhere(lambda: execute(rename("x", "a")))

    with refused, on_statement("^UPDATE .*depot_visit", write, once=True) as seen:
        depot.migrate()
    assert seen
    execute(rename("a", "x"))
    depot.migrate()
    assert is_one_to_one(before, filled.keys())


def test_what_is_refused_last_names_the_table_and_not_its_copy(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move("SnowflakeField")

    def collide():
        execute(
            "INSERT INTO depot_tagged (object_id, kind_id) SELECT new_key, kind_id "
            "FROM depot_tagged t JOIN sortable_ids_next__depot_customer m "
            "ON m.old_key = t.object_id LIMIT 1"
        )

    maps = "^INSERT INTO `sortable_ids_next__depot_customer`"
    refused = pytest.raises(BackfillError, match=r"^depot_tagged.object_id contains \d+, which is")
    with on_statement(maps, collide, after=True, once=True), refused:
        depot.migrate()
    execute("DELETE FROM depot_tagged WHERE customer_id IS NULL AND length(object_id) > 9")
    assert filled.keys() == before
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
