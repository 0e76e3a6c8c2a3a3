"""The plan: what is going to happen, in words and in SQL, before anything is written."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from django_sortable_ids.errors import BackfillError
from tests.support import on_statement
from tests.testapp.models import Order

from .command import printed
from .shop.models import Document, Invoice, Plain, Required, TimeKey, TimeUnique
from .support import (
    SECOND,
    START,
    build,
    each_kind,
    field_of,
    fill,
    insert,
    insert_orders,
    label,
    sortable,
)

pytestmark = pytest.mark.django_db

NO_INDEX = (
    "no index begins with created_at, so each batch sorts the table; with many rows, create one "
    "first"
)


def dry_run(name, **options):
    return printed(label(name), created_from="created_at", dry_run=True, **options).splitlines()


def test_the_samples_are_public_texts_of_the_first_rows():
    """The other lines are in the transcripts."""
    insert_orders([START + i // 2 * SECOND for i in range(1234)])
    lines = dry_run("ulid", batch_size=100)
    assert lines[1] == "  1,234 rows without an id, up to 100 in a transaction"
    texts = [re.search(r"ord_\w+", line)[0] for line in lines if line.startswith("  such as ")]
    field = field_of("ulid")
    made = [field.scheme.created_at(field.parse_public(text)) for text in texts]
    assert made == [START, START, START + SECOND]


@each_kind
@pytest.mark.parametrize("same", [True, False], ids=["a tie", "other times"])
def test_the_statement_is_the_one_that_runs(name, same):
    insert_orders([START + (0 if same else i) * SECOND for i in range(5)])
    lines = dry_run(name, verbosity=2)
    shown = [line.strip() for line in lines if line.startswith("    ")]
    with on_statement("^UPDATE (?!.*(sortable_ids_backfillrun|sequencecounter))") as ran:
        fill(name, 2)
    assert len(ran) == 3
    assert set(ran) <= set(shown)
    assert same or ran[0] == shown[0]


def test_a_column_that_is_never_empty_has_nothing_missing():
    Required.objects.create(created_at=START)
    assert dry_run("shop.Required.public_id")[1].strip().startswith("0 rows without an id")


def test_what_remains_is_printed():
    """Rows that are inserted while those are filled that were inserted late."""
    insert_orders([START] * 3)

    def insert_late():
        insert_orders([START - len(batches) * SECOND] * len(batches))

    with on_statement("^UPDATE .*testapp_order", insert_late) as batches:
        lines = printed(label("uuid7"), created_from="created_at").splitlines()
    assert lines[-2] == (
        "2 rows inserted concurrently without an id. Deploy the field first, so that new rows "
        "get an id, and run the command again."
    )


@pytest.mark.parametrize(("name", "is_slow"), [("uuid7", True), ("number", False)])
def test_rows_before_the_end_of_a_finished_run_take_longer(name, is_slow):
    insert_orders([START + SECOND])
    fill(name)
    insert_orders([START] * 10_000 + [START + 2 * SECOND])
    lines = dry_run(name)
    assert ("  one by one, 10,000 rows before the end of the last run" in lines) == is_slow
    least, most = build(name).seconds
    assert (least > 10) == (most > 99) == is_slow


# Warnings


def test_no_index_on_the_time_is_a_warning():
    insert(Plain, [{"created_at": START}])
    assert build("shop.Plain.public_id").warnings == (NO_INDEX,)
    assert dry_run("shop.Plain.public_id")[-2] == f"  warning: {NO_INDEX}"


@pytest.mark.parametrize("model", [Order, TimeKey, TimeUnique, Invoice])
def test_an_index_that_begins_with_the_time_is_none(model):
    """That of a key, of a unique column, and of the table of a parent, too."""
    if model is Invoice:
        insert(Document, [{"id": 10, "created_at": START}])
        insert(Invoice, [{"document_ptr": 10}])
    else:
        insert(model, [{"created_at": START} | ({"name": ""} if model is Order else {})])
    name = "number" if model is Invoice else sortable(model).name
    assert build(f"{model._meta.label}.{name}").warnings == ()


def test_a_key_of_old_ids_has_an_index():
    lines = printed("shop.SortableKey.public_id", "--convert-from=id", "--dry-run")
    assert "warning" not in lines


def test_most_times_in_the_future_are_refused():
    """As `check --database` would refuse the ids; a resumed run has the latest ones left."""
    later = datetime.now(UTC) + timedelta(days=400)
    insert_orders([START, later])
    dry_run("uuid7")
    insert_orders([later])
    with pytest.raises(BackfillError, match=r"^2 of 3 rows of testapp\.Order have a created_at"):
        dry_run("uuid7")
