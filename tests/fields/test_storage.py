"""What the database keeps: types, collations, indexes, and the order of the values in it."""

import secrets

import pytest
from django.db import DatabaseError, NotSupportedError, connection, models

from django_sortable_ids import fields
from django_sortable_ids.schemes import LexicalSequence
from tests.marks import own_tables
from tests.own_tables import own_model, table_with, with_tables
from tests.support import constraints, query

REVERSED = {"precision": "ms", "reverse": True, "short": True}

# Arguments of the field, and its column on PostgreSQL, SQLite and MariaDB: each kind of value.
UUID = ("uuid", "char(32)", "uuid")
BYTES_16 = ("bytea", "blob", "binary(16)")
IN_UUID = ("uuid", "blob", "binary(16)")
INTEGER = ("bigint", "bigint", "bigint(20)")


def text(length):
    return f"character varying({length}) C", "text", f"char({length}) ascii_bin"


COLUMNS = {
    "uuid7": (fields.UUIDv7Field, {}, *UUID),
    "comb13": (fields.CombV13UUIDField, {}, "uuid", "char(32)", "binary(16)"),
    "ulid": (fields.ULIDField, {}, *IN_UUID),
    "hexulid": (fields.HexULIDField, {}, *text(32)),
    "reversed": (fields.KUUIDField, REVERSED, *text(20)),
    "ksuid": (fields.KSUIDField, {}, "bytea", "blob", "binary(20)"),
    "xid": (fields.XidField, {}, "bytea", "blob", "binary(12)"),
    "scru128": (fields.SCRU128Field, {}, *IN_UUID),
    "snowflake": (fields.SnowflakeField, {}, *INTEGER),
    "tsid": (fields.TSIDField, {}, *INTEGER),
    "sequence": (fields.LexicalSequenceField, {"width": 4}, *text(4)),
    "growing": (fields.LexicalSequenceField, {}, *text(20)),
}
CHOSEN = {
    "uuid7 uuid": (fields.UUIDv7Field, {"storage": "uuid"}, *UUID),
    "uuid7 binary": (fields.UUIDv7Field, {"storage": "binary"}, *BYTES_16),
    "uuid7 char32": (fields.UUIDv7Field, {"storage": "char32"}, *text(32)),
    "uuid7 char36": (fields.UUIDv7Field, {"storage": "char36"}, *text(36)),
    "comb13 char36": (fields.CombV13UUIDField, {"storage": "char36"}, *text(36)),
    "ulid char": (fields.ULIDField, {"storage": "char"}, *text(26)),
    "ksuid char": (fields.KSUIDField, {"precision": "ms", "storage": "char"}, *text(27)),
    "pushid binary": (fields.PushIDField, {"storage": "binary"}, "bytea", "blob", "binary(15)"),
    "kuuid binary": (fields.KUUIDField, {"storage": "binary"}, "bytea", "blob", "binary(22)"),
}
# What MariaDB's uuid rejects and sorts otherwise, though it may hold what another package wrote.
AS_UUID = {
    "comb13 uuid": (fields.CombV13UUIDField, {"storage": "uuid"}, *UUID),
    "ulid uuid": (fields.ULIDField, {"storage": "uuid"}, *UUID),
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

    def define(field):
        return own_model("Stored", meta={"db_table": "stored"}, value=field)

    with with_tables(define) as make:
        yield make


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
    (found,) = query(queries[connection.vendor], table, column)
    return " ".join(filter(None, found))


def indexes(table, column):
    return [
        name
        for name, found in constraints(table).items()
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
    span = last - layout.first_tick
    found = {layout.join(layout.first_tick, 0), layout.join(last, 0)}
    while len(found) < 300:
        tick = layout.first_tick + secrets.randbelow(span)
        for near in (tick, tick, tick + 1):
            found.add(layout.join(near, secrets.randbelow(layout.capacity(near))))
    return list(found)


def assert_type(postgresql, sqlite, mysql):
    expected = {"postgresql": postgresql, "sqlite": sqlite, "mysql": mysql}[connection.vendor]
    if connection.vendor == "mysql" and not connection.mysql_is_mariadb:
        expected = ON_MYSQL.get(expected, expected)
    assert column_type("stored", "value") == expected


@own_tables
@pytest.mark.parametrize("how", ["db_index", "primary_key"])
@pytest.mark.parametrize("row", ["uuid7", "reversed", "ksuid", "snowflake"])
def test_one_index_only(row, how):
    field_class, options, *_ = COLUMNS[row]
    with table_with(field_class(**options, **{how: True})) as model:
        assert len(indexes(model._meta.db_table, "made")) == 1


@own_tables
@columns({key: row for key, row in ALL.items() if key != "growing"})
def test_the_database_sorts_as_the_values_do(
    table, field_class, options, postgresql, sqlite, mysql
):
    model = table(field_class(null=True, unique=True, **options))
    assert_type(postgresql, sqlite, mysql)
    assert len(indexes("stored", "value")) == 1
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
    field_class, options, *types = COLUMNS["growing"]
    model = table(field_class(null=True, unique=True, **options))
    assert_type(*types)
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
    assert_type(postgresql, sqlite, mysql)
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


@pytest.fixture
def of_another_vendor(db):
    """A connection whose backend is derived from one of Django's, as that of CockroachDB is."""
    other = connection.copy()
    other.vendor, other.display_name = "cockroachdb", "CockroachDB"
    yield other
    other.close()


@pytest.mark.parametrize(
    "field", [fields.ULIDField(), fields.HexULIDField(), fields.LexicalSequenceField()]
)
def test_a_column_of_another_vendor(field, of_another_vendor):
    with pytest.raises(NotSupportedError, match=r"not for CockroachDB; set .* storage: \"varchar"):
        field.db_type(of_another_vendor)
    as_varchar = type(field)(storage="varchar")
    assert as_varchar.db_type(of_another_vendor) == as_varchar.db_type(connection)


def test_an_id_of_hexadecimal_digits_is_not_taken_for_a_stored_uuid():
    """Django hands in both, when it prefetches."""
    field = fields.ULIDField(storage="uuid")
    text = "0123456789ABCDEF0123456789"
    prepared = field.get_db_prep_value(text, connection, prepared=True)
    assert field.get_db_prep_value(text, connection) == prepared
    for stored in (prepared, str(prepared)):
        assert field.get_db_prep_value(stored, connection) == prepared
