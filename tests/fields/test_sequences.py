"""Lexical sequences: what is counted, where, and by whom at the same time."""

import datetime as dt
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from threading import Barrier
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.exceptions import ImproperlyConfigured
from django.db import (
    IntegrityError,
    OperationalError,
    connection,
    connections,
    models,
    transaction,
)
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_sortable_ids.collisions import RetryOnCollision
from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.fields import times as row_times
from django_sortable_ids.models import SequenceCounter
from django_sortable_ids.schemes import SequenceExhausted
from django_sortable_ids.workers import counters
from tests.backfill.command import ROOT, environment
from tests.marks import own_tables
from tests.own_tables import Own, own_model, with_tables
from tests.patience import PATIENCE
from tests.schemes.test_processes import child_says, needs_fork
from tests.support import on_statement, query
from tests.testapp.models import Order, SequenceKey, SequenceKeyPublic

pytestmark = own_tables
NUMERIC = {"charset": "numeric", "width": 5, "start": "00001"}
YEARLY = {**NUMERIC, "template": "INV-{year}-{number}"}


def numbers(model, count):
    return [model.objects.create().number for _ in range(count)]


@pytest.mark.django_db
def test_start_and_step():
    made = [Order.objects.create().number for _ in range(3)]
    assert made == ["1000", "1007", "1014"]
    counter = SequenceCounter.objects.get(key="testapp_order.number")
    assert (counter.first, counter.step, counter.taken) == ("1000", 7, 3)
    assert str(counter) == "testapp_order.number: 3 from 1000"


@pytest.mark.django_db
def test_each_column_counts_by_itself():
    row = SequenceKeyPublic.objects.create()
    assert (row.public, row.optional) == ("0000", "0000")
    SequenceKeyPublic.objects.create(optional="00AB")
    assert SequenceKeyPublic.objects.create().optional == "0001"
    assert SequenceKeyPublic.objects.create().public == "0003"


@pytest.mark.parametrize("block", [1, 2])
def test_after_numbers_set_by_hand_the_count_continues_after_the_last(sequence, day, block):
    """Also inside a transaction, which reverts the counter if an INSERT fails."""
    model = sequence(**YEARLY, block=block)
    numbers(model, 2)
    for number in ("2026-00003", "2026-00007", "2027-00009"):
        model.objects.create(number=f"INV-{number}")
    with transaction.atomic():
        assert numbers(model, 2) == ["INV-2026-00008", "INV-2026-00009"]
    field = model._meta.get_field("number")
    model.objects.create(number="INV-2026-00011")
    assert field.take(1000, "default")[-1] == "INV-2026-01011"


def test_no_id_without_a_row():
    with pytest.raises(TypeError, match="when rows are inserted"):
        SequenceKey._meta.pk.generate()


@pytest.mark.parametrize("block", [1, 3])
def test_a_width_that_is_used_up_is_refused(sequence, block):
    model = sequence(charset="ab", width=2, block=block)
    assert numbers(model, 4) == ["aa", "ab", "ba", "bb"]
    for _ in range(2):
        with pytest.raises(SequenceExhausted, match=r"has no id number 4 of 2 characters; widen"):
            model.objects.create()
    assert model.objects.count() == SequenceCounter.objects.get().taken == 4


def test_a_width_that_is_used_up_is_widened(sequence):
    model = sequence(charset="ab", width=2, max_length=3)
    assert numbers(model, 4) == ["aa", "ab", "ba", "bb"]
    if connection.vendor != "sqlite":  # which has no lengths
        table, column = (connection.ops.quote_name(name) for name in ("numbered", "number"))
        change = (
            "ALTER COLUMN {} TYPE varchar(3)"
            if connection.vendor == "postgresql"
            else ("MODIFY {} char(3) CHARACTER SET ascii COLLATE ascii_bin")
        )
        query(f"ALTER TABLE {table} {change.format(column)}")
    assert numbers(sequence(charset="ab", width=3), 2) == ["aaa", "aab"]


