"""History models of django-simple-history: they hold copies of the ids of other rows."""

from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, models

from django_sortable_ids.fields import LexicalSequenceField, SnowflakeField, UUIDv7Field
from django_sortable_ids.models import BackfillRun
from tests.combinations import each_with
from tests.own_tables import tables
from tests.support import EVERYTHING, execute, limited_to

from .support import START, define, in_registry, insert, insert_into, naive, refusal
from .support import command as call

simple_history = pytest.importorskip("simple_history.models")

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "shop.HistoricalTracked.public_id"
FIELDS = {
    "uuid7": UUIDv7Field(null=True, unique=True, prefix="trk"),
    "snowflake": SnowflakeField(null=True, unique=True),
    "sequence": LexicalSequenceField(null=True, unique=True),
}


each_field_and_size = pytest.mark.parametrize(
    ("tracked", "size"), each_with([*FIELDS], [1, 2, 100]), indirect=["tracked"]
)


@pytest.fixture(params=["uuid7"])
def tracked(request, django_db_blocker):
    with in_registry("Tracked", "HistoricalTracked"):
        content = {
            "Meta": type("Meta", (), {"app_label": "shop"}),
            "__module__": "tests.backfill.shop.models",
            "name": models.CharField(max_length=20, default=""),
            "created_at": models.DateTimeField(),
            "public_id": FIELDS[request.param].clone(),
            "history": simple_history.HistoricalRecords(),
        }
        model = type("Tracked", (models.Model,), content)
        both = model, model.history.model
        with tables(*both):
            yield both


def before_the_field(model, past, rows=4, versions=3):
    """Rows and their history, as from the time when there was no id."""
    insert_into(
        "shop_tracked",
        [(n, "", naive(START - timedelta(hours=n))) for n in range(1, rows + 1)],
        "id, name, created_at",
    )
    history = [
        (naive(START - timedelta(hours=n, seconds=-v)), n, f"v{v}", "~")
        for v in range(versions)
        for n in range(1, rows + 1)
    ]
    if not history:
        return
    insert_into(
        past._meta.db_table,
        [(*row, naive(START)) for row in history],
        "history_date, id, name, history_type, created_at",
    )


def ids_by_original(past):
    found = {}
    for key, value in past.objects.values_list("id", "public_id"):
        found.setdefault(key, set()).add(value)
    return found


@each_field_and_size
def test_each_row_gets_the_id_of_its_original(tracked, size):
    model, past = tracked
    before_the_field(model, past)
    call("shop.Tracked.public_id", "--created-from=created_at")
    model.objects.filter(pk=2).delete()  # and a row of history with the id that it had
    assert past.objects.exclude(public_id=None).count() == 1
    printed = call(NAME, f"--batch-size={size}")
    assert "12 rows filled." in printed
    assert "of shop.Tracked.public_id, copied to its history rows" in printed[0]
    assert printed[-1] == f"Next: manage.py backfill_ids {NAME} --verify"
    own = dict(model.objects.values_list("pk", "public_id"))
    found = ids_by_original(past)
    last = past.objects.get(history_type="-")
    assert found == {**{key: {value} for key, value in own.items()}, 2: {last.public_id}}
    assert call(NAME, "--verify") == ["13 rows, 13 with an id", "each has the id of its original"]


@each_field_and_size
def test_a_deleted_original_has_one_id_of_the_time_of_its_first_row(tracked, size):
    model, past = tracked
    before_the_field(model, past)
    models.QuerySet(model).filter(pk__in=[2, 3])._raw_delete("default")
    call("shop.Tracked.public_id", "--created-from=created_at")
    call(NAME, f"--batch-size={size}")
    found = ids_by_original(past)
    assert sorted(found) == [1, 2, 3, 4]
    assert [len(values) for values in found.values()] == [1] * 4
    assert len(set.union(*found.values())) == 4
    field = model._meta.get_field("public_id")
    if not isinstance(field, LexicalSequenceField):
        (value,) = found[2]
        assert field.scheme.created_at(value) == START - timedelta(hours=2)
    assert call(NAME, "--verify")[1] == "each has the id of its original"
    last = past.objects.filter(id=2).last()
    past.objects.filter(pk=last.pk).update(public_id=model.objects.get(pk=1).public_id)
    assert refusal(NAME, "--verify") == f"{NAME}: 1 deleted original with several ids"


