"""What the database keeps: types, collations, indexes, and the order of the values in it."""

import secrets

import pytest
from django.db import DatabaseError, NotSupportedError, connection, models
from django.test.utils import isolate_apps

from django_sortable_ids.fields import (
    CombV13UUIDField,
    HexULIDField,
    KSUIDField,
    KUUIDField,
    LexicalSequenceField,
    ObjectIDField,
    PushIDField,
    SCRU128Field,
    SnowflakeField,
    SonyflakeField,
    Time64Field,
    TimeflakeField,
    TSIDField,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
    XidField,
)
from django_sortable_ids.schemes import LexicalSequence
from tests.combinations import in_one_case
from tests.fields.refused import assert_refused
from tests.marks import own_tables
from tests.own_tables import Own, table_with
from tests.testapp.models import around

REVERSED = {"precision": "ms", "reverse": True, "short": True}

# Arguments of the field, and its column on PostgreSQL, SQLite and MariaDB.
COLUMNS = {
    "uuid7": (UUIDv7Field, {}, "uuid", "char(32)", "uuid"),
    "uuid6": (UUIDv6Field, {}, "uuid", "char(32)", "uuid"),
    "comb13": (CombV13UUIDField, {}, "uuid", "char(32)", "binary(16)"),
    "ulid": (ULIDField, {}, "uuid", "blob", "binary(16)"),
    "hexulid": (HexULIDField, {}, "character varying(32) C", "text", "char(32) ascii_bin"),
    "kuuid": (KUUIDField, {}, "character varying(32) C", "text", "char(32) ascii_bin"),
    "reversed": (KUUIDField, REVERSED, "character varying(20) C", "text", "char(20) ascii_bin"),
    "ksuid": (KSUIDField, {}, "bytea", "blob", "binary(20)"),
    "xid": (XidField, {}, "bytea", "blob", "binary(12)"),
    "objectid": (ObjectIDField, {}, "bytea", "blob", "binary(12)"),
    "pushid": (PushIDField, {}, "character varying(20) C", "text", "char(20) ascii_bin"),
    "timeflake": (TimeflakeField, {}, "uuid", "blob", "binary(16)"),
    "scru128": (SCRU128Field, {}, "uuid", "blob", "binary(16)"),
    "snowflake": (SnowflakeField, {}, "bigint", "bigint", "bigint(20)"),
    "discord": (SnowflakeField, {"layout": "discord"}, "bigint", "bigint", "bigint(20)"),
    "sonyflake": (SonyflakeField, {}, "bigint", "bigint", "bigint(20)"),
    "tsid": (TSIDField, {}, "bigint", "bigint", "bigint(20)"),
    "time64": (Time64Field, {}, "bigint", "bigint", "bigint(20)"),
    "sequence": (
        LexicalSequenceField,
        {"width": 4},
        "character varying(4) C",
        "text",
        "char(4) ascii_bin",
    ),
    "growing": (
        LexicalSequenceField,
        {},
        "character varying(20) C",
        "text",
        "char(20) ascii_bin",
    ),
}
TEXT_36 = ("character varying(36) C", "text", "char(36) ascii_bin")
TEXT_32 = ("character varying(32) C", "text", "char(32) ascii_bin")
BYTES_16 = ("bytea", "blob", "binary(16)")
BYTES_22 = ("bytea", "blob", "binary(22)")
CHOSEN = {
    "uuid7 uuid": (UUIDv7Field, {"storage": "uuid"}, "uuid", "char(32)", "uuid"),
    "uuid7 binary": (UUIDv7Field, {"storage": "binary"}, *BYTES_16),
    "uuid7 char32": (UUIDv7Field, {"storage": "char32"}, *TEXT_32),
    "uuid7 char36": (UUIDv7Field, {"storage": "char36"}, *TEXT_36),
    "uuid6 binary": (UUIDv6Field, {"storage": "binary"}, *BYTES_16),
    "comb13 binary": (CombV13UUIDField, {"storage": "binary"}, *BYTES_16),
    "comb13 char36": (CombV13UUIDField, {"storage": "char36"}, *TEXT_36),
    "ulid binary": (ULIDField, {"storage": "binary"}, *BYTES_16),
    "ulid char": (
        ULIDField,
        {"storage": "char"},
        "character varying(26) C",
        "text",
        "char(26) ascii_bin",
    ),
    "ksuid char": (
        KSUIDField,
        {"precision": "ms", "storage": "char"},
        "character varying(27) C",
        "text",
        "char(27) ascii_bin",
    ),
    "pushid binary": (PushIDField, {"storage": "binary"}, "bytea", "blob", "binary(15)"),
    "hexulid binary": (HexULIDField, {"storage": "binary"}, *BYTES_16),
    "kuuid binary": (KUUIDField, {"storage": "binary"}, *BYTES_22),
}
# What MariaDB's uuid rejects and sorts otherwise, though it may hold what another package wrote.
AS_UUID = {
    "comb13 uuid": (CombV13UUIDField, {"storage": "uuid"}, "uuid", "char(32)", "uuid"),
    "ulid uuid": (ULIDField, {"storage": "uuid"}, "uuid", "char(32)", "uuid"),
    "hexulid uuid": (HexULIDField, {"storage": "uuid"}, "uuid", "char(32)", "uuid"),
}
ALL = COLUMNS | CHOSEN
# Where MySQL differs from MariaDB. A UUIDField of Django has the collation of the database, too.
ON_MYSQL = {"uuid": "char(32) utf8mb4_0900_ai_ci", "bigint(20)": "bigint"}