@pytest.mark.parametrize(
    ("arguments", "given", "following"),
    [
        ({"charset": "numeric", "width": 4}, ["0007", "0012", "0003"], "0013"),
        ({"charset": "numeric"}, ["9", "12", "007"], "008"),
        ({"charset": "numeric", "step": 5, "start": "100"}, ["100", "105"], "110"),
        ({"charset": "alnum"}, ["A", "a", "Z", "z"], "00"),
        ({"charset": "alnum"}, ["zA", "za", "Az"], "zB"),
        ({"charset": "alpha_upper", "ignore_case": True}, ["AB", "AZ"], "BA"),
        ({"charset": "alpha", "ignore_case": True, "width": 2}, ["AB", "AZ"], "BA"),
        # The order of bytes would take the first for the last.
        ({"charset": "alpha_upper", "ignore_case": True}, ["aB", "BA"], "BB"),
        ({"charset": "numeric", "start": "500", "width": 3}, ["007"], "008"),
        ({"charset": "numeric", "width": 3}, [None, "007", None], "008"),
        ({"charset": "numeric", "width": 3}, [None, None], "000"),
        ({"charset": "numeric", "start": "500"}, [], "500"),
        (YEARLY, ["INV-2026-00041", "INV-2026-00007", "INV-2027-00050"], "INV-2026-00042"),
        (YEARLY, ["INV-2025-00041"], "INV-2026-00001"),
        (YEARLY, ["INV-2026-7", "INV-2026-0004x", "X"], "INV-2026-00001"),
        (YEARLY, ["INV-2026-0004x", "INV-2026-00004"], "INV-2026-00005"),
        (NUMERIC | {"template": "A{number}"}, ["A00003", "B00009"], "A00004"),
        (
            {"charset": "alpha", "width": 2, "template": "{year}{number}"},
            ["2026zA", "2026za", "2027zz", "bad"],
            "2026zB",
        ),
    ],
)
def test_a_table_that_has_ids_continues_after_the_last_of_its_period(
    sequence, arguments, given, following, monkeypatch
):
    monkeypatch.setattr(row_times, "today", lambda: dt.date(2026, 12, 31))
    model = sequence(**arguments)
    table, column = (connection.ops.quote_name(name) for name in ("numbered", "number"))
    for value in given:
        query(f"INSERT INTO {table} ({column}) VALUES (%s)", value)
    assert model.objects.create().number == following


@pytest.mark.parametrize("block", [1, 4])
def test_a_changed_step_is_refused(sequence, block):
    model = sequence(charset="numeric", step=5, start="100", block=block)
    assert numbers(model, 2) == ["100", "105"]
    changed = sequence(charset="numeric", step=7, start="100", block=block)
    with pytest.raises(
        ImproperlyConfigured,
        match=r"the sequence numbered\.number has steps of 5, but the field has step=7: restore",
    ):
        changed.objects.create()
    assert changed.objects.count() == 2
    after = {1: "110", 4: "120"}  # a block is reserved, and what is left of it is a gap
    again = sequence(charset="numeric", step=5, start="100")
    assert again.objects.create().number == after[block]


def test_a_second_connection_waits_for_the_first_transaction(sequence):
    """And takes its number again where it rolls back."""
    model = sequence(charset="numeric", width=4)
    model.objects.create()
    taken, asked, seen = threading.Event(), threading.Event(), []

    def note(execute, *statement):
        asked.set()
        return execute(*statement)

    def insert():
        try:
            taken.wait()
            with connection.execute_wrapper(note):
                seen.append(model.objects.create().number)
        finally:
            connection.close()

    other = threading.Thread(target=insert)
    other.start()
    with transaction.atomic():
        assert model.objects.create().number == "0001"
        taken.set()
        assert asked.wait(PATIENCE)
        other.join(0.3)
        assert other.is_alive()
        assert seen == []
        transaction.set_rollback(True)
    other.join()
    assert seen == ["0001"]
    assert model.objects.count() == 2


# Text around the number: one counter for each year or month of the template


