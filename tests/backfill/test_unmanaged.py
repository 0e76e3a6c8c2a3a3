"""Models that ``inspectdb`` wrote, and proxies."""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from django_sortable_ids.models import BackfillRun
from tests.support import execute

from .shop.models import Plain
from .support import (
    KEY,
    START,
    TIME,
    UNSEEN,
    command,
    define,
    in_registry,
    insert,
    insert_into,
    naive,
    refusal,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "shop.LegacyParcel.public_id"
MILLISECONDS = [70, 10, 10, 40, 0]


def inspected():
    """The model as inspectdb writes it, with an id that its author adds."""
    out = StringIO()
    call_command("inspectdb", "legacy_parcel", stdout=out)
    head = "class LegacyParcel(models.Model):\n"
    source = out.getvalue()
    assert head in source
    assert "managed = False" in source
    source = source.replace(head, f"{head}    public_id = UUIDv7Field(null=True, blank=True)\n")
    space = {"__name__": "tests.backfill.shop.models"}
    exec(f"from django_sortable_ids.fields import *\n{source}", space)
    return space["LegacyParcel"]


@pytest.fixture
def parcels():
    execute(
        f"CREATE TABLE legacy_parcel (id {KEY[connection.vendor]}, "
        f"sent_at {TIME[connection.vendor]} NOT NULL)"
    )
    times = [START.replace(microsecond=1000 * each) for each in MILLISECONDS]
    rows = [(number, naive(at)) for number, at in enumerate(times, 1)]
    insert_into("legacy_parcel", rows, "id, sent_at")
    with in_registry("LegacyParcel"):
        yield inspected()
        execute("DROP TABLE legacy_parcel")


def test_an_inspected_table_gets_its_column_its_ids_and_its_constraint_by_what_is_printed(parcels):
    reason = refusal(NAME, "--created-from=sent_at")
    assert "is not managed, so no migration adds the column" in reason
    add = re.search("`(.*)`$", reason)[1]
    report = next(line for line in command() if line.startswith(NAME))
    assert "no column" in report
    assert report.endswith(f"dbshell: {add}")

    execute(add)
    report = next(line for line in command() if line.startswith(NAME))
    assert "5 missing backfill_ids shop.LegacyParcel.public_id --created-from sent_at" in (
        " ".join(report.split())
    )
    assert "5 rows filled." in command(NAME, "--created-from=sent_at")

    found = list(parcels.objects.order_by("public_id").values_list("pk", "public_id"))
    assert [pk for pk, _ in found] == [5, 2, 3, 4, 1]
    begin = round(START.timestamp() * 1000)
    assert [value.int >> 80 for _, value in found] == [begin + each for each in (0, 10, 10, 40, 70)]

    lines = command(NAME, "--verify")
    assert lines[1] == "all different, strictly in order, and of their rows' times"
    assert lines[2].startswith(
        "Next: shop.LegacyParcel is not managed, so no migration changes it: make "
        "legacy_parcel.public_id NOT NULL and unique, and write unique=True "
    )


def test_a_name_in_other_letters_has_the_same_run(parcels):
    execute(re.search("`(.*)`$", refusal(NAME, "--created-from=sent_at"))[1])
    command("shop.legacyparcel.public_id", "--created-from=sent_at")
    assert BackfillRun.objects.get().target == NAME
    assert command("shop.legacyPARCEL.public_id", "--verify")[0] == "5 rows, 5 with an id"
    assert command("shop.legacyparcel.public_id", "--status")[0].startswith(f"{NAME}: finished")


def test_a_table_that_is_not_there():
    assert refusal("shop.Unmanaged.public_id", created_from="created_at") == (
        f"the database 'default' has no table shop_unmanaged{UNSEEN}: shop.Unmanaged is not "
        "managed, so no migration creates its table. Name the database that has it with "
        "--database, or correct db_table"
    )
    report = next(line for line in command() if line.startswith("shop.Unmanaged.public_id"))
    assert report.endswith("no table that the user may see" if UNSEEN else "no table")


def test_a_table_without_a_key():
    """inspectdb writes no key then, so that Django expects a column "id"."""
    execute(f"CREATE TABLE legacy_parcel (sent_at {TIME[connection.vendor]})")
    try:
        with in_registry("LegacyParcel"):
            inspected()
            assert refusal(NAME, created_from="sent_at") == (
                "legacy_parcel has no column id, the primary key of shop.LegacyParcel: set "
                "primary_key=True on the field that identifies its rows"
            )
    finally:
        execute("DROP TABLE legacy_parcel")


def test_an_inspected_view_is_refused_as_one(parcels):
    execute("CREATE VIEW legacy_view AS SELECT * FROM legacy_parcel")
    try:
        with in_registry("LegacyView"):
            define("LegacyView", "legacy_view", managed=False, public_id=sortable_id())
            assert refusal("shop.LegacyView.public_id", created_from="sent_at") == (
                "legacy_view is a view: fill its underlying table, through a model of that table"
            )
            report = next(line for line in command() if line.startswith("shop.LegacyView"))
            assert report.endswith("view")
    finally:
        execute("DROP VIEW legacy_view")


def sortable_id():
    return Plain._meta.get_field("public_id").clone()


# Proxies


def test_a_proxy_is_filled_through_its_model():
    insert(Plain, [{"created_at": START}] * 3)
    lines = command("shop.PlainProxy.public_id", "--created-from=created_at")
    assert lines[0].startswith("shop.Plain.public_id: ")
    assert lines[-1] == (
        "Next: manage.py backfill_ids shop.Plain.public_id --created-from created_at --verify"
    )
    assert not Plain.objects.filter(public_id=None).exists()
    assert BackfillRun.objects.get().target == "shop.Plain.public_id"
    assert command("shop.PlainProxy.public_id", "--verify")[0] == "3 rows, 3 with an id"
    assert "finished" in command("shop.PlainProxy.public_id", "--status")[0]
