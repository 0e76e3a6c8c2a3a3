"""Creation times in a related row, and days."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, models

from django_sortable_ids.backfill import pending_rows as reading
from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.find import find
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.models import BackfillRun
from tests.support import query

from .shop.models import Bill, BillLine, Document, Invoice
from .support import KEY, START, concurrently, insert, legacy_table, refusal
from .support import command as call

pytestmark = pytest.mark.django_db

NAME = "shop.BillLine.public_id"
ISSUED = "bill__issued_at"


def bills(count, step=timedelta(seconds=1)):
    """In the order of time the later keys come first."""
    made = [Bill(id=n, issued_at=START - n * step) for n in range(1, count + 1)]
    Bill.objects.bulk_create(made)
    return made


def lines(count, of, **same):
    """Lines of bills, in turn."""
    insert(
        BillLine,
        [{"id": n, "bill": of[n % len(of)].pk, "amount": 0, **same} for n in range(1, count + 1)],
    )


def filled(field="public_id"):
    """Keys in the order of the ids, and ids."""
    return list(BillLine.objects.exclude(**{field: None}).order_by(field).values_list("pk", field))


def milliseconds(value):
    return value.int >> 80


def expected(source=ISSUED):
    return list(BillLine.objects.order_by(source, "pk").values_list("pk", source))


def test_several_steps_and_the_table_of_a_parent():
    made = bills(2)
    insert(Document, [{"id": n, "created_at": START + n * timedelta(hours=1)} for n in (1, 2)])
    insert(Invoice, [{"document_ptr": n} for n in (1, 2)])
    lines(2, made)
    BillLine.objects.filter(pk=1).update(before=2, invoice=2)
    BillLine.objects.filter(pk=2).update(before=1, invoice=1)
    for path in ("before__bill__issued_at", "invoice__created_at"):
        BillLine.objects.update(public_id=None)
        BackfillRun.objects.all().delete()
        call(NAME, f"--created-from={path}", "--batch-size=1")
        assert [milliseconds(value) for _, value in filled()] == [
            int(at.timestamp() * 1000) for _, at in expected(path)
        ]
        assert [pk for pk, _ in filled()] == [pk for pk, _ in expected(path)]


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("policy", ["error", "skip", "now"])
def test_rows_whose_related_row_is_gone_or_has_no_time_have_none(policy):
    """Django's inner join leaves them out, as their foreign key is never NULL."""
    uid = UUIDv7Field(null=True)
    with legacy_table(
        "Odd",
        "odd",
        f"id {KEY[connection.vendor]}, bill_id bigint NOT NULL, uid {uid.db_type(connection)}",
        [(1, 1), (2, 99), (3, 1), (4, 2)],
        "id, bill_id",
        id=models.BigIntegerField(primary_key=True),
        bill=models.ForeignKey(Bill, models.CASCADE, db_constraint=False),
        uid=uid,
    ) as model:
        bills(2)
        Bill.objects.filter(pk=2).update(issued_at=None)
        name, source = "shop.Odd.uid", f"--created-from={ISSUED}"
        if policy == "error":
            assert refusal(name, source) == (
                "shop.Odd 2 (and 1 other row) has no bill__issued_at. Give it one, or choose "
                "--on-null, or give it an id yourself; nothing was written."
            )
            assert not model.objects.exclude(uid=None).exists()
            return
        count = 2 if policy == "skip" else 4
        assert f"{count} rows filled." in call(name, source, f"--on-null={policy}")
        assert model.objects.exclude(uid=None).count() == count
        assert call(name, "--verify")[0] == f"4 rows, {count} with an id"
        model.objects.filter(pk__in=[2, 4]).update(uid=None)
        BackfillRun.objects.all().delete()
        assert "2 rows without an id" in refusal(name, source, "--verify")


@pytest.mark.parametrize(("size", "page"), [(1, 5), (3, 2), (3, 1000), (8, 5)])
def test_a_tick_is_filled_to_its_last_id(monkeypatch, page, size):
    monkeypatch.setattr(reading, "SORTED_AT_ONCE", page)
    lines(16, bills(2))
    name = "shop.BillLine.eighth"
    printed = call(name, f"--created-from={ISSUED}", f"--batch-size={size}")
    assert printed[0] == f"{name}: snowflake of {ISSUED}"
    assert "the rows are sorted by (bill__issued_at, pk) once for each" in printed[1]
    assert [pk for pk, _ in filled("eighth")] == [pk for pk, _ in expected()]


