"""Tables that no migration of Django makes: keys, names, letters, collations and sessions."""

import re
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, connection, connections, models

from django_sortable_ids.backfill.engines.mysql_statements import time_index
from django_sortable_ids.backfill.sources.find import target_of
from django_sortable_ids.db.tables import begins_an_index, is_unique, may_be_null
from django_sortable_ids.fields import (
    CombV13UUIDField,
    KUUIDField,
    SnowflakeField,
    ULIDField,
    UUIDv7Field,
)
from django_sortable_ids.models import BackfillRun
from tests.support import execute, printed

from .shop.models import Plain
from .support import (
    KEY,
    START,
    TIME,
    ascends,
    command,
    define,
    in_python,
    in_registry,
    insert,
    insert_into,
    legacy_table,
    naive,
    refusal,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "shop.Odd.uid"
BYTES = {"postgresql": "bytea", "mysql": "binary(2)", "sqlite": "blob"}
is_mysql = pytest.mark.skipif("connection.vendor != 'mysql'", reason="its sessions")
is_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="compares exactly")


@pytest.fixture
def make():
    """A table of three rows and its model; the keys are given."""
    with ExitStack() as stack:

        def create(
            keys, key=None, kind=None, table="odd", uid=None, column=None, created="created"
        ):
            uid = uid or UUIDv7Field(null=True)
            made = legacy_table(
                "Odd",
                table,
                f"id {kind or KEY[connection.vendor]}, {created} {TIME[connection.vendor]}, "
                f"uid {column or uid.db_type(connection)}",
                [(each, naive(START + timedelta(seconds=n))) for n, each in enumerate(keys)],
                f"id, {created}",
                id=key or models.BigIntegerField(primary_key=True),
                uid=uid,
                **{created: models.DateTimeField()},
            )
            return stack.enter_context(made)

        yield create


def assert_filled(model):
    command(NAME, "--created-from=created", "--batch-size=1")
    assert ascends(model.objects.order_by("created").values_list("uid", flat=True))
    command(NAME, "--verify")


def test_a_key_of_zero(make):
    assert_filled(make([0, 1, 2], models.BigAutoField(primary_key=True)))


@is_mysql
def test_a_table_without_transactions(make):
    make([1, 2, 3])
    execute("ALTER TABLE odd ENGINE = MyISAM")
    assert refusal(NAME, "--created-from=created") == (
        "odd is stored by MyISAM, which has no transactions. Run this, and then the command again: "
        "ALTER TABLE `odd` ENGINE = InnoDB"
    )


@pytest.mark.parametrize("arguments", [[NAME], ["shop.Odd.id", "--verify"]])
def test_a_key_that_is_no_id(make, arguments):
    key = ULIDField(primary_key=True, storage="varchar")
    valid = "01KDVDNA00PVDPVDPVDPVDPVDM"
    make([valid, "junk"], key, f"{key.db_type(connection)} PRIMARY KEY")
    error = refusal(*arguments, "--created-from=created")
    assert error.startswith("“junk” is not a valid ULID. ")
    assert ". A row has this key: correct it. Continue with: manage.py backfill_ids " in error


@is_mysql
def test_a_unique_text_has_the_length_of_an_id():
    with in_registry("Odd"):
        model = define("Odd", "odd", id=ULIDField(primary_key=True, storage="varchar"))
        assert model.check(databases=["default"]) == []


@is_mysql
@pytest.mark.parametrize("option", [[], ["--verify"]])
def test_a_key_of_uuids_that_django_4_stored_as_texts(make, option):
    if not connection.features.has_native_uuid_field:
        pytest.skip("MySQL has no uuid")
    keys = [uuid4().hex for _ in range(3)]
    make(keys, models.UUIDField(primary_key=True), "char(32) PRIMARY KEY")
    error = refusal(NAME, "--created-from=created", *option)
    assert error.startswith("shop.Odd.id is no uuid but a char, as Django 4 created it, so Django ")
    assert error.endswith(" refer to it: ALTER TABLE `odd` MODIFY `id` uuid")


