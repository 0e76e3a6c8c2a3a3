"""Lexical sequences: what is counted, where, and by whom at the same time."""

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Length

from django_sortable_ids.fields import times as row_times
from django_sortable_ids.models import SequenceCounter
from django_sortable_ids.schemes import SequenceExhausted
from tests.marks import own_tables
from tests.patience import PATIENCE
from tests.testapp.models import Order, SequenceKey, SequenceKeyPublic

NUMERIC = {"charset": "numeric", "width": 5, "start": "00001"}
YEARLY = {**NUMERIC, "template": "INV-{year}-{number}"}


def numbers(model, count):
    return [model.objects.create().number for _ in range(count)]


@pytest.mark.django_db
def test_keys_count_from_the_first_id():
    assert [SequenceKey.objects.create().pk for _ in range(3)] == ["0000", "0001", "0002"]
    made = SequenceKey.objects.bulk_create([SequenceKey(), SequenceKey()])
    assert [row.pk for row in made] == ["0003", "0004"]
    assert list(SequenceKey.objects.order_by("pk").values_list("pk", flat=True)) == [
        f"000{n}" for n in range(5)
    ]


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


@pytest.mark.django_db
def test_numbers_of_a_transaction_that_rolls_back_are_given_out_again():
    SequenceKey.objects.create()

    def fail():
        with transaction.atomic():
            assert SequenceKey.objects.create().pk == "0001"
            raise IntegrityError

    with pytest.raises(IntegrityError):
        fail()
    assert SequenceKey.objects.create().pk == "0001"
    assert SequenceKey.objects.count() == 2


@pytest.mark.django_db
def test_an_id_that_was_given_by_hand_is_in_the_way_and_says_so():
    SequenceKey.objects.create()
    SequenceKey.objects.create(pk="0001", name="by hand")
    with pytest.raises(IntegrityError), transaction.atomic():
        SequenceKey(name="counted").save()
    assert SequenceKey.objects.get(pk="0001").name == "by hand"


def test_no_id_without_a_row():
    with pytest.raises(TypeError, match="when rows are inserted"):
        SequenceKey._meta.pk.generate()


@own_tables
def test_ids_grow_longer(sequence):
    model = sequence(charset="numeric", start="8")
    assert numbers(model, 4) == ["8", "9", "00", "01"]
    ordered = model.objects.order_by(Length("number"), "number")
    assert list(ordered.values_list("number", flat=True)) == ["8", "9", "00", "01"]


@own_tables
@pytest.mark.parametrize("block", [1, 3])
def test_a_width_that_is_used_up_is_refused(sequence, block):
    model = sequence(charset="ab", width=2, block=block)
    assert numbers(model, 4) == ["aa", "ab", "ba", "bb"]
    for _ in range(2):
        with pytest.raises(SequenceExhausted, match=r"has no id number 4 of 2 characters; widen"):
            model.objects.create()
    assert model.objects.count() == SequenceCounter.objects.get().taken == 4


@own_tables
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
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} {change.format(column)}")
    assert numbers(sequence(charset="ab", width=3), 2) == ["aaa", "aab"]


@own_tables
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
    with connection.cursor() as cursor:
        for value in given:
            cursor.execute(f"INSERT INTO {table} ({column}) VALUES (%s)", [value])
    assert model.objects.create().number == following


@own_tables
def test_a_renamed_table_continues_after_the_last(sequence):
    model = sequence(charset="numeric", width=3)
    numbers(model, 3)
    SequenceCounter.objects.update(key="old_name.number")
    assert model.objects.create().number == "003"


@own_tables
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


@own_tables
def test_several_connections_at_once(sequence):
    """No number twice, none left out."""
    model = sequence(charset="numeric", width=4)
    workers, each = 4, 25
    together = threading.Barrier(workers)

    def insert(_):
        try:
            together.wait()
            return [model.objects.create().number for _ in range(each)]
        finally:
            connection.close()

    with ThreadPoolExecutor(workers) as pool:
        made = [number for some in pool.map(insert, range(workers)) for number in some]
    assert sorted(made) == [f"{n:04}" for n in range(workers * each)]
    assert model.objects.count() == workers * each


@own_tables
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
