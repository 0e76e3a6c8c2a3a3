"""64-bit ids: some may be taken, and there may be too few."""

import pytest

from django_sortable_ids.backfill import batch, run
from django_sortable_ids.models import BackfillRun, SequenceCounter
from tests.support import refusal_of

from .shop.models import BillLine, Labelled, Tight
from .support import (
    MILLISECOND,
    SECOND,
    START,
    after_batch,
    build,
    command,
    field_of,
    fill,
    ids,
    in_python,
    insert,
    is_strict,
    ranks,
    saved_run,
)

pytestmark = pytest.mark.django_db

EIGHTH = "shop.Tight.eighth"


def id_of(suffix, at=START):
    scheme = field_of(EIGHTH).scheme
    return scheme.from_int(scheme.layout.join(scheme.tick(at), suffix))


def draw(monkeypatch, *draws):
    """Have these suffixes drawn, one after the other, and the last one for ever, by Python."""
    left = list(draws)

    def below(size):
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(batch, "drawn_below", lambda sizes: [*map(below, sizes)])
    in_python(monkeypatch)


def test_a_batch_is_made_anew_where_an_id_is_taken(monkeypatch):
    insert(Tight, [{"created_at": START, "eighth": id_of(3)}])
    insert(Tight, [{"created_at": START, "eighth": None}])
    draw(monkeypatch, 3, 3, 5)
    assert fill(EIGHTH).filled == 1
    assert ids(EIGHTH) == [id_of(3), id_of(5)]
    assert (saved_run(EIGHTH).rows_filled, saved_run(EIGHTH).batches) == (1, 1)


def test_a_late_row_is_made_anew_where_its_id_is_taken(monkeypatch):
    """By a row of another time, so that nobody sees it coming."""
    insert(Tight, [{"created_at": START + SECOND, "eighth": None}])
    insert(Tight, [{"created_at": START + 9 * SECOND, "eighth": id_of(3)}])
    draw(monkeypatch, 0, 3, 4)
    run.execute(build(EIGHTH), after_batch(1, lambda: insert(Tight, [{"created_at": START}])))
    assert ids(EIGHTH)[::2] == [id_of(4), id_of(3)]


def test_ids_that_stay_taken_stop_the_run_and_name_the_row(monkeypatch):
    insert(Tight, [{"id": 1, "created_at": START, "eighth": id_of(3)}])
    insert(Tight, [{"id": 2, "created_at": START - SECOND}, {"id": 3, "created_at": START}])
    draw(monkeypatch, 3)
    assert refusal_of(fill, EIGHTH, 1).startswith(
        "stopped at shop.Tight 3, created at 2024-05-17 09:30:00+00:00: "
    )
    assert ids(EIGHTH) == [id_of(3, START - SECOND), id_of(3), None]
    assert saved_run(EIGHTH).rows_filled == 1


# Too few


@pytest.mark.parametrize("size", [1, 3, 8, 5000])
def test_as_many_rows_in_a_tick_as_there_are_ids(size):
    insert(Tight, [{"created_at": START + i // 8 * MILLISECOND} for i in range(16)])
    assert fill(EIGHTH, size).filled == 16
    assert is_strict(EIGHTH)
    assert [rank % 8 for rank in ranks(EIGHTH)] == [*range(8), *range(8)]


@pytest.mark.parametrize("before", [0, 1, 20])
def test_more_rows_in_a_tick_than_there_are_ids_are_refused_before_anything_is_written(before):
    insert(
        Tight,
        [{"id": 50 + i, "created_at": START + i * SECOND} for i in range(-before, 0)]
        + [{"id": 100 + i, "created_at": START} for i in range(9)]
        + [{"id": 200, "created_at": START + SECOND}],
    )
    assert refusal_of(build, EIGHTH) == (
        "shop.Tight 108: more than 8 rows were created at 2024-05-17T09:30:00+00:00, and snowflake "
        "has no more ids of that time. Choose a scheme of 128 bits; nothing was written."
    )
    assert set(ids(EIGHTH)) == {None}
    assert not BackfillRun.objects.exists()


def test_a_late_row_in_a_full_tick_stops_the_run_and_is_named():
    insert(Tight, [{"id": i, "created_at": START} for i in range(2, 10)])
    planned = build(EIGHTH)
    assert refusal_of(
        run.execute, planned, lambda filled: insert(Tight, [{"id": 1, "created_at": START}])
    ) == (
        "stopped at shop.Tight 1, created at 2024-05-17 09:30:00+00:00: 1 more rows share one tick "
        "of 1000000 ns, and snowflake has room for 0 between their neighbours"
    )
    assert ids(EIGHTH).count(None) == 1


# Sequences


def test_a_sequence_is_used_up_to_its_last_id():
    insert(Tight, [{"created_at": START}] * 10)
    fill("shop.Tight.digit", 3)
    assert ids("shop.Tight.digit") == list("0123456789")


def test_a_sequence_with_text_around_the_number_is_filled():
    insert(Labelled, [{"created_at": START}] * 3)
    fill("shop.Labelled.number", 2)
    assert ids("shop.Labelled.number") == ["INV-000", "INV-001", "INV-002"]


def test_a_sequence_that_counts_in_years_is_refused_before_anything_is_written():
    insert(Labelled, [{"created_at": START}] * 2)
    assert refusal_of(build, "shop.Labelled.yearly") == (
        "shop.Labelled.yearly counts in periods (template='INV-{year}-{number}'), which "
        "backfill_ids can't: assign the numbers in your own code, with take(1, 'default', day)[0] "
        "of the field; nothing was written."
    )
    assert {*ids("shop.Labelled.yearly")} <= {None}
    assert not BackfillRun.objects.exists()
    assert not SequenceCounter.objects.exists()


@pytest.mark.parametrize("model", [Tight, BillLine])
def test_a_number_that_was_typed_beyond_the_counter(model):
    """In a unique column, and in one without an index."""
    name = {Tight: "digit", BillLine: "number"}[model]
    row: dict[str, object] = {Tight: {"created_at": START}, BillLine: {"amount": 0}}[model]
    label = f"{model._meta.label}.{name}"
    insert(model, [row])
    command(label, "--created-at=now")
    insert(model, [row | {name: "3"}])
    insert(model, [row] * 5)
    assert "5 rows filled." in command(label, "--created-at=now", "--batch-size=2")
    assert list(model.objects.order_by("pk").values_list(name, flat=True)) == list("0345678")