MONTHLY = {**NUMERIC, "template": "{year}-{month}-{number}"}


@pytest.fixture
def day(monkeypatch):
    """Sets the present day."""

    def set_day(*numbers):
        monkeypatch.setattr(row_times, "today", lambda: dt.date(*numbers))

    set_day(2026, 12, 31)
    return set_day


@pytest.fixture
def invoices():
    """Makes a model whose number takes its period from ``at``, and its table."""

    def define(at, **options):
        number = LexicalSequenceField(unique=True, created_from="at", **options)
        return own_model("Invoice", Own, RetryOnCollision, number=number, at=at)

    with with_tables(define) as make:
        yield make


def taken_of():
    return dict(SequenceCounter.objects.order_by("key").values_list("key", "taken"))


@pytest.mark.parametrize("block", [1, 3])
def test_literal_text(sequence, block):
    model = sequence(**NUMERIC, template="ORD-{number}", block=block)
    assert numbers(model, 4) == [f"ORD-0000{n}" for n in range(1, 5)]
    assert model.objects.get(number="ORD-00003").number == "ORD-00003"
    assert not model.objects.filter(number="00003").exists()
    assert [*taken_of()] == ["numbered.number"]


@pytest.mark.parametrize("block", [1, 3])
def test_each_year_counts_by_itself(sequence, day, block):
    model = sequence(**YEARLY, block=block)
    assert numbers(model, 2) == ["INV-2026-00001", "INV-2026-00002"]
    day(2027, 1, 1)
    assert numbers(model, 2) == ["INV-2027-00001", "INV-2027-00002"]
    day(2026, 12, 31)
    assert numbers(model, 2) == ["INV-2026-00003", "INV-2026-00004"]
    assert [*taken_of()] == ["numbered.number 2026", "numbered.number 2027"]
    assert list(model.objects.order_by("number").values_list("number", flat=True)) == [
        *(f"INV-2026-0000{n}" for n in range(1, 5)),
        *(f"INV-2027-0000{n}" for n in range(1, 3)),
    ]


def test_each_month_counts_by_itself(sequence, day):
    model = sequence(**MONTHLY)
    assert numbers(model, 2) == ["2026-12-00001", "2026-12-00002"]
    day(2026, 2, 3)
    assert numbers(model, 1) == ["2026-02-00001"]
    assert taken_of() == {"numbered.number 2026-02": 1, "numbered.number 2026-12": 2}


def test_a_year_that_is_used_up_leaves_room_in_the_next(sequence, day):
    model = sequence(**YEARLY | {"start": "99998"})
    assert numbers(model, 2) == ["INV-2026-99998", "INV-2026-99999"]
    with pytest.raises(SequenceExhausted, match="of 5 characters; widen it"):
        model.objects.create()
    day(2027, 1, 1)
    assert numbers(model, 1) == ["INV-2027-99998"]


def test_the_year_of_the_row(invoices, day):
    """``bulk_create`` counts each year in the order of its rows."""
    model = invoices(models.DateTimeField(null=True), **YEARLY)
    times = [dt.datetime(year, 6, 7, tzinfo=dt.UTC) for year in (2019, 2018, 2019)]
    rows = model.objects.bulk_create([*(model(at=at) for at in times), model()])
    assert [row.number for row in rows] == [
        "INV-2019-00001",
        "INV-2018-00001",
        "INV-2019-00002",
        "INV-2026-00001",
    ]
    assert model.objects.create(at=times[0]).number == "INV-2019-00003"


def test_the_counters_of_many_rows_are_locked_in_order_of_time(invoices):
    model = invoices(models.DateTimeField(), **YEARLY)
    times = [dt.datetime(year, 6, 7, tzinfo=dt.UTC) for year in (2019, 2018, 2021, 2020)]
    model.objects.bulk_create(model(at=at) for at in times)
    with CaptureQueriesContext(connection) as queries:
        model.objects.bulk_create(model(at=at) for at in times)
    locked = re.findall(r"UPDATE.* (20[0-9]{2})\b", "\n".join(each["sql"] for each in queries))
    assert locked == ["2018", "2019", "2020", "2021"]


