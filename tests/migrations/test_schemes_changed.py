"""A column whose ids would be read as others: the AlterField has no SQL, so nothing else tells."""

import re
from datetime import UTC, datetime

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.schema.stored_values import PAGE
from django_sortable_ids.schemes import TimeScheme
from django_sortable_ids.testing import deterministic_ids
from tests.combinations import each_with
from tests.marks import own_tables, skip_where_uuids_are_refused

from .sources import ROWS, create_orders

pytestmark = own_tables

CONVERT = (
    r"5 values were checked, from both ends and the middle of the table\. Add a second field with "
    r"null=True, fill it with `manage\.py backfill_ids`, such as --convert-from public, and swap "
    r"the two by SwapSortableID\.$"
)
CHANGED = {
    "another version of UUIDs": ("UUIDv7Field({})", "UUIDv6Field({})", "is no UUIDv6"),
    "an epoch": ("SnowflakeField({})", 'SnowflakeField(layout="discord", {})', "another time"),
    "a precision": ("KSUIDField({})", 'KSUIDField(precision="ms", {})', "another time"),
    "an order": ("KUUIDField({})", "KUUIDField(reverse=True, {})", "another"),
    "a form of text": (
        'UUIDv7Field(storage="varchar32", {})',
        'UUIDv7Field(storage="varchar36", {})',
        "in the form of this column",
    ),
    "a text of the same bits": (
        'ULIDField(storage="uuid", {})',
        'TimeflakeField(storage="uuid", {})',
        r"the public id 0\w{25} would become \w{22}, and the old text would not be found\.",
    ),
    "a text of the same bits in any case": (
        "ULIDField({})",
        "SCRU128Field({})",
        "the public id .* would not be found",
    ),
    "a prefix, too": (
        'ULIDField(prefix="ord", {})',
        'TimeflakeField(prefix="ord", {})',
        "the public id ord_.* would become ord_.*, and the old text would not be found",
    ),
    "the text around a number": (
        'LexicalSequenceField(charset="numeric", width=4, template="ORD-{{number}}", {})',
        'LexicalSequenceField(charset="numeric", width=4, template="INV-{{number}}", {})',
        "is no",
    ),
}
SAME = {
    "the same text in another case": (
        'UUIDv7Field(encoding="base32", {})',
        'ULIDField(storage="uuid", {})',
    ),
    "places for workers": ("Time64Field({})", "Time64Field(workers=100, {})"),
    "a preset with its own numbers": ("SnowflakeField({})", 'SnowflakeField(layout="twitter", {})'),
    "other versions": ("UUIDv7Field({})", "UUIDv7Field(accept_other_versions=True, {})"),
    "no other versions": ("UUIDv7Field(accept_other_versions=True, {})", "UUIDv7Field({})"),
    "the next of a sequence": (
        'LexicalSequenceField(charset="numeric", width=4, {})',
        'LexicalSequenceField(charset="numeric", width=4, start="0100", {})',
    ),
}


def prepare(depot, old, rows=ROWS, **more):
    # Rows of one second have nearly the same random bits: with some, two schemes read the same.
    with deterministic_ids(datetime(2026, 11, 23, tzinfo=UTC)):
        create_orders(depot, rows, public=old, **more)


@pytest.mark.parametrize(("change", "how"), each_with(list(CHANGED), ["unique=True", "null=True"]))
def test_it_is_refused_with_the_road(depot, change, how):
    old, new, reason = CHANGED[change]
    skip_where_uuids_are_refused(old)
    prepare(depot, old.format(how))
    before = depot.column("depot_order", "public")
    depot.write(f'AlterField("order", "public", {new.format(how)}),')
    text = depot.refusal()
    assert text.startswith(
        "Nothing was migrated.\ndepot.0002_step, depot.order.public: the table has rows, and "
    )
    if "the column would get another type" not in text:
        assert re.search(reason, text)
        assert re.search(CONVERT, text)
    assert depot.applied() == ["0001_step"]
    assert depot.column("depot_order", "public") == before


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_what_keeps_every_value_and_its_time_passes(depot, old, new):
    skip_where_uuids_are_refused(old)
    prepare(depot, old.format("unique=True"))
    before = depot.column("depot_order", "public")
    times = [row.public for row in depot.model("Order").objects.order_by("name")]
    depot.write(f'AlterField("order", "public", {new.format("unique=True")}),')
    depot.migrate()
    assert [str(each) for each in depot.column("depot_order", "public")] == [
        str(each) for each in before
    ]
    order = depot.model("Order")
    schemes = [
        depot.model("Order", name)._meta.get_field("public").scheme for name in depot.names[:2]
    ]
    for row, old_value in zip(order.objects.order_by("name"), times, strict=True):
        assert schemes[1].to_int(row.public) == schemes[0].to_int(old_value)
        if isinstance(schemes[1], TimeScheme):
            assert schemes[1].created_at(row.public) == schemes[0].created_at(old_value)
        assert order.objects.get(public=row.public).name == row.name


