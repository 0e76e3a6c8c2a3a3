"""Models and columns that differ by a swap: it is pending, or was made and not recorded."""

import importlib

import pytest
from django.core.management import CommandError
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import isolate_apps

from django_sortable_ids.checks import databases
from django_sortable_ids.checks.databases import check_databases
from django_sortable_ids.fields import (
    KSUIDField,
    PushIDField,
    ULIDField,
    UUIDv7Field,
)
from django_sortable_ids.models import BackfillRun
from tests.marks import own_tables

from .conftest import forget
from .test_constrain import Killed
from .test_swap import SWAP, ids, prepare

pytestmark = own_tables

PAIRS = [
    (KSUIDField, UUIDv7Field),
    (ULIDField, UUIDv7Field),
    (UUIDv7Field, PushIDField),
]


@pytest.fixture
def checked(monkeypatch):
    """What is said of a model with these fields and the table of the depot."""

    def check(public, new):
        with isolate_apps("depot") as own:
            meta = type("Meta", (), {"app_label": "depot", "db_table": "depot_order"})
            fields = {"public": public(unique=True), "new": new(unique=True)}
            type("Order", (models.Model,), {"__module__": __name__, "Meta": meta, **fields})
            monkeypatch.setattr(databases, "apps", own)
            importlib.invalidate_caches()
            forget("depot.migrations")
            found = check_databases(databases=["default"])
            return sorted((message.id, str(message.obj)) for message in found)

    return check


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_nothing_is_said_while_the_swap_is_pending(depot, checked, old, new):
    prepare(depot, f"{old.__name__}(unique=True)", f"{new.__name__}(unique=True)")
    assert checked(new, old) == []
    depot.migrate()
    assert checked(new, old) == []
    assert checked(old, new) != []
    depot.migrate("0001")
    assert checked(new, old) == []


def stop_before_it_is_recorded(depot, monkeypatch, to):
    """Migrate, and be killed when the columns are swapped."""
    name = "record_applied" if to is None else "record_unapplied"

    def killed(*args):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MigrationRecorder, name, killed)
        with pytest.raises(Killed):
            depot.migrate(to)
    connection.close()


def refused(depot, command, to=None):
    """Whether ``migrate`` refuses all that doesn't begin with that command."""
    found = "swapped public and new of depot.Order, and was stopped before it was recorded"
    with pytest.raises(CommandError, match=f"{found}.* Complete it by `{command}`"):
        depot.migrate(to)


def test_stopped_on_the_way_back_it_is_completed_first(depot, checked, monkeypatch):
    prepare(depot, "KSUIDField(unique=True)", "UUIDv7Field(unique=True)")
    BackfillRun.objects.create(target="depot.Order.new", options={"convert_from": "public"})
    before = ids(depot)
    depot.migrate()
    stop_before_it_is_recorded(depot, monkeypatch, "0001")
    assert (ids(depot), depot.applied()) == (before, ["0001_step", "0002_step"])
    assert checked(UUIDv7Field, KSUIDField) == [("sortable_ids.W009", "None")]
    depot.write('AddField("order", "more", IntegerField(null=True)),')
    refused(depot, "manage.py migrate depot 0001_step")
    depot.take_back()
    depot.migrate("0001")
    assert (ids(depot), depot.applied()) == (before, ["0001_step"])
    assert checked(UUIDv7Field, KSUIDField) == []
    run = BackfillRun.objects.get()
    assert (run.target, run.options) == ("depot.Order.new", {"convert_from": "public"})
    depot.migrate()
    assert ids(depot) == before[::-1]
    depot.migrate("0001")
    assert ids(depot) == before


def test_stopped_on_the_way_forward_it_is_completed_first(depot, checked, monkeypatch):
    prepare(depot, "KSUIDField(unique=True)", "UUIDv7Field(unique=True)")
    depot.names.pop()
    depot.write(SWAP, atomic=False)  # else it is recorded in its own transaction
    before = ids(depot)
    stop_before_it_is_recorded(depot, monkeypatch, None)
    assert (ids(depot), depot.applied()) == (before[::-1], ["0001_step"])
    refused(depot, "manage.py migrate depot 0002_step", "0001")
    depot.migrate()
    assert ids(depot) == before[::-1]
    assert depot.applied() == ["0001_step", "0002_step"]
    depot.migrate("0001")
    assert ids(depot) == before


def test_a_guard_that_is_off_changes_nothing(depot, monkeypatch, settings):
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    prepare(depot)
    depot.migrate()
    after = ids(depot)
    depot.migrate("0001", fake=True)
    depot.migrate("0001")
    assert ids(depot) == after


def test_a_second_swap_of_the_same_fields_is_made(depot):
    """The note of the first one says nothing of it."""
    prepare(depot)
    before = ids(depot)
    depot.write(SWAP)
    depot.migrate()
    assert ids(depot) == before
    depot.migrate("0002")
    assert ids(depot) == before[::-1]
    depot.migrate("0002")
    assert ids(depot) == before[::-1]
    depot.migrate("0001")
    depot.migrate()
    assert ids(depot) == before


@pytest.mark.parametrize("again", [1, 2])
def test_a_swap_of_equal_definitions_is_not_undone(depot, again):
    prepare(depot, "ULIDField(unique=True)", "ULIDField(unique=True)")
    before = ids(depot)
    for _ in range(again):
        depot.migrate()
    assert ids(depot) == before[::-1]