def test_the_time_of_the_row_is_in_the_current_time_zone(invoices, settings):
    model = invoices(models.DateTimeField(), **YEARLY)
    at = dt.datetime(2018, 12, 31, 23, 30, tzinfo=dt.UTC)
    with timezone.override(ZoneInfo("Europe/Berlin")):
        assert model.objects.create(at=at).number == "INV-2019-00001"
        assert model.objects.filter(at__year=2019).exists()
    with timezone.override(dt.UTC):
        assert model.objects.create(at=at).number == "INV-2018-00001"
    settings.USE_TZ, settings.TIME_ZONE = False, "UTC"
    with timezone.override(ZoneInfo("Europe/Berlin")):  # which then means nothing
        assert model.objects.create(at=at.replace(tzinfo=None)).number == "INV-2018-00002"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_date_is_itself_in_every_time_zone(invoices, zone):
    model = invoices(models.DateField(), **MONTHLY)
    with timezone.override(ZoneInfo(zone)):
        assert model.objects.create(at=dt.date(2018, 1, 1)).number == "2018-01-00001"
        assert model.objects.create(at="2018-12-31").number == "2018-12-00001"


@time_machine.travel("2026-12-31T23:30Z")
def test_today_is_in_the_current_time_zone(sequence):
    model = sequence(**YEARLY)
    for zone, year in (("UTC", 2026), ("Europe/Berlin", 2027)):
        with timezone.override(ZoneInfo(zone)):
            assert numbers(model, 1) == [f"INV-{year}-00001"]


# Numbers that are reserved in blocks: never a repeat, gaps where something ends


SIX_DIGITS = {"charset": "numeric", "width": 6}
one_writer = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="inside a transaction, SQLite counts as with block=1"
)


def taken():
    return SequenceCounter.objects.get().taken


def roll_back_after(model, count):
    """The numbers of ``count`` rows in a transaction that rolls back."""
    made = []
    with suppress(IntegrityError), transaction.atomic():
        made += numbers(model, count)
        raise IntegrityError
    return made


def deadlock():
    raise OperationalError(1213, "Deadlock found when trying to get lock")


@pytest.mark.django_db(transaction=True)
def test_a_deadlock_in_autocommit_is_tried_again(sequence):
    """The transaction is the field's own; MySQL's REPEATABLE READ has deadlocks at first rows."""
    model = sequence(**SIX_DIGITS)
    with on_statement("^UPDATE.*sequencecounter", deadlock, once=True) as met:
        row = model.objects.create()
    assert (len(met), row.number) == (1, model.objects.get().number)


def test_a_deadlock_stays_what_it_is(sequence):
    """The transaction can't be asked for a table: whoever retries has to see the error."""
    model = sequence(**SIX_DIGITS)
    refused = pytest.raises(OperationalError, match="Deadlock")
    met = on_statement("sequencecounter|^ROLLBACK TO", deadlock)
    with refused, met, transaction.atomic():
        model.objects.create()


def test_a_database_without_the_table_of_counters(sequence):
    model = sequence(**SIX_DIGITS)
    with connection.schema_editor() as editor:
        editor.delete_model(SequenceCounter)
    try:
        for insert in (model.objects.create, transaction.atomic(model.objects.create)):
            with pytest.raises(ImproperlyConfigured, match=r"has no table .*_sequencecounter"):
                insert()
    finally:
        with connection.schema_editor() as editor:
            editor.create_model(SequenceCounter)


def test_a_block_is_reserved_at_once(sequence):
    model = sequence(**SIX_DIGITS, block=5)
    assert numbers(model, 1) == ["000000"]
    assert taken() == 5
    with_memory = numbers(model, 5)
    assert with_memory == [f"00000{n}" for n in range(1, 6)]
    assert taken() == 10