def columns(rows):
    return pytest.mark.parametrize(
        ("field_class", "options", "postgresql", "sqlite", "mysql"), rows.values(), ids=rows
    )


@pytest.fixture
def table():
    """Makes a model with one field, and its table."""
    made = []

    def make(field):
        class Stored(Own):
            value = field

            class Meta(Own.Meta):
                db_table = "stored"

        with connection.schema_editor() as editor:
            editor.create_model(Stored)
        made.append(Stored)
        return Stored

    with isolate_apps("tests.testapp"):
        yield make
    for model in made:
        with connection.schema_editor() as editor:
            editor.delete_model(model)


def column_type(table, column):
    """The type and, for text, the collation that the database reports."""
    queries = {
        "sqlite": "SELECT lower(type), NULL FROM pragma_table_info(%s) WHERE name = %s",
        "postgresql": """
            SELECT format_type(atttypid, atttypmod), NULLIF(collname, 'default')
            FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
            WHERE attrelid = %s::regclass AND attname = %s""",
        "mysql": """
            SELECT column_type, collation_name FROM information_schema.columns
            WHERE table_schema = database() AND table_name = %s AND column_name = %s""",
    }
    with connection.cursor() as cursor:
        cursor.execute(queries[connection.vendor], [table, column])
        return " ".join(filter(None, cursor.fetchone()))


def indexes(table, column):
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, table)
    return [
        name
        for name, found in constraints.items()
        if found["columns"] == [column]
        and (found["index"] or found["unique"] or found["primary_key"])
    ]