@pytest.mark.skipif("connection.vendor == 'sqlite'", reason="has no such types")
def test_a_key_of_a_time_and_a_boolean(monkeypatch):
    in_python(monkeypatch)
    columns = f"at time, is_first bool, created_at {TIME[connection.vendor]}, public_id char(32)"
    with legacy_table(
        "Slot",
        "slot",
        f"{columns.replace('char(32)', UUIDv7Field().db_type(connection))}, "
        "PRIMARY KEY (at, is_first)",
        [(at, is_first, naive(START)) for at in ("10:00", "11:00") for is_first in (True, False)],
        "at, is_first, created_at",
        pk=models.CompositePrimaryKey("at", "is_first"),
        at=models.TimeField(),
        is_first=models.BooleanField(),
        created_at=models.DateTimeField(),
        public_id=UUIDv7Field(null=True),
    ):
        assert "4 rows filled." in command("shop.Slot.public_id", "--created-from=created_at")
        assert command("shop.Slot.public_id", "--verify")[0] == "4 rows, 4 with an id"


@pytest.mark.skipif("connection.vendor == 'mysql'", reason="has no such index")
@pytest.mark.parametrize("condition", [" WHERE id < 2", ""])
def test_an_index_that_is_unique_only_in_part(make, condition):
    """One with a condition, and an invalid one, which a CREATE INDEX CONCURRENTLY leaves."""
    model = make([1, 2, 3])
    assert_filled(model)
    model.objects.filter(id=3).update(uid=model.objects.get(id=2).uid)
    with suppress(IntegrityError):
        concurrently = "CONCURRENTLY" * (connection.vendor == "postgresql")
        execute(f"CREATE UNIQUE INDEX {concurrently} odd_uid ON odd (uid){condition}")
    message = refusal(NAME, "--verify", "--allow-edited-times=100")
    assert message.startswith("shop.Odd.uid: 1 row with the id of another row. ")


def test_a_key_of_bytes(make):
    kind = f"{BYTES[connection.vendor]} PRIMARY KEY"
    keys = [b"\x00\xff", b"\xfea", b"!!"]
    model = make(keys, models.BinaryField(primary_key=True), kind)
    assert_filled(model)
    model.objects.update(uid=None)
    command(NAME, "--created-at=now", "--batch-size=1")
    assert ascends(model.objects.order_by("id").values_list("uid", flat=True))


@pytest.mark.parametrize("name", ["o{0}dd", "o{column}d", "o$dd", "pro%cent"])
def test_a_name_that_python_or_a_driver_would_format(make, name):
    """Where Django itself can query such a table; elsewhere the report says why it can't."""
    model = make([1, 2, 3], table=name)
    refused = {"postgresql": "$%", "mysql": "%"}.get(connection.vendor, "")
    if set(refused) & set(name):
        (reported,) = [each for each in command() if each.startswith(NAME)]
        assert "can't be read: " in reported
    else:
        assert_filled(model)


@pytest.mark.parametrize(
    ("uid", "column"),
    [
        (KUUIDField(null=True), "varchar(20)"),
        (KUUIDField(null=True, storage="varchar"), "varchar(20)"),
        (SnowflakeField(null=True), "integer"),
        (ULIDField(null=True, storage="binary"), "binary(15)"),
        (UUIDv7Field(null=True, storage="char36"), "char(32)"),
    ],
)
def test_a_column_that_is_too_narrow(make, uid, column):
    """On MariaDB and MySQL without strict mode, the ids would be truncated."""
    if connection.vendor == "sqlite" or (connection.vendor, column[:3]) == ("postgresql", "bin"):
        pytest.skip("without a width")
    column += ' COLLATE "C"' if connection.vendor == "postgresql" and "char" in column else ""
    column += " COLLATE ascii_bin" if connection.vendor == "mysql" and "char" in column else ""
    model = make([1, 2, 3], uid=uid, column=column)
    if connection.vendor == "mysql":
        execute("SET SESSION sql_mode = ''")
    message = refusal(NAME, "--created-from=created")
    assert message.startswith("the column of shop.Odd.uid can't hold all of its ids")
    assert not model.objects.exclude(uid=None).exists()


@pytest.mark.parametrize("uid", [ULIDField, CombV13UUIDField])
def test_ids_that_the_type_uuid_of_mariadb_refuses(make, uid):
    model = make([1, 2, 3], uid=uid(null=True, storage="uuid"))
    if not (connection.vendor == "mysql" and connection.features.has_native_uuid_field):
        assert_filled(model)
        return
    message = refusal(NAME, "--created-from=created")
    assert message.startswith("the column of shop.Odd.uid can't hold all of its ids")
    assert not model.objects.exclude(uid=None).exists()


