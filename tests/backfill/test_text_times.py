"""SQLite compares texts: times that are spelled in one way, in several, and in no readable one."""

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from django_sortable_ids.backfill import plan
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.schemes import get
from tests.combinations import each_with
from tests.support import query
from tests.testapp.models import Order

from .support import START, ascends, build, fill, find, insert_orders

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="a server has real times"),
]

EAST, WEST = timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-4))


def _thousandths(at):
    """As SQLite's strftime('%Y-%m-%d %H:%M:%f')."""
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"


SPELLINGS = {
    "Django": lambda at: str(at.replace(tzinfo=None)),
    "strftime": _thousandths,
    "tenths": lambda at: f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 100_000}",
    "microseconds": lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}",
    "seconds": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
}
"""Of a time without a zone, with any number of digits: these may be mixed."""
OTHERS = {
    "isoformat": lambda at: at.replace(tzinfo=None).isoformat(),
    "aware": lambda at: at.isoformat(),
    "east": lambda at: at.astimezone(EAST).isoformat(" "),
    "west": lambda at: at.astimezone(WEST).isoformat(" "),
    "JavaScript": lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z",
    "seconds Z": lambda at: f"{at:%Y-%m-%d %H:%M:%SZ}",
    "microseconds Z": lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}Z",
    "nanoseconds": lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}789",
    "minutes": lambda at: f"{at:%Y-%m-%d %H:%M}",
    "day": lambda at: f"{at:%Y-%m-%d}",
    "comma": lambda at: f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond:06}",
}
SQL_CANT = {
    "one digit": lambda at: f"{at.year}-{at.month}-{at.day} {at.hour}:{at:%M:%S}",
    "basic": lambda at: f"{at:%Y%m%dT%H%M%S}",
}
NOT_TIMES = ["yesterday", 1714550400, 2460431.5, b"x", "2024-05-17 09:30:00+25:00"]
IMPOSSIBLE = [
    "2023-02-29 08:00:00.123456",
    "2024-05-17 24:00:00",
    "2024-05-17 08:60:00",
    "2024-05-17 08:00:60",
    "0000-01-01 00:00:00",
    "2024-02-30",
    "2024-05-17T24:00",
    "2024-02-30T08:00:00.123Z",
]


def keep(text, pk):
    query("UPDATE testapp_order SET created_at = %s WHERE id = %s", text, pk)


def respell(*spellings):
    """Give rows these spellings in turn."""
    rows = list(Order.objects.order_by("pk").values_list("pk", "created_at"))
    for number, (pk, at) in enumerate(rows):
        keep(spellings[number % len(spellings)](at), pk)


def as_django_reads():
    return dict(Order.objects.values_list("pk", "created_at"))


def ties(count=60):
    """Five rows a time, 13 ms apart."""
    insert_orders([START + i // 5 * timedelta(milliseconds=13) for i in range(count)])


def assert_right(name):
    """The ids are of the times that Django reads, strictly in the order of (time, key), as the
    database sorts them."""
    found = Order.objects.order_by("created_at", "pk").values_list("created_at", "pk", name)
    scheme = get(name)
    assert all(scheme.parts(value)[0] == scheme.tick(at) for at, _, value in found)
    assert [at for at, _, _ in found] == sorted(at for at, _, _ in found)
    assert ascends([value.int for _, _, value in found])


MIXED = {**{name: (spelling,) for name, spelling in SPELLINGS.items()}, "all": SPELLINGS.values()}


@pytest.mark.parametrize(("spelling", "size"), each_with([*MIXED], [1, 7, 5000]))
def test_times_of_any_number_of_digits_are_ordered(spelling, size):
    ties()
    respell(*MIXED[spelling])
    assert fill("uuid7", size).filled == 60
    assert_right("uuid7")
    found = verify(find("uuid7"))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 60)


@pytest.mark.parametrize(
    "names",
    [
        *(("Django", name) for name in OTHERS | SQL_CANT),
        ("Django", "JavaScript", "east", "nanoseconds", "minutes", "day", "comma"),
    ],
)
def test_other_times_are_refused_with_the_code_that_saves_them_again(names, monkeypatch):
    # save() would set it to now.
    monkeypatch.setattr(Order._meta.get_field("created_at"), "auto_now", True)
    ties(35)
    known = SPELLINGS | OTHERS | SQL_CANT
    respell(*(known[name] for name in names))
    before = as_django_reads()
    with pytest.raises(BackfillError, match=r"don't sort by time.*nothing was written") as caught:
        build("uuid7")
    assert "not spelled as Django spells it" in verify(find("uuid7")).notes[0]
    advice = re.search(r"for row in Order.*?\)(?=`)", str(caught.value))[0]
    exec(advice, {"Order": Order})
    assert as_django_reads() == before
    fill("uuid7", 20)
    assert_right("uuid7")


@pytest.mark.parametrize("value", NOT_TIMES)
def test_what_is_no_time_is_refused(value):
    insert_orders([START, START])
    keep(value, Order.objects.last().pk)
    with pytest.raises(BackfillError, match="is no possible time"):
        fill("uuid7")
    assert not Order.objects.filter(uuid7__isnull=False).exists()


@pytest.mark.parametrize(("text", "policy"), each_with(IMPOSSIBLE, ["error", "skip"]))
def test_an_impossible_time_is_refused_with_its_row(text, policy):
    ties(40)
    keys = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    for pk in keys[20:22]:
        keep(text, pk)
    target = replace(find("uuid7"), on_out_of_range=policy)
    with pytest.raises(BackfillError) as caught:
        plan.build(target, 7)
    message = str(caught.value)
    assert message.startswith(
        f"testapp.Order {keys[20]} (and 1 other row) has the created_at {text!r}, which is no "
        f"possible time"
    )
    select = re.search(r"SELECT .*(?=\. Correct what is no time)", message)[0]
    assert sorted(query(select.replace("*", "id", 1))) == [(pk,) for pk in keys[20:22]]


@settings(max_examples=60)
@given(day=st.tuples(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32)))
def test_sqlite_and_python_agree_on_days(day):
    text = "{:04}-{:02}-{:02} 08:00:00".format(*day)
    try:
        datetime.fromisoformat(text)
        is_time = True
    except ValueError:
        is_time = False
    query("DELETE FROM testapp_order")
    insert_orders([START])
    keep(text, Order.objects.get().pk)
    assert is_time == (verify(find("uuid7")).notes == [])