def test_more_than_a_block(sequence):
    field = sequence(**SIX_DIGITS, block=5)._meta.get_field("number")
    assert field.take(1, "default") == ["000000"]
    assert field.take(11, "default") == [f"{n:06}" for n in range(1, 12)]
    assert field.take(0, "default") == []
    assert taken() == 12


def test_a_block_that_a_rollback_reserved_is_not_given_twice(sequence):
    """The process continues with it, and so must all others after it."""
    model = sequence(**SIX_DIGITS, block=5)
    roll_back_after(model, 2)
    ours = numbers(model, 2)
    counters.drop_blocks()  # as another process would begin
    assert not {*ours} & {*numbers(model, 7)}


@one_writer
def test_a_project_that_commits_by_itself_keeps_its_blocks(sequence, monkeypatch):
    field = sequence(**SIX_DIGITS, block=5)._meta.get_field("number")
    monkeypatch.setitem(connection.settings_dict, "AUTOCOMMIT", False)
    connection.set_autocommit(False)
    try:
        assert field.take(1, "default") == ["000000"]
    finally:
        connection.rollback()
        connection.set_autocommit(True)
    assert taken() == 5


@one_writer
def test_others_do_not_wait_for_an_open_transaction(sequence):
    model = sequence(**SIX_DIGITS, block=2)
    callers = connection.connection

    def insert():
        try:
            return numbers(model, 3)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        assert numbers(model, 1) == ["000000"]
        assert pool.submit(insert).result(PATIENCE) == ["000001", "000002", "000003"]
        assert connection.connection is callers or callers is None
    assert numbers(model, 1) == ["000004"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the others have no pools")
def test_a_transaction_with_the_last_connection_of_a_pool(sequence):
    model = sequence(**SIX_DIGITS, block=2)
    usual, pooled = connections["default"], connection.copy()
    pooled.settings_dict["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 1, "timeout": 5}
    connections["default"] = pooled
    try:
        with transaction.atomic():
            assert numbers(model, 3) == ["000000", "000001", "000002"]
    finally:
        connections["default"] = usual
        pooled.close()
        pooled.close_pool()


def test_threads_take_turns(sequence):
    """What one of them takes is not mixed with what another takes at the same time."""
    field = sequence(**SIX_DIGITS, block=81_000)._meta.get_field("number")
    field.take(1000, "default")

    together = Barrier(8)

    def take_runs(_):
        connection.ensure_connection()
        together.wait()
        try:
            return [field.take(500, "default") for _ in range(20)]
        finally:
            connection.close()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            runs = list(chain(*pool.map(take_runs, range(8))))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(int(run[0]) for run in runs) == list(range(1000, 81_000, 500))
    assert all(int(run[-1]) == int(run[0]) + 499 for run in runs)


@needs_fork
def test_a_forked_child_does_not_go_on_with_its_parents_block(sequence):
    field = sequence(**SIX_DIGITS, block=9)._meta.get_field("number")
    assert field.take(1, "default") == ["000000"]
    connections.close_all()
    child = child_says(lambda: field.take(3, "default"))
    assert child == ["000009", "000010", "000011"]
    assert field.take(3, "default") == ["000001", "000002", "000003"]


def test_processes_that_are_killed(sequence):
    """Some with -9, in the middle of a block: what they had left is a gap."""
    model = sequence(**SIX_DIGITS, block=7)
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.fields.inserting", str(rows)],
            cwd=ROOT,
            env={**os.environ, **environment({"INSTALLED_APPS": ["django_sortable_ids"]})},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rows in (60, 1_000_000, 60, 1_000_000)
    ]
    said = []
    for process in processes[1::2]:
        said += [process.stdout.readline().strip() for _ in range(20)]
        process.kill()
    for process in processes:
        with process.stdout:
            said += process.stdout.read().split()
        process.wait()
    said += numbers(model, 20)
    assert len({*said}) == len(said) >= 180
    kept = set(model.objects.values_list("number", flat=True))
    assert {*said} <= kept
    assert taken() - len(kept) < 7 * 5
