"""Rows without a time and rows whose time the scheme can't hold: refused, left, or filled."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from .support import (
    FIELDS,
    SECOND,
    START,
    TIMED,
    ascends,
    field_of,
    ids,
    insert_orders,
    is_strict,
    label,
    ranks,
    rows,
)

pytestmark = pytest.mark.django_db


def command(name, **options):
    out = StringIO()
    call_command("backfill_ids", label(name), created_from="created_at", stdout=out, **options)
    return out.getvalue().splitlines()


def rank_of(name, value):
    scheme = field_of(name).scheme
    return (-1 if getattr(scheme, "descending", False) else 1) * scheme.to_int(value)


def by_key(name):
    """Ranks in the order of keys, None without an id."""
    values = rows(name).order_by("pk").values_list(field_of(name).name, flat=True)
    return [None if value is None else rank_of(name, value) for value in values]


@pytest.mark.parametrize("name", FIELDS)
def test_rows_without_a_time_are_left(name):
    insert_orders([START, None, START, None])
    assert "2 rows filled." in command(name, on_null="skip")
    assert [value is None for value in by_key(name)] == [False, True, False, True]
    assert command(name, on_null="skip", verify=True)[:2] == [
        "4 rows, 2 with an id",
        "2 rows were skipped: they have no time, or one out of range",
    ]
    with pytest.raises(CommandError, match=r": 2 rows have no id$"):
        command(name, verify=True)


@pytest.mark.parametrize("name", FIELDS)
def test_rows_without_a_time_get_ids_of_now(name):
    insert_orders([None, START, None, START, None])
    before = datetime.now(UTC)
    assert "5 rows filled." in command(name, on_null="now", batch_size=2)
    first, *others = (by_key(name)[i] for i in (1, 3, 0, 2, 4))
    assert ascends([first, *others])
    if name in TIMED:
        made = field_of(name).scheme.created_at(
            rows(name).get(pk=rows(name).order_by("pk")[4].pk).__dict__[name]
        )
        assert made >= before - 2 * SECOND
    command(name, verify=True)


def test_ids_of_now_are_given_once():
    insert_orders([None, START])
    with pytest.raises(CommandError, match=r": 2 rows have no id$"):
        command("uuid7", on_null="now", verify=True)
    command("uuid7", on_null="now")
    given = ids("uuid7")
    assert "0 rows filled." in command("uuid7", on_null="now")
    assert ids("uuid7") == given


def test_a_verification_tells_the_ids_of_now_from_edited_times():
    insert_orders([None, None, START, START + SECOND, START + 2 * SECOND])
    command("uuid7", on_null="now")
    edited = rows("uuid7").filter(created_at=START)
    edited.update(created_at=START - SECOND)
    lines = command("uuid7", verify=True)
    assert lines[1] == (
        "2 ids are of rows without a time, or with one out of range: made by --on-null=now, "
        "--on-out-of-range=clamp or the application"
    )
    assert lines[2].startswith("1 ids are of another time than their row: ")
    assert lines[3] == "all different, strictly in order"


@pytest.mark.parametrize("policy", [{"on_null": "now"}, {"on_out_of_range": "clamp"}])
def test_the_plan_counts_the_rows_that_a_policy_fills(policy):
    insert_orders([None if "on_null" in policy else OLD] * 3 + [START] * 2)
    lines = command("snowflake", dry_run=True, **policy)
    assert "  5 rows without an id, up to 5,000 in a transaction" in lines


OLD, NEW = datetime(2005, 1, 1, tzinfo=UTC), datetime(2150, 1, 1, tzinfo=UTC)


def test_rows_out_of_range_are_left():
    insert_orders([OLD, START, NEW, START])
    assert "2 rows filled." in command("snowflake", on_out_of_range="skip")
    assert [value is None for value in by_key("snowflake")] == [True, False, True, False]
    assert command("snowflake", on_out_of_range="skip", verify=True)[0] == "4 rows, 2 with an id"
    with pytest.raises(CommandError, match=r": 2 rows have no id$"):
        command("snowflake", verify=True)


def test_rows_out_of_range_take_the_nearest_time():
    """In their own order too, and around those that have an id of that very tick."""
    scheme = field_of("snowflake").scheme
    times = [OLD + i // 2 * SECOND for i in range(5)]
    times += [scheme.earliest, START, scheme.latest]
    times += [NEW + i // 2 * SECOND for i in range(5)]
    insert_orders(times[::-1])
    assert "13 rows filled." in command("snowflake", on_out_of_range="clamp", batch_size=2)
    assert is_strict("snowflake")
    ticks = [scheme.parts(value)[0] for value in ids("snowflake")]
    first, last = scheme.tick(scheme.earliest), scheme.tick(scheme.latest)
    assert ticks == [first] * 6 + [scheme.tick(START)] + [last] * 6
    assert (
        "10 ids are of rows without a time, or with one out of range"
        in command("snowflake", verify=True)[1]
    )


def test_rows_out_of_range_that_have_an_id_are_nobodys_neighbours():
    """The user gave it to them, as the refusal says."""
    insert_orders([OLD, START, START + SECOND, START + 2 * SECOND, NEW])
    made = field_of("snowflake").scheme.generate_many(2, START)
    for at, given in zip((OLD, NEW), made, strict=True):
        rows("snowflake").filter(created_at=at).update(snowflake=given)
    assert "3 rows filled." in command("snowflake", batch_size=4)


def test_the_end_of_the_calendar_is_near_enough():
    insert_orders([START, datetime.max.replace(tzinfo=UTC)])
    command("uuid7", on_out_of_range="clamp")
    assert ascends(ranks("uuid7"))


@pytest.mark.parametrize("policy", ["on_null", "on_out_of_range"])
def test_each_policy_is_for_its_own_rows(policy):
    insert_orders([OLD, None, START])
    with pytest.raises(CommandError, match="too old" if policy == "on_null" else "no created_at"):
        command("snowflake", **{policy: "skip"})
    assert ids("snowflake") == [None] * 3


def test_both_at_once():
    insert_orders([OLD, None, START])
    assert "3 rows filled." in command("snowflake", on_null="now", on_out_of_range="clamp")


def test_the_next_command_has_them():
    insert_orders([START])
    lines = command("uuid7", on_null="skip", on_out_of_range="clamp")
    assert lines[-1] == (
        "Next: manage.py backfill_ids testapp.Order.uuid7 --created-from created_at "
        "--on-null=skip --on-out-of-range=clamp --verify"
    )


@pytest.mark.parametrize("option", ["--on-null=clamp", "--on-out-of-range=now"])
def test_what_is_no_policy(option):
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("backfill_ids", label("uuid7"), option)
