"""What the status of the command shows of a move."""

import json
from io import StringIO

from django.core.management import call_command

from django_sortable_ids.db.transactions import in_a_thread
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.reporting.status import of
from tests.backfill.command import printed
from tests.marks import own_tables
from tests.support import on_statement

from .mysql import mysql_only
from .test_unrecorded import NOTE, RENAMES, stop_before

pytestmark = own_tables


def move():
    (found,) = of("default").moves
    return found


def lines():
    return printed("--status").splitlines()[1:]


def document():
    (found,) = json.loads(printed("--status", "--json"))["moves"]
    return found


def test_before_during_and_after_a_move(depot, small_move):
    assert of("default").moves == []

    stop_before(depot, NOTE, "0002_step")
    assert lines()[0].startswith("keys of depot.Customer: unfinished, filling since ")
    assert document()["step"] == "filling"

    depot.migrate()
    assert lines()[0].startswith("keys of depot.Customer: moved at ")

    depot.migrate("0001_step")
    assert lines()[0].startswith("keys of depot.Customer: moved back at ")
    assert document()["backwards"]


def test_a_backfill_of_a_move_is_not_left_over_from_a_field(depot, small_move):
    stop_before(depot, NOTE, "0002_step")
    BackfillRun.objects.create(target="depot.CustomerKeys.new_key", options={})
    BackfillRun.objects.create(target="depot.Order.gone", options={})
    deletions = [line for line in lines() if "DELETE" in line]
    assert len(deletions) == 1
    assert "'depot.Order.gone'" in deletions[0]


@mysql_only
def test_tables_that_are_exchanged(depot, small_move):
    """MariaDB and MySQL commit each step, so that others see it."""
    seen = []
    with on_statement(RENAMES.pattern, lambda: seen.append(in_a_thread(move, "default"))):
        depot.migrate()
    (during,) = seen
    assert (during.state, during.step) == ("unfinished", "exchanging")
    assert move().state == "finished"
    stop_before(depot, RENAMES, "0001_step")
    assert lines()[0].startswith("keys of depot.Customer: unfinished, exchanging since ")
    assert move().backwards
    call_command("sqlmigrate", "depot", "0002_step", backwards=True, stdout=StringIO())
    assert move().step == "exchanging"  # SQL that is shown changes nothing
    depot.migrate("0001_step")
