"""What a run promises, for every source of its times: it may stop, rows may come late, and what is
wrong afterwards is found."""

import re
from dataclasses import replace

import pytest

from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.sources.find import ARGUMENTS, given_by
from django_sortable_ids.models import BackfillRun, SequenceCounter

from .command import called, printed
from .sources import CASES
from .support import Stop, after_batch, saved_run, stop_after

FIRST, LATE, LATER = range(20, 620, 20), range(30, 630, 40), range(35, 635, 50)

each_source = pytest.mark.parametrize("source", CASES.values(), ids=CASES)


def shifted(source, keys):
    return [key + source.apart - 1 for key in keys]


def assert_in_order(source):
    """The ids that there are; rows with no time of their own are in the order of the runs."""
    given, expected = source.given_keys(), source.in_order()
    if source.policies:
        expected = [key for key in expected if key in FIRST]
    assert [key for key in given if key in expected] == [key for key in expected if key in given]


@pytest.mark.django_db
@each_source
def test_a_run_stores_what_names_its_source(source):
    source.insert(FIRST)
    target = source.plan(4).target
    given = given_by(target.options)
    assert given.keys() == source.given.keys() <= ARGUMENTS.keys()
    command = target.command.split()
    assert [each for each in command if each.startswith("--")][: len(given)] == [
        f"--{name.replace('_', '-')}" for name in given
    ]
    assert type(replace(source, given=given).plan(4).target.source) is type(target.source)


@pytest.mark.django_db
@each_source
def test_ids_are_in_order_though_it_stops_and_rows_come_late(source):
    source.insert(FIRST)
    printed(source.label, *source.options, "--dry-run")
    assert source.given_keys() == []
    assert not BackfillRun.objects.exists()
    assert not SequenceCounter.objects.exists()

    with pytest.raises(Stop):
        run.execute(source.plan(4), stop_after(2))
    before = {key: value for key, value in source.ids().items() if value is not None}
    assert len(before) == saved_run(source.label).rows_filled == 8

    # Rows with no time of their own that come late are left to the next run.
    late = [] if source.policies else shifted(source, LATE)
    result = run.execute(source.plan(5), after_batch(1, lambda: late and source.insert(late)))
    assert (result.filled, result.remaining) == (len(FIRST) + len(late) - 8, 0)
    assert source.given_keys() == source.in_order()
    assert source.wrong() == []
    assert before.items() <= source.ids().items()

    source.insert(shifted(source, [key + 1000 for key in LATER]))
    result = run.execute(source.plan(100))
    assert (result.filled, result.remaining) == (len(LATER), 0)
    assert_in_order(source)
    count = len(source.in_order())
    lines = printed(source.label, "--verify").splitlines()
    assert lines[0] == f"{count} rows, {count} with an id"
    assert lines[-1 if source.policies else 1].startswith("all different")


ALIKE = {
    *("a column, 64 bits", "a day of a related row", "old ids of 64 bits", "old ids of seconds"),
    *("old ids as text", "old ids, bit for bit, in order"),
}
"""Sources that verify reads as it reads another one of these."""
TOLD_APART = {name: source for name, source in CASES.items() if name not in ALIKE}


@pytest.mark.django_db
@pytest.mark.parametrize("source", TOLD_APART.values(), ids=TOLD_APART)
def test_verify_finds_exchanged_and_missing_ids(source):
    source.insert(FIRST)
    printed(source.label, *source.options)
    one, other = source.in_order()[1:3]
    ids = source.ids()
    if not source.policies:  # whose rows have no times to compare with
        for key, value in ((one, None), (other, ids[one]), (one, ids[other])):
            source.rows().filter(pk=key).update(**{source.name: value})
        text, error = called(source.label, "--verify")
        assert re.search("another time|out of order|not converted", f"{text} {error}")
    source.rows().filter(pk=other).update(**{source.name: None})
    assert "1 row without an id" in str(called(source.label, "--verify")[1])