@pytest.mark.usefixtures("transactional_db")
def test_rows_and_bills_that_change_while_it_runs():
    made = bills(5)
    lines(40, made)

    def change():
        Bill.objects.filter(pk=2).update(issued_at=START + timedelta(days=1))
        BillLine.objects.filter(pk__in=[5, 10]).delete()
        insert(BillLine, [{"id": 90 + n, "bill": made[n].pk, "amount": 0} for n in range(5)])

    target = find(NAME, {"created_from": ISSUED}, None)
    result = run.execute(plan.build(target, 4), concurrently(3, change))
    assert result.remaining == 0
    assert not BillLine.objects.filter(public_id=None).exists()
    assert "rows, 43 with an id" in call(NAME, "--verify")[0]


MISTAKES = {
    "nope__issued_at": (
        "--created-from nope__issued_at: shop.BillLine has no field 'nope'; its relations: "
        "bill, before, invoice"
    ),
    "bill__nope": (
        "shop.Bill has no DateTimeField or DateField 'nope'; it has issued_at, day. Without one, "
    ),
    "amount__day": (
        "--created-from amount__day: shop.BillLine.amount leads to no other row, or to many: use "
        "a ForeignKey or a OneToOneField"
    ),
    "billline__day": (
        "--created-from billline__day: shop.BillLine.billline leads to no other row, or to many: "
        "use a ForeignKey or a OneToOneField"
    ),
}


@pytest.mark.parametrize(("path", "message"), MISTAKES.items(), ids=MISTAKES)
def test_what_is_no_path(path, message):
    for options in [(), ("--dry-run",), ("--verify",)]:
        assert refusal(NAME, f"--created-from={path}", *options).startswith(message)


# Days


DAYS = [
    date(2024, 3, 9),
    date(2024, 3, 10),
    date(2024, 3, 11),
    date(2024, 11, 3),
    date(2024, 11, 4),
]
"""With both changes of the clock in New York."""


@pytest.mark.parametrize(
    ("zone", "use_tz"),
    [
        ("America/New_York", True),
        ("America/New_York", False),
        ("UTC", True),
        ("America/Santiago", False),
    ],
)
def test_a_day_begins_at_midnight_in_the_time_zone(settings, zone, use_tz):
    settings.TIME_ZONE, settings.USE_TZ = zone, use_tz
    days = [*DAYS, date(2024, 9, 8)]  # which has no midnight in Santiago
    insert(BillLine, [{"amount": 0, "day": days[n % 6]} for n in range(30)])
    printed = call(NAME, "--created-from=day", "--batch-size=4")
    assert printed[0] == f"{NAME}: UUIDv7 of day, midnight in {zone}"
    wanted = expected("day")
    assert [pk for pk, _ in filled()] == [pk for pk, _ in wanted]
    begins = [datetime(at.year, at.month, at.day, tzinfo=ZoneInfo(zone)) for _, at in wanted]
    assert [milliseconds(value) for _, value in filled()] == [
        int(at.timestamp() * 1000) for at in begins
    ]
    assert call(NAME, "--verify")[1] == "all different, strictly in order, and of their rows' times"


def test_an_id_that_the_application_generated_later_on_that_day():
    insert(BillLine, [{"amount": 0, "day": day} for day in DAYS])
    call(NAME, "--created-from=day")
    field, last = BillLine._meta.get_field("public_id"), BillLine.objects.order_by("day").last()
    evening = datetime(last.day.year, last.day.month, last.day.day, 23, tzinfo=ZoneInfo("UTC"))
    BillLine.objects.filter(pk=last.pk).update(public_id=field.scheme.generate(evening))
    assert call(NAME, "--verify", "--allow-edited-times=0")[1].startswith("1 id of the application")


def test_days_that_ids_cannot_hold():
    days = [date(2010, 11, 3), date(2010, 11, 5), date.min, date.max, date(2024, 1, 1)]
    insert(BillLine, [{"id": n, "amount": 0, "day": day} for n, day in enumerate(days, 1)])
    name = "shop.BillLine.eighth"
    assert "too old" in refusal(name, "--created-from=day")
    call(name, "--created-from=day", "--on-out-of-range=skip")
    assert [pk for pk, _ in filled("eighth")] == [2, 5, 4]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite takes any text")
@pytest.mark.parametrize("text", ["2024-05-01 00:00:00", "1.5.2024", "2024-5-1", "", "yesterday"])
def test_a_text_that_is_no_day_is_named(text):
    insert(BillLine, [{"id": 7, "amount": 0, "day": DAYS[0]}])
    query("UPDATE shop_billline SET day = %s", text)
    message = refusal(NAME, "--created-from=day")
    assert message.startswith(f"shop.BillLine 7 has the day {text!r}, which is no possible time")
    assert "'2024-05-01': SQLite compares texts" in message


# What it costs