def test_a_declared_key_that_is_not_unique(make):
    model = make([1, 1, 2], kind="bigint NOT NULL")
    assert refusal(NAME, "--created-from=created") == (
        "2 rows of shop.Odd have the primary key 1, and no unique index is on id: set "
        "primary_key=True on the field that identifies the rows; nothing was written."
    )
    assert not model.objects.exclude(uid=None).exists()


@pytest.mark.skipif(connection.vendor == "postgresql", reason="it stores instants")
def test_a_session_east_of_utc(make, monkeypatch):
    model, wrapper = make([1, 2, 3]), connections["default"]
    monkeypatch.setitem(wrapper.settings_dict, "TIME_ZONE", "Asia/Tokyo")
    monkeypatch.setitem(wrapper.__dict__, "timezone", ZoneInfo("Asia/Tokyo"))
    monkeypatch.setitem(wrapper.__dict__, "timezone_name", "Asia/Tokyo")
    assert_filled(model)


@is_mysql
def test_texts_in_a_collation_that_missorts_them(make):
    make([1, 2, 3], uid=KUUIDField(null=True), column="char(32) COLLATE utf8mb4_general_ci")
    message = refusal(NAME, "--created-from=created")
    assert "or doesn't sort them by their times: it may be too narrow, of another coll" in message


@is_mysql
@pytest.mark.parametrize("kind", ["timestamp NULL", "timestamp NOT NULL", "datetime(6) NOT NULL"])
def test_zero_dates(make, kind):
    """MySQL finds those of a TIMESTAMP before no time, and both servers call those NULL that are in
    a NOT NULL column."""
    model = make([1, 2, 3])
    execute(
        f"ALTER TABLE odd MODIFY created {kind}",
        "SET SESSION sql_mode = ''",
        "UPDATE odd SET created = 0 WHERE id < 3",
        "SET SESSION sql_mode = @@GLOBAL.sql_mode",
    )
    for policies in ([], ["--on-null=now", "--on-out-of-range=skip"]):
        message = refusal(NAME, "--created-from=created", *policies)
        assert "shop.Odd 1 (and 1 other row) has the created 0000-00-00 00:00:00" in message
    execute(re.search(r"UPDATE .*(?=; nothing was written)", message)[0])
    assert_filled(model)


# Names of columns are compared as the database compares them, and none is overlooked

CRATE = "shop.LegacyCrate.public_id"
not_postgresql = pytest.mark.skipif("connection.vendor == 'postgresql'", reason="compares exactly")


@contextmanager
def crates(null="NULL", more=""):
    """A table whose names have capital letters, and a model with small ones."""
    quote = connection.ops.quote_name if connection.vendor != "mysql" else str
    names = [quote(each) for each in ("ID", "Sent_At", "Public_ID")]
    uuid = f"{UUIDv7Field().db_type(connection)} {null}{more}"
    kinds = (KEY[connection.vendor], f"{TIME[connection.vendor]} NOT NULL", uuid)
    with legacy_table(
        "LegacyCrate",
        "legacy_crate",
        ", ".join(map(" ".join, zip(names, kinds, strict=True))),
        [(n, naive(START + timedelta(seconds=n))) for n in range(5)],
        ", ".join(names[:2]),
        id=models.IntegerField(primary_key=True),
        sent_at=models.DateTimeField(),
        public_id=UUIDv7Field(null=True),
    ) as model:
        yield model


@pytest.fixture
def make_crate():
    with ExitStack() as stack:
        yield lambda *null, **more: stack.enter_context(crates(*null, **more))


def line():
    return next(each for each in command() if each.startswith(CRATE))


@not_postgresql
def test_columns_in_capital_letters_are_there(make_crate):
    model = make_crate()
    assert "5 missing" in line()
    assert "5 rows filled." in command(CRATE, "--created-from=sent_at")
    assert command(CRATE, "--verify")[0] == "5 rows, 5 with an id"
    assert may_be_null(connection, "legacy_crate", "public_id")
    assert not is_unique(connection, "legacy_crate", "public_id")
    execute("CREATE UNIQUE INDEX crate_public ON legacy_crate (PUBLIC_ID)")
    execute("CREATE INDEX crate_sent ON legacy_crate (SENT_AT)")
    assert is_unique(connection, "legacy_crate", "public_id")
    assert is_unique(connection, "legacy_crate", "id")
    assert begins_an_index(connection, "legacy_crate", "sent_at")
    if connection.vendor == "mysql":
        target = target_of(
            model, model._meta.get_field("public_id"), {"created_from": "sent_at"}, "default"
        )
        assert time_index(target, connection) == "crate_sent"


