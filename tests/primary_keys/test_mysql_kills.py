"""MariaDB and MySQL: a process is killed at every statement of a move, and the next one ends it."""

import os
import signal

import pytest
from django.db import connection

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.primary_keys.changes.mysql_tables import Steps, exchange
from tests.marks import own_tables
from tests.support import execute, on_statement, raising

from .histories import is_one_to_one
from .mysql import definitions, mysql_only
from .stops import EVERY, Stopped

pytestmark = [own_tables, mysql_only]


def changes(sql):
    """Whether a statement changes a table, or the note."""
    return sql.startswith(("CREATE", "ALTER", "DROP", "RENAME", "INSERT", "UPDATE", "DELETE"))


class Kill:
    """Kills this process at the n-th statement that changes something, before it or after it."""

    def __init__(self, number, after):
        self.left, self.after = number, after

    def __call__(self, execute, sql, params, many, context):
        self.left -= changes(sql)
        is_last = changes(sql) and self.left == 0
        if is_last and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = execute(sql, params, many, context)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def is_killed(kill, action):
    """Run the action in another process. Whether that was killed before its end."""
    connection.close()
    process = os.fork()
    if not process:
        status = 1
        try:
            with connection.execute_wrapper(kill):
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
            kill = Kill(number, after=number // EVERY % 2)
            kills += is_killed(kill, lambda name=name: depot.migrate(name))
            depot.migrate(name)
            assert definitions() == states[name], (number, name)
            assert is_one_to_one(keys, filled.keys()), (number, name)
        assert filled.keys() == keys, number
        if not kills:
            break
    assert number > 40


def test_a_rename_of_some_tables_is_continued():
    """Servers before MariaDB 10.6 may do that when they are killed."""
    names = [f"depot_{each}" for each in ("table", "copy", "old")]
    execute(*(f"CREATE TABLE {each} (id int)" for each in names[1:]))
    steps = Steps(tables=[names], foreign_keys=[], checks=[], checksums={})
    with connection.schema_editor(atomic=False) as editor:
        exchange(editor, steps)
        exchange(editor, steps)
    found = [name for name in definitions() if name.startswith("depot_")]
    execute("DROP TABLE depot_table")
    assert found == ["depot_table"]


def test_rows_that_are_written_after_a_stop_are_not_dropped_with_the_old_tables(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move()
    with on_statement("^RENAME TABLE", raising(Stopped())), pytest.raises(Stopped):
        depot.migrate()
    rename = "UPDATE depot_historicalcustomer SET name = '{}' WHERE name = '{}'".format
    execute(rename("x", "a"))
    refused = pytest.raises(
        BackfillError, match=r"^depot_historicalcustomer was written since the move stopped"
    )
    for _ in range(2):
        with refused:
            depot.migrate()
    assert execute("SELECT name FROM depot_historicalcustomer WHERE name = 'x'") == [("x",)]
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