@pytest.mark.parametrize("empty", ["table", "column"])
def test_where_there_is_no_value_anything_passes(depot, empty):
    rows = ROWS if empty == "column" else ROWS.replace("abcde", "")
    prepare(depot, "UUIDv7Field(null=True)", rows)
    depot.model("Order").objects.update(public=None)
    depot.write('AlterField("order", "public", UUIDv6Field(null=True)),')
    depot.migrate()


def test_random_uuids_are_adopted_as_what_they_are_only(depot):
    rows = "import uuid\n" + ROWS.replace("name=name", "name=name, public=uuid.uuid4()")
    prepare(depot, "UUIDField()", rows)
    depot.write('AlterField("order", "public", UUIDv7Field()),')
    with pytest.raises(CommandError, match=r"is no UUIDv7\. .* Or declare what the values are"):
        depot.migrate()
    depot.names.pop()
    depot.write('AlterField("order", "public", UUIDv7Field(accept_other_versions=True)),')
    depot.migrate()
    depot.write('AlterField("order", "public", UUIDv7Field()),')
    with pytest.raises(CommandError, match=r"is no UUIDv7\. .* swap the two by SwapSortableID\.$"):
        depot.migrate()


def test_one_wrong_value_at_an_end_of_the_index_is_enough_and_few_rows_are_read(depot):
    prepare(
        depot,
        "UUIDField(null=True, unique=True)",
        f"""
import uuid
def add_rows(apps, schema_editor):
    Order = apps.get_model("depot", "Order")
    Order.objects.bulk_create(
        Order(name="x", public=uuid.UUID(int=7 << 76 | 2 << 62 | n << 80))
        for n in range(1, {PAGE * 8})
    )
    Order.objects.filter(id={PAGE * 3}).update(public=uuid.UUID(int=2 ** 127 - 1))
""",
    )
    depot.write('AlterField("order", "public", UUIDv7Field(null=True, unique=True)),')
    with pytest.raises(
        CommandError, match=r"7fffffff-?ffff-?ffff-?ffff-?ffffffffffff is no UUIDv7"
    ) as refused:
        depot.migrate()
    looked = int(re.search(r"([\d,]+) values were checked", str(refused.value))[1].replace(",", ""))
    assert PAGE * 2 < looked <= PAGE * 5
    with CaptureQueriesContext(connection) as queries, pytest.raises(CommandError):
        depot.migrate()
    reads = [
        each["sql"] for each in queries if re.search(r"SELECT.* FROM .depot_order.", each["sql"])
    ]
    assert reads
    assert all("LIMIT" in sql for sql in reads)


def test_a_swap_in_the_plan_is_followed(depot):
    """What comes after it is about the other column."""
    prepare(depot, "ULIDField(unique=True)", new="UUIDv7Field(unique=True)")
    depot.write('SwapSortableID("order", "public", "new"),')
    depot.write('AlterField("order", "public", UUIDv7Field(unique=True, prefix="ord")),')
    wrong = depot.write('AlterField("order", "public", UUIDv6Field(unique=True)),')
    with pytest.raises(
        CommandError, match=rf"depot\.{wrong}, depot\.order\.public: .* is no UUIDv6"
    ):
        depot.migrate()
    depot.migrate("0003")