def numbers(scheme):
    """300 numbers of ids, from all over the scheme's range and close together."""
    if isinstance(scheme, LexicalSequence):
        texts = {scheme.nth(secrets.randbelow(10**6)) for _ in range(300)}
        return [scheme.to_int(text) for text in texts]
    layout = scheme.layout
    last = layout.last_tick
    if scheme.value_type is int:
        # What is more than a signed column holds is refused: see test_unsigned.
        last = min(last, (2**63 - 1) // layout.suffixes)
    span = last - layout.first_tick
    found = {layout.join(layout.first_tick, 0), layout.join(last, 0)}
    while len(found) < 300:
        tick = layout.first_tick + secrets.randbelow(span)
        for near in (tick, tick, tick + 1):
            found.add(layout.join(near, secrets.randbelow(layout.capacity(near))))
    return list(found)


@own_tables
@columns(ALL | AS_UUID)
def test_the_column(table, field_class, options, postgresql, sqlite, mysql):
    expected = {"postgresql": postgresql, "sqlite": sqlite, "mysql": mysql}[connection.vendor]
    if connection.vendor == "mysql" and not connection.mysql_is_mariadb:
        expected = ON_MYSQL.get(expected, expected)
    table(field_class(null=True, **options))
    assert column_type("stored", "value") == expected


@own_tables
@columns(ALL)
def test_one_index_only(field_class, options, postgresql, sqlite, mysql):
    for how in ("unique", "db_index", "primary_key"):
        with table_with(field_class(**options, **{how: True})) as model:
            assert len(indexes(model._meta.db_table, "made")) == 1, how


@pytest.mark.django_db
def test_one_index_only_on_a_foreign_key(stored_key):
    model = around(stored_key, "Child")
    assert len(indexes(model._meta.db_table, "parent_id")) == 1
    assert len(indexes(model._meta.db_table, "twin_id")) == 1


@own_tables
@columns({key: row for key, row in ALL.items() if key != "growing"})
def test_the_database_sorts_as_the_values_do(
    table, field_class, options, postgresql, sqlite, mysql
):
    model = table(field_class(null=True, unique=True, **options))
    scheme = model._meta.get_field("value").scheme
    made = numbers(scheme)
    model.objects.bulk_create(model(value=scheme.from_int(number)) for number in made)
    read = list(model.objects.order_by("value").values_list("value", flat=True))
    assert [scheme.to_int(value) for value in read] == sorted(made)
    assert read == sorted(read)
    middle = scheme.from_int(sorted(made)[150])
    assert model.objects.filter(value__lt=middle).count() == 150
    assert model.objects.filter(value__in=read[:7]).count() == 7


@own_tables
def test_a_growing_sequence_sorts_by_length_first(table):
    model = table(LexicalSequenceField(null=True, unique=True))
    scheme = model._meta.get_field("value").scheme
    made = sorted(secrets.randbelow(10**6) for _ in range(300))
    model.objects.bulk_create(model(value=scheme.nth(n)) for n in dict.fromkeys(made))
    length = models.functions.Length("value")
    read = list(model.objects.order_by(length, "value").values_list("value", flat=True))
    assert read == [scheme.nth(n) for n in dict.fromkeys(made)]


@own_tables
@columns(AS_UUID)
def test_schemes_that_are_no_uuids_in_uuid_columns(
    table, field_class, options, postgresql, sqlite, mysql
):
    model = table(field_class(null=True, unique=True, **options))
    scheme = model._meta.get_field("value").scheme
    made = numbers(scheme)
    rows = [model(value=scheme.from_int(number)) for number in made]
    if connection.vendor == "mysql" and connection.features.has_native_uuid_field:
        with pytest.raises(DatabaseError, match="Incorrect uuid value"):
            model.objects.bulk_create(rows)
        return
    model.objects.bulk_create(rows)
    values = sorted(scheme.from_int(number) for number in made)
    assert list(model.objects.order_by("value").values_list("value", flat=True)) == values
    assert model.objects.get(value=values[0]).value == values[0]
    assert model.objects.filter(value__in=values[:7]).count() == 7


def test_an_id_of_hexadecimal_digits_is_not_taken_for_a_stored_uuid():
    """Django hands in both, when it prefetches."""
    field = ULIDField(storage="uuid")
    text = "0123456789ABCDEF0123456789"
    prepared = field.get_db_prep_value(text, connection, prepared=True)
    assert field.get_db_prep_value(text, connection) == prepared
    for stored in (prepared, str(prepared)):
        assert field.get_db_prep_value(stored, connection) == prepared


def test_storages_of_another_kind_are_refused():
    for field_class, storage, known in [
        (ULIDField, "char32", "uuid, binary, char, varchar for ULID"),
        (KUUIDField, "uuid", "binary, char, varchar for kuuid"),
        (SnowflakeField, "binary", "integer for snowflake"),
        (LexicalSequenceField, "binary", "char, varchar for lexical sequence"),
        (UUIDv7Field, "char", "uuid, binary, char32, char36, varchar32, varchar36 for UUIDv7"),
    ]:
        message = rf"^storage='{storage}': expected one of {known}\.$"
        assert_refused(field_class(storage=storage), "E014", message)


def test_the_column_of_a_charfield_holds_an_id():
    assert ULIDField(storage="varchar", max_length=26).max_length == 26
    for arguments, message in [
        ({"storage": "varchar", "max_length": 25}, "max_length=25: expected 26 or more"),
        ({"max_length": 26}, "max_length=26: expected none unless storage is a varchar"),
        ({"storage": "char", "max_length": 40}, "max_length=40: expected none unless"),
        ({"storage": "varchar", "max_length": "40"}, "max_length='40': expected 26 or more"),
        ({"db_collation": "C"}, "db_collation='C': the column is not text"),
        ({"storage": "uuid", "db_collation": "C"}, "db_collation='C': the column is not text"),
    ]:
        assert_refused(ULIDField(**arguments), "E014", f"^{message}")


@pytest.fixture
def of_another_vendor(db):
    """A connection whose backend is derived from one of Django's, as that of CockroachDB is."""
    other = connection.copy()
    other.vendor, other.display_name = "cockroachdb", "CockroachDB"
    yield other
    other.close()


@pytest.mark.parametrize("field", [ULIDField(), HexULIDField(), LexicalSequenceField()])
def test_a_column_of_another_vendor(field, of_another_vendor):
    with pytest.raises(NotSupportedError, match=r"not for CockroachDB; set .* storage: \"varchar"):
        field.db_type(of_another_vendor)
    as_varchar = type(field)(storage="varchar")
    assert as_varchar.db_type(of_another_vendor) == as_varchar.db_type(connection)


@in_one_case("name", COLUMNS)
def test_many_values_are_stored_as_each_of_them(name):
    field, arguments, *_ = COLUMNS[name]
    made = field(**arguments)
    scheme = made.scheme
    nth = getattr(scheme, "nth", lambda _: scheme.generate())
    numbers = [scheme.to_int(nth(n)) for n in range(1, 40)]
    stored = made.stored(connection)
    expected = [stored.to_db(number, connection) for number in numbers]
    assert stored.all_to_db(numbers, connection) == expected
