"""Tables of other packages are taken over as they are: one AlterField, without SQL."""

import re

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, connection, transaction

from django_sortable_ids.schemes import get
from tests.combinations import each_with
from tests.marks import own_tables, skip_where_uuids_are_refused
from tests.support import columns, constraints, execute, printed, query

from .sources import create_orders

pytestmark = own_tables

UUID7 = "01976b9e-2fb2-7000-8000-00000000000{}"
UUID6 = "1f1e55bb-a559-6e4d-816a-00000000000{}"
ULID = "01M7Y2DCF66NMGAJT4MSTMRWD{}"
SNOWFLAKE = "212398205346830242{}"
# The bits of a ULID that MariaDB's uuid takes.
ULID_IN_UUID = "019f3c26-b1e6-7557-a853-44d64d4c353{}"

# Of a field for each of two packages, as they define it.
PACKAGES = """
    class PackageULIDField(Field):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **{"max_length": 26, **kwargs})

        def get_internal_type(self):
            return "CharField"
"""

# The field that made the column, the one that takes it over, and what is in it.
COLUMNS = {
    "UUIDField": ("UUIDField", "", "UUIDv7Field", "", UUID7),
    "UUIDField with a default": (
        "UUIDField",
        "default=uuid.uuid4",
        "UUIDv7Field",
        "accept_other_versions=True",
        "7f4c5fc0-9c1e-4a51-8f0e-6f2d8a1b3c4{}",
    ),
    "UUIDField of ULIDs": ("UUIDField", "", "ULIDField", 'storage="uuid"', ULID_IN_UUID),
    "CharField of ULIDs": ("CharField", "max_length=26", "ULIDField", 'storage="varchar"', ULID),
    "wide CharField of ULIDs": (
        "CharField",
        "max_length=40",
        "ULIDField",
        'storage="varchar", max_length=40',
        ULID,
    ),
    "a package's field of ULIDs": ("PackageULIDField", "", "ULIDField", 'storage="varchar"', ULID),
    "CharField of 36": (
        "CharField",
        "max_length=36",
        "UUIDv7Field",
        'storage="varchar36"',
        UUID7,
    ),
    "CharField of 32": (
        "CharField",
        "max_length=32",
        "UUIDv7Field",
        'storage="varchar32"',
        UUID7.replace("-", ""),
    ),
    "CharField of kuuids": (
        "CharField",
        "max_length=32, db_collation={bytes!r}",
        "KUUIDField",
        'storage="varchar", db_collation={bytes!r}',
        "001xUbmv1tc1Go2H8WSh27gzbH2uiQu{}",
    ),
    "BigIntegerField": ("BigIntegerField", "", "SnowflakeField", "", SNOWFLAKE),
    "UUIDField of version 6": ("UUIDField", "", "UUIDv6Field", "", UUID6),
}
COLLATIONS = {"postgresql": "C", "mysql": "utf8mb4_bin", "sqlite": "BINARY"}


def source(name, options, how):
    options = options.replace("{bytes!r}", repr(COLLATIONS[connection.vendor]))
    return f"{name}({', '.join(filter(None, [options, how]))})"


def sql(depot, name):
    """The statements of a migration."""
    text = printed("sqlmigrate", "depot", name, no_color=True)
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [line for line in lines if line not in ("", "BEGIN;", "COMMIT;")]


def adopt(depot, name, new):
    """Write the AlterField and run it; SQLite alone may have something to do."""
    step = depot.write(f'AlterField("order", "{name}", {new}),', PACKAGES)
    depot.migrate(depot.names[-2])
    statements = sql(depot, step)
    assert not statements or connection.vendor == "sqlite"
    depot.migrate()


def schema():
    """How the database describes the table, but for the order that SQLite's copy changes."""
    return columns("depot_order"), sorted(map(str, constraints("depot_order").values()))


@pytest.mark.parametrize(
    ("kind", "how"), each_with(list(COLUMNS), ["unique=True", "null=True", "db_index=True"])
)
def test_a_column_and_a_key_to_which_rows_refer(depot, kind, how):
    old, old_options, new, new_options, value = COLUMNS[kind]
    skip_where_uuids_are_refused(new_options)
    depot.write(
        f"""\
        CreateModel("Order", [
            ("id", {source(old, old_options, "primary_key=True")}),
            ("public", {source(old, old_options, how)}),
            ("name", CharField(max_length=9)),
        ]),
        CreateModel("Line", [
            ("id", BigAutoField(primary_key=True)),
            ("name", CharField(max_length=9)),
            ("order", ForeignKey("depot.Order", CASCADE)),
        ]),
        """,
        PACKAGES + "\n    import uuid",
    )
    depot.migrate()
    for n, name in enumerate("abcde", 1):
        text = value.format(n)
        depot.model("Order").objects.create(id=text, public=text, name=name)
        depot.model("Line").objects.create(order_id=text, name=name)

    def stored():
        ids, references = depot.column("depot_order", "id"), depot.column("depot_line", "order_id")
        return ids, references, depot.column("depot_order", "public"), schema()

    before = stored()
    adopt(depot, "id", source(new, new_options, "primary_key=True"))
    adopt(depot, "public", source(new, new_options, how))
    assert stored() == before
    order, line = depot.model("Order"), depot.model("Line")
    for name in "abcde":
        row = line.objects.get(order__name=name).order
        assert order.objects.get(public=row.public).name == row.name == name
        row.save()
    assert stored() == before
    line.objects.create(order_id=order.objects.create(name="f").pk, name="f")
    assert len(set(depot.column("depot_order", "public"))) == 6
    with pytest.raises(IntegrityError), transaction.atomic():
        line.objects.create(order_id=order._meta.pk.generate(), name="g")