@contextmanager
def events_of_pghistory(**columns):
    """Original and event. The package needs PostgreSQL, and its models no more than this."""
    with in_registry("Original", "OriginalEvent"):
        key, public_id = models.AutoField(primary_key=True), FIELDS["uuid7"]
        original = define("Original", "shop_original", id=key, public_id=public_id.clone())
        event = define(
            "OriginalEvent",
            "shop_originalevent",
            pgh_id=models.AutoField(primary_key=True),
            pgh_created_at=models.DateTimeField(),
            pgh_tracked_model=original,
            public_id=UUIDv7Field(null=True, prefix="trk"),
            **columns,
        )
        with tables(original, event):
            yield original, event


def test_events_of_pghistory_have_times_of_their_own():
    """Of a deleted original."""
    with events_of_pghistory(id=models.IntegerField()) as (_, event):
        times = [START + timedelta(hours=n) for n in (2, 0, 1)]
        insert(event, [{"pgh_created_at": at, "id": 7} for at in times])
        call("shop.OriginalEvent.public_id")
        (value,) = event.objects.values_list("public_id", flat=True).distinct()
    assert UUIDv7Field().scheme.created_at(value) == START


def test_events_of_pghistory_find_their_original_without_a_copy_of_its_key():
    to_original = models.ForeignKey("shop.Original", models.DO_NOTHING, db_constraint=False)
    with events_of_pghistory(pgh_obj=to_original) as (original, event):
        row = original.objects.create()
        insert(event, [{"pgh_created_at": START, "pgh_obj": n} for n in (row.pk, 7, 7)])
        call("shop.OriginalEvent.public_id")
        call("shop.OriginalEvent.public_id", "--verify")
        own, first, second = event.objects.order_by("pk").values_list("public_id", flat=True)
        assert own == row.public_id != first == second


def test_events_of_pghistory_without_their_original_are_refused():
    with events_of_pghistory():
        assert "OriginalEvent has no field id, a copy of the key of" in refusal(
            "shop.OriginalEvent.public_id"
        )


def test_originals_come_first(tracked):
    before_the_field(*tracked)
    assert refusal(NAME) == (
        "12 rows of shop.HistoricalTracked with an original that has no id yet: run "
        "`manage.py backfill_ids shop.Tracked.public_id` first; nothing was written."
    )
    assert not BackfillRun.objects.exists()
    assert refusal(NAME, "--created-from=history_date") == (
        "shop.HistoricalTracked is a history of shop.Tracked and gets its ids: omit the source of "
        "times"
    )


def test_verify_finds_a_copy_with_another_id(tracked):
    model, past = tracked
    before_the_field(model, past)
    call("shop.Tracked.public_id", "--created-from=created_at")
    call(NAME)
    other = model.objects.get(pk=2).public_id
    past.objects.filter(history_id=past.objects.filter(id=1).first().pk).update(public_id=other)
    assert refusal(NAME, "--verify") == f"{NAME}: 1 row with another id than the original"
    past.objects.filter(id=3).update(public_id=None)
    assert "3 rows without an id" in refusal(NAME, "--verify")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL has such security")
def test_originals_that_the_user_may_not_see_are_not_taken_for_deleted_ones(tracked):
    before_the_field(*tracked)
    call("shop.Tracked.public_id", "--created-from=created_at")
    execute("ALTER TABLE shop_tracked ENABLE ROW LEVEL SECURITY")
    with limited_to(*EVERYTHING):
        for mode in ("--dry-run", "--verify"):
            assert "row-level security of shop_tracked may hide rows" in refusal(NAME, mode)


def test_the_report_lists_them_as_copies(tracked):
    before_the_field(*tracked)
    line = next(" ".join(each.split()) for each in call() if each.startswith(NAME))
    assert line == f"{NAME} uuid7 12 history, 12 missing backfill_ids {NAME}"
    call("shop.Tracked.public_id", "--created-from=created_at")
    call(NAME)
    line = next(" ".join(each.split()) for each in call() if each.startswith(NAME))
    assert line == f"{NAME} uuid7 12 complete history"
