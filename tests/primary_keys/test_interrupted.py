"""A move that is stopped at any statement: ``migrate`` again ends it, in both directions."""

import pytest
from django.db import connection

from tests.marks import own_tables

from . import small
from .stops import Stopped, migrate_until_done

pytestmark = own_tables


def test_each_statement_can_be_the_last(depot):
    small.create(depot)
    old = dict(depot.model("Customer").objects.values_list("name", "pk"))
    small.write_move(depot)
    assert migrate_until_done(depot) > 10
    connection.check_constraints()
    assert small.names(depot) == small.IN_ORDER
    assert dict(depot.model("Customer").objects.values_list("name", "old_id")) == old
    assert migrate_until_done(depot, "0001_step") > 5
    connection.check_constraints()
    assert dict(depot.model("Customer").objects.values_list("name", "pk")) == old
    assert small.names(depot) == ["e", "d", "c", "b", "a"]


@pytest.mark.parametrize("to", [[], ["0001_step"]], ids=["forwards", "backwards"])
def test_a_move_that_was_not_recorded(depot, to):
    small.create(depot)
    small.write_move(depot)
    if to:
        depot.migrate()

    def execute(run, sql, params, many, context):
        if "django_migrations" in sql and not sql.lstrip().startswith(("SELECT", "CREATE")):
            raise Stopped
        return run(sql, params, many, context)

    with pytest.raises(Stopped), connection.execute_wrapper(execute):
        depot.migrate(*to)
    connection.close()
    depot.migrate(*to)
    assert depot.applied() == ["0001_step", *([] if to else ["0002_step"])]
    assert small.names(depot) == (["e", "d", "c", "b", "a"] if to else small.IN_ORDER)