_YEAR_2024 = 1_704_067_200
LATE = {
    "BigIntegerField": ("SnowflakeField({})", _YEAR_2024 * 1000 << 22, "epoch_ms=0"),
    "PositiveBigIntegerField": (
        "SonyflakeField({})",
        (_YEAR_2024 - 1_409_529_600) * 100 << 24,
        "version=1",
    ),
}


@pytest.mark.parametrize(("old", "new", "value", "right"), [(k, *v) for k, v in LATE.items()])
def test_ids_of_another_epoch_are_refused_without_the_option_for_it(depot, old, new, value, right):
    create_orders(depot, public=f"{old}()")
    depot.model("Order").objects.create(public=value)
    depot.write(f'AlterField("order", "public", {new.format("")}),')
    with pytest.raises(CommandError, match=r"1 of 1 .* of a time after now, .*`.* inspect_id`"):
        depot.migrate()
    depot.take_back()
    depot.write(f'AlterField("order", "public", {new.format(right)}),')
    depot.migrate()


def test_a_single_id_after_now_is_refused_unless_its_check_is_silenced(depot, settings):
    create_orders(depot, public="BigIntegerField()")
    now = get("snowflake").generate()
    for value in [*range(now, now + 20), now + (400 * 86_400_000 << 22)]:
        depot.model("Order").objects.create(public=value)
    depot.write('AlterField("order", "public", SnowflakeField()),')
    with pytest.raises(
        CommandError, match=r"1 of 21 sampled ids .* after now.*'sortable_ids.W011'"
    ):
        depot.migrate()
    settings.SILENCED_SYSTEM_CHECKS = ["sortable_ids.W011"]
    depot.migrate()


SPELLED = {
    "lower case": (ULID.format(1).lower(), "upper", ""),
    "a prefix": (f"ord_{ULID.format(1)}", "substr", " .* prefix='ord', separator='_'"),
}


@pytest.mark.parametrize(("value", "function", "more"), SPELLED.values(), ids=SPELLED)
def test_a_spelling_that_an_update_mends(depot, value, function, more):
    create_orders(depot, id="CharField(max_length=30, primary_key=True)")
    depot.model("Order").objects.create(id=value)
    new = 'ULIDField(primary_key=True, storage="varchar", max_length=30)'
    depot.write(f'AlterField("order", "id", {new}),')
    with pytest.raises(CommandError, match=rf"{function}\(.*{more}") as refused:
        depot.migrate()
    (update,) = re.findall("UPDATE [^;]*", str(refused.value))
    execute(update)
    depot.migrate()
    assert depot.model("Order").objects.get().pk == ULID.format(1)


def test_a_char_of_django_4(depot):
    if connection.vendor != "mysql" or not connection.features.has_native_uuid_field:
        pytest.skip("MariaDB only")
    depot.write('CreateModel("Order", [("id", UUIDField(primary_key=True))]),')
    depot.migrate()
    digits = UUID7.format(1).replace("-", "")
    execute("ALTER TABLE depot_order MODIFY id char(32) NOT NULL")
    query("INSERT INTO depot_order (id) VALUES (%s)", digits)
    depot.write('AlterField("order", "id", UUIDv7Field(primary_key=True)),')
    with pytest.raises(
        CommandError, match=r'storage="char32".*: ALTER TABLE `depot_order` MODIFY `id` uuid,'
    ):
        depot.migrate()
    depot.take_back()
    depot.write('AlterField("order", "id", UUIDv7Field(primary_key=True, storage="char32")),')
    depot.migrate()
    order = depot.model("Order")
    order.objects.create()
    assert str(order.objects.earliest("id").pk) == UUID7.format(1)


def test_options_of_the_public_text_leave_the_table_alone(depot):
    """On SQLite too, which copies it otherwise."""
    create_orders(depot, id="UUIDv7Field(primary_key=True)")
    options = 'primary_key=True, prefix="ord", separator=":", encoding="base58"'
    step = depot.write(
        f'AlterField("order", "id", UUIDv7Field({options}, accept_other_versions=True)),'
    )
    depot.migrate("0001")
    assert sql(depot, step) == []
