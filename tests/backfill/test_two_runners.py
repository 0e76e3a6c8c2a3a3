"""Two processes on one column: one of them stops, and nothing is lost."""

import pytest

from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.errors import BackfillError

from .support import (
    START,
    build,
    elsewhere,
    fill,
    insert_orders,
    is_strict,
    saved_run,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

REFUSAL = (
    "another process fills {label}, and one is enough: this one stops. Every batch of both is whole"
)


def assert_right(name, count):
    assert is_strict(name)
    assert saved_run(name).rows_filled == count
    assert saved_run(name).finished_at is not None


@pytest.mark.parametrize("name", ["uuid7", "reversed_kuuid", "time64", "number"])
def test_who_is_overtaken_stops(name):
    insert_orders([START] * 20)
    calls = []

    def overtake(filled):
        calls.append(filled)
        if len(calls) == 2:
            elsewhere(lambda: fill(name, 5))

    with pytest.raises(BackfillError) as caught:
        fill(name, 3, overtake)
    assert str(caught.value) == REFUSAL.format(label=f"testapp.Order.{name}")
    assert calls == [3, 3]
    assert_right(name, 20)


@pytest.mark.parametrize("name", ["uuid7", "reversed_kuuid", "time64", "number"])
def test_who_comes_second_with_a_plan_from_before_is_refused(name):
    insert_orders([START] * 20)
    late = build(name, 7)

    def come(filled):
        with pytest.raises(BackfillError) as caught:
            elsewhere(lambda: run.execute(late))
        assert str(caught.value) == REFUSAL.format(label=f"testapp.Order.{name}")

    assert fill(name, 5, come).filled == 20
    assert_right(name, 20)


def test_who_comes_second_on_a_run_that_was_stopped_is_refused():
    insert_orders([START] * 20)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 5, lambda filled: 1 // 0)
    late = build("uuid7", 7)
    refused = []

    def come(filled):
        with pytest.raises(BackfillError):
            elsewhere(lambda: run.execute(late))
        refused.append(filled)

    assert fill("uuid7", 5, come).filled == 15
    assert refused == [5, 5, 5]
    assert_right("uuid7", 20)


def test_a_plan_from_before_the_last_run_ended_is_refused():
    insert_orders([START] * 6)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 2, lambda filled: 1 // 0)
    late = build("uuid7")
    fill("uuid7")
    with pytest.raises(BackfillError):
        run.execute(late)
    assert_right("uuid7", 6)


def test_two_commands_at_once(command):
    """One stops, or has to wait for a lock until the other has done all the work."""
    insert_orders([START] * 1500)
    arguments = "testapp.Order.uuid7", "--created-from=created_at", "--batch-size=2"
    outputs = {each.output(): each.code for each in [command(*arguments), command(*arguments)]}
    refused = [text.splitlines()[-1] for text, code in outputs.items() if code]
    assert len(refused) < 2, outputs
    for line in refused:
        assert line == "BackfillError: " + REFUSAL.format(label="testapp.Order.uuid7")
    assert is_strict("uuid7")
    assert saved_run("uuid7").finished_at is not None