@is_postgresql
def test_where_the_database_tells_them_apart_they_are_others(make_crate):
    make_crate()
    assert "no column" in line()
    assert refusal(CRATE, created_from="sent_at").startswith(
        "legacy_crate has no column public_id yet: "
    )


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="MariaDB and MySQL have such")
def test_an_invisible_column_is_there(make_crate):
    make_crate("INVISIBLE NULL", ", other int INVISIBLE")
    assert "5 missing" in line()
    assert "5 rows filled." in command(CRATE, "--created-from=sent_at")
    assert command(CRATE, "--verify")[0] == "5 rows, 5 with an id"


# Models that ``inspectdb`` wrote, and proxies


PARCEL = "shop.LegacyParcel.public_id"
MILLISECONDS = [70, 10, 10, 40, 0]


def inspected():
    """The model as inspectdb writes it, with an id that its author adds."""
    head = "class LegacyParcel(models.Model):\n"
    source = printed("inspectdb", "legacy_parcel")
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
    reason = refusal(PARCEL, "--created-from=sent_at")
    assert "is not managed, so no migration adds the column" in reason
    add = re.search("`(.*)`$", reason)[1]
    report = next(line for line in command() if line.startswith(PARCEL))
    assert "no column" in report
    assert report.endswith(f"dbshell: {add}")

    execute(add)
    report = next(line for line in command() if line.startswith(PARCEL))
    assert "5 missing backfill_ids shop.LegacyParcel.public_id --created-from sent_at" in (
        " ".join(report.split())
    )
    assert "5 rows filled." in command(PARCEL, "--created-from=sent_at")

    found = list(parcels.objects.order_by("public_id").values_list("pk", "public_id"))
    assert [pk for pk, _ in found] == [5, 2, 3, 4, 1]
    begin = round(START.timestamp() * 1000)
    assert [value.int >> 80 for _, value in found] == [begin + each for each in (0, 10, 10, 40, 70)]

    lines = command(PARCEL, "--verify")
    assert lines[1] == "all different, strictly in order, and of their rows' times"
    assert lines[2].startswith(
        "Next: shop.LegacyParcel is not managed, so no migration changes it: make "
        "legacy_parcel.public_id NOT NULL and unique, and write unique=True "
    )


def test_a_table_that_is_not_there():
    assert refusal("shop.Unmanaged.public_id", created_from="created_at").startswith(
        "the database 'default' has no table shop_unmanaged that its user may see: "
    )
    report = next(line for line in command() if line.startswith("shop.Unmanaged.public_id"))
    assert report.endswith("no table")


def test_an_inspected_view_is_refused_as_one(parcels):
    execute("CREATE VIEW legacy_view AS SELECT * FROM legacy_parcel")
    try:
        with in_registry("LegacyView"):
            define("LegacyView", "legacy_view", managed=False, public_id=UUIDv7Field(null=True))
            assert refusal("shop.LegacyView.public_id", created_from="sent_at") == (
                "legacy_view is a view: fill its underlying table, through a model of that table"
            )
            report = next(line for line in command() if line.startswith("shop.LegacyView"))
            assert report.endswith("view")
    finally:
        execute("DROP VIEW legacy_view")


# Proxies


def test_a_proxy_is_filled_through_its_model():
    insert(Plain, [{"created_at": START}] * 3)
    lines = command("shop.PlainProxy.public_id", "--created-from=created_at")
    assert lines[0].startswith("shop.Plain.public_id: ")
    assert lines[-1] == ("Next: manage.py backfill_ids shop.Plain.public_id --verify")
    assert not Plain.objects.filter(public_id=None).exists()
    assert BackfillRun.objects.get().target == "shop.Plain.public_id"
    assert command("shop.PlainProxy.public_id", "--verify")[0] == "3 rows, 3 with an id"
    assert "finished" in command("shop.PlainProxy.public_id", "--status")[0]
