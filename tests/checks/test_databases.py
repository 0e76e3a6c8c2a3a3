"""What the checks say of real columns and servers, and that they say nothing of right ones."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, models
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.checks import databases
from django_sortable_ids.checks.databases import check_databases
from django_sortable_ids.fields import (
    CombV13UUIDField,
    HexULIDField,
    KUUIDField,
    LexicalSequenceField,
    SnowflakeField,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
)
from django_sortable_ids.functions import GenerateID
from django_sortable_ids.schema.stored_values import later_than_now
from django_sortable_ids.schemes import get
from tests.marks import own_tables
from tests.support import EVERYTHING, execute, limited_to

from .test_definitions import define

pytestmark = own_tables

LOCALE = {"sqlite": "NOCASE", "mysql": "utf8mb4_unicode_ci", "postgresql": '"und-x-icu"'}


def found():
    messages = check_databases(databases=["default"])
    return [(message.id, str(message.obj)) for message in messages]


@pytest.fixture
def adopted(isolated):
    """Makes a table by hand, with one column of that type, for a model with that field."""

    def make(column_type, field):
        execute(f"CREATE TABLE adopted (value {column_type})")
        return define("Adopted", value=field, meta={"db_table": "adopted"})

    yield make
    execute("DROP TABLE IF EXISTS adopted")


# Healthy


def test_every_column_of_ours_is_right():
    """Those of the test app: every scheme and every storage."""
    assert found() == []


def test_a_table_that_is_not_there_yet(isolated):
    define(id=KUUIDField(primary_key=True))
    assert found() == []


def test_a_server_that_does_not_answer(isolated, monkeypatch):
    define(id=UUIDv7Field(primary_key=True))

    def refuse(*args, **kwargs):
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection.introspection, "table_names", refuse)
    assert found() == []


def test_nothing_is_asked_unless_a_database_is_named():
    with CaptureQueriesContext(connection) as queries:
        assert check_databases() == []
        assert check_databases(databases=[]) == []
    assert not queries.captured_queries


def test_a_database_that_the_router_keeps_a_model_out_of(adopted, settings, monkeypatch):
    adopted(f"varchar(32) COLLATE {LOCALE[connection.vendor]}", KUUIDField(unique=True))
    assert found() == [("sortable_ids.E007", "testapp.Adopted.value")]
    monkeypatch.setattr(databases.router, "allow_migrate_model", lambda alias, model: False)
    assert found() == []


# Collations


@pytest.mark.parametrize(
    "field", [KUUIDField(unique=True), LexicalSequenceField(unique=True, charset="alnum")]
)
def test_a_collation_of_a_language(adopted, field):
    length = field.scheme.canonical.length
    adopted(f"varchar({length}) COLLATE {LOCALE[connection.vendor]}", field)
    (message,) = check_databases(databases=["default"])
    assert message.id == "sortable_ids.E007"
    if connection.vendor == "postgresql":
        assert message.msg.startswith("The column's collation und-x-icu does not sort ids")


# Widths


@pytest.mark.parametrize(
    ("column", "field", "said"),
    [
        ("varchar(20)", ULIDField(unique=True, storage="char"), "20 characters"),
        ("char(31)", HexULIDField(unique=True), "31 characters"),
        ("varchar(32)", UUIDv7Field(unique=True, storage="char36"), "32 characters"),
        ("integer", SnowflakeField(unique=True), "32 bits or less"),
        ("bigint", ULIDField(unique=True, storage="char"), "numbers"),
        ("binary(12)", ULIDField(unique=True, storage="binary"), "12 bytes"),
        ("varchar(255)", ULIDField(unique=True, storage="char"), None),
        ("text", HexULIDField(unique=True), None),
        ("bigint", SnowflakeField(unique=True), None),
    ],
)
def test_a_column_that_is_too_narrow_is_found(adopted, column, field, said):
    if connection.vendor == "postgresql" and column.startswith("binary"):
        pytest.skip("bytea has no width")
    adopted(column, field)
    messages = check_databases(databases=["default"])
    if connection.vendor == "sqlite" or said is None:
        assert messages == []
        return
    (message,) = messages
    assert message.id == "sortable_ids.E008"
    assert message.msg.startswith(f"The column holds {said}, but {field.scheme.title} needs ")


# Servers


def test_a_key_that_the_server_does_not_return(isolated, monkeypatch):
    define("Made", id=HexULIDField(db_default=GenerateID(), primary_key=True))
    define("MadeBeside", public=HexULIDField(db_default=GenerateID(), unique=True))
    define("Plain", id=ULIDField(primary_key=True))
    expected = [("sortable_ids.E004", "testapp.Made.id")]
    returns = connection.vendor != "mysql" or connection.mysql_is_mariadb
    assert found() == ([] if returns else expected)
    vars(connection.features).pop("can_return_columns_from_insert", None)
    monkeypatch.setattr(type(connection.features), "can_return_columns_from_insert", False)
    assert found() == expected


def test_ids_that_mariadbs_uuid_refuses(isolated):
    define("Comb", id=CombV13UUIDField(primary_key=True, storage="uuid"))
    define("Text", id=ULIDField(primary_key=True, storage="uuid"))
    define("Right", id=UUIDv7Field(primary_key=True), code=ULIDField(unique=True))
    native = connection.vendor == "mysql" and connection.features.has_native_uuid_field
    refused = ["testapp.Comb.id", "testapp.Text.id"]
    assert found() == ([("sortable_ids.E005", name) for name in refused] if native else [])


def test_a_mariadb_that_missorts_its_uuid(isolated, monkeypatch):
    define(id=UUIDv7Field(primary_key=True), code=UUIDv7Field(unique=True, storage="binary"))
    monkeypatch.setattr(databases.stored_values, "sorts_uuids", lambda connection: False)
    native = connection.vendor == "mysql" and connection.features.has_native_uuid_field
    assert found() == ([("sortable_ids.E006", "testapp.Shop.id")] if native else [])


def test_missing_time_zones(isolated, monkeypatch, settings):
    define(id=UUIDv7Field(primary_key=True))
    monkeypatch.setattr(connection.features, "has_zoneinfo_database", False)
    is_mysql = connection.vendor == "mysql"
    expected = ["sortable_ids.W004"] if is_mysql else []
    assert [message.id for message in check_databases(databases=["default"])] == expected
    settings.USE_TZ, settings.TIME_ZONE = False, "UTC"
    assert found() == []


def test_time_zones_matter_to_ids_with_a_time_alone(isolated, monkeypatch):
    define(id=LexicalSequenceField(primary_key=True))
    monkeypatch.setattr(connection.features, "has_zoneinfo_database", False)
    assert found() == []


@pytest.mark.parametrize("flush", [1, 2])
def test_commits_that_a_crash_may_lose_with_leases(isolated, settings, monkeypatch, flush):
    define(id=SnowflakeField(primary_key=True))
    monkeypatch.setattr(connection.features, "has_zoneinfo_database", True)
    # A test must not set it on a server that others use.
    monkeypatch.setattr(databases, "value", lambda connection, sql: flush)
    assert found() == []
    settings.SORTABLE_IDS = {"WORKER": "lease"}
    expected = ["sortable_ids.W010"] if connection.vendor == "mysql" and flush != 1 else []
    assert [message.id for message in check_databases(databases=["default"])] == expected
    settings.SORTABLE_IDS = {"worker": "lease"}  # E003
    assert found() == []


def test_a_row_that_python_cannot_read(adopted):
    """Django reads the first row to describe a table."""
    if connection.vendor != "mysql":
        pytest.skip("MariaDB and MySQL only")
    adopted("binary(16)", UUIDv7Field(unique=True))
    execute("ALTER TABLE adopted ADD COLUMN lasts time DEFAULT '26:00:00'")
    execute("INSERT INTO adopted (value) VALUES (NULL)")
    assert found() == []


def test_django_runs_them(adopted, capsys):
    adopted(f"varchar(32) COLLATE {LOCALE[connection.vendor]}", KUUIDField(unique=True))
    with pytest.raises(Exception, match=r"testapp.Adopted.value: \(sortable_ids.E007\)"):
        call_command("check", databases=["default"], tags=["database"])


def test_they_are_warnings_until_the_tables_of_the_app_are_there(adopted, monkeypatch):
    """`migrate django_sortable_ids` has to run."""
    adopted(f"varchar(32) COLLATE {LOCALE[connection.vendor]}", KUUIDField(unique=True))
    pending = "django_sortable_ids.migrating.unrecorded.pending_apps"
    monkeypatch.setattr(pending, lambda connection: {"django_sortable_ids"})
    (message,) = check_databases(databases=["default"])
    assert (message.id, message.is_serious()) == ("sortable_ids.E007", False)


@pytest.mark.parametrize(
    ("options", "road"),
    [
        ({"primary_key": True}, "`manage.py backfill_ids --primary-key --write-migration`"),
        ({"unique": True}, "SwapSortableID"),
    ],
    ids=["key", "other field"],
)
def test_the_road_to_another_scheme(isolated, table, options, road):
    model = table(define("Adopted", value=UUIDv7Field(**options), meta={"db_table": "adopted"}))
    other = table(define("Other", value=UUIDv6Field(**options), meta={"db_table": "other"}))
    other.objects.create()
    execute("INSERT INTO adopted (value) SELECT value FROM other")
    [message] = check_databases(databases=["default"])
    assert (message.id, message.obj) == ("sortable_ids.E009", model._meta.get_field("value"))
    assert [each in message.hint for each in ("--primary-key", "SwapSortableID")] == [
        each in road for each in ("--primary-key", "SwapSortableID")
    ]
    assert road in message.hint


def test_only_numbers_may_count_from_another_epoch():
    of_2400 = datetime(2400, 1, 1, tzinfo=UTC)
    for name, is_number in (("ulid", False), ("time64", True)):
        scheme = get(name)
        number = scheme.layout.join(scheme.tick(min(of_2400, scheme.latest)), 0)
        assert ("epoch_ms=" in later_than_now([number], scheme).advice) == is_number


STRANGE = {
    "after now": datetime.now(UTC) + timedelta(days=400),
    "before 2000": datetime(1984, 1, 24, tzinfo=UTC),
}


@pytest.mark.parametrize("at", STRANGE.values(), ids=STRANGE)
def test_a_few_ids_of_another_time(isolated, table, at):
    field = SnowflakeField(unique=True, epoch_ms=0)
    model = table(define("Adopted", value=field))
    now = field.scheme.tick(datetime.now(UTC))
    assert found() == []
    values = [field.scheme.layout.join(now - n, 0) for n in range(20)]
    model.objects.bulk_create(model(value=value) for value in values)
    assert found() == []
    model.objects.create(value=field.scheme.layout.join(field.scheme.tick(at), 0))
    (message,) = check_databases(databases=["default"])
    assert (message.id, message.obj) == ("sortable_ids.W011", model._meta.get_field("value"))
    assert f"1 of 21 sampled ids have such a time: {at:%Y-%m-%d}." in message.msg


def test_ids_of_the_times_of_their_rows_may_be_old(isolated, table):
    field = SnowflakeField(unique=True, epoch_ms=0, created_from="at")
    model = table(define("Adopted", value=field, at=models.DateTimeField(null=True)))
    model.objects.create(value=1 << 22)
    assert found() == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a role of the same connection")
def test_a_table_that_the_user_may_not_read_hides_no_other(isolated, table):
    table(define("Secret", code=KUUIDField(unique=True)))
    execute(f"CREATE TABLE adopted (value varchar(20) COLLATE {LOCALE[connection.vendor]})")
    define("Adopted", value=KUUIDField(unique=True), meta={"db_table": "adopted"})
    with limited_to(*EVERYTHING, without="testapp_secret"):
        assert [name for _, name in found()] == ["testapp.Adopted.value"] * 2
    execute("DROP TABLE adopted")
