"""``GenerateID``: ids that the database makes, of now and of a given time."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import NotSupportedError, connection, models
from django.db.migrations.writer import MigrationWriter
from django.db.models.sql import Query
from django.db.utils import ConnectionHandler
from django.utils import timezone

import django_sortable_ids
from django_sortable_ids import functions
from django_sortable_ids.fields import HexULIDField, SnowflakeField, ULIDField
from django_sortable_ids.functions import GenerateID
from django_sortable_ids.functions.fragments import RandomHex
from tests.capabilities import label
from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.own_tables import own_model, tables
from tests.testapp.models import Order

from .columns import COLUMNS, UNMADE

MADE = [field for field in COLUMNS if label(field) not in map(label, UNMADE)]
ROWS = 200


def expression_of(field, **arguments):
    return GenerateID(
        field.scheme_name, storage=field.storage, **field.scheme_arguments, **arguments
    )


@pytest.fixture(params=MADE, ids=label)
def field(request):
    return request.param


@pytest.fixture
def model(field):
    """A table whose id has a default in the database, and another id to be filled."""
    options, made = field.scheme_arguments, field.clone()
    made.null = True
    default = GenerateID(field.scheme_name, storage=field.storage, **options)
    model = own_model(
        "Made",
        name=models.CharField(max_length=9),
        at=models.DateTimeField(),
        made=made,
        public=type(field)(storage=field.storage, db_default=default, **options),
    )
    with tables(model):
        yield model


MOMENTS = [
    datetime(2026, 1, 1, 23, 59, 59, 999_999, UTC) + n * timedelta(hours=7, microseconds=1)
    for n in range(ROWS)
]


@own_tables
def test_makes_ids(model, field, shows):
    """In a column's default, of now, and in an update, of a column's time."""
    scheme = field.scheme
    before = timezone.now()
    model.objects.bulk_create(model(name=f"{n}", at=at) for n, at in enumerate(MOMENTS))
    after = timezone.now()
    values = list(model.objects.values_list("public", flat=True))
    assert_unlike(values, scheme)
    for value in values:
        assert scheme.from_int(scheme.to_int(value)) == value
        created_at = scheme.created_at(value)
        assert before - timedelta(seconds=1.001) < created_at <= after + timedelta(seconds=0.01)
    model.objects.update(made=expression_of(field, at="at"))
    for at, value in model.objects.values_list("at", "made"):
        assert scheme.parts(value)[0] == scheme.tick(at)
    values = list(model.objects.values_list("made", flat=True))
    assert_unlike(values, scheme)
    assert_random([scheme.parts(value)[1] for value in values], scheme)
    given = scheme.generate()
    assert model.objects.create(public=given, at=before).public == given
    made = model.objects.create(at=before)
    if connection.features.can_return_columns_from_insert:
        assert made.public == model.objects.get(pk=made.pk).public
    shows("makes", field)


@pytest.mark.django_db
@pytest.mark.parametrize("field", UNMADE, ids=label)
def test_refuses_texts_that_are_not_hexadecimal(field, shows):
    advice = "can't generate .* as text, .*: remove the expression and let Python generate the ids"
    with pytest.raises(NotSupportedError, match=f"{connection.display_name} {advice}"):
        list(Order.objects.values_list(expression_of(field)))
    shows("makes", field, has=False)


def assert_unlike(values, scheme):
    """As many distinct ones as chance leaves in a tick: of an integer few bits are random.

    By Chernoff's bound more pairs are equal with a chance below 1e-9.
    """
    suffixes = scheme.layout.suffixes
    if suffixes > 1 << 60:
        assert len(set(values)) == ROWS
    else:
        assert ROWS - len(set(values)) < 8 + 4 * ROWS * (ROWS - 1) / 2 / suffixes


def assert_random(suffixes, scheme):
    """Every bit of the suffix: by Hoeffding's inequality one is refused with a chance of 3e-11."""
    if scheme.layout.suffixes & (scheme.layout.suffixes - 1):
        assert max(suffixes) > 0.9 * scheme.layout.suffixes
        assert min(suffixes) < 0.1 * scheme.layout.suffixes
        return
    ones = [
        sum(suffix >> bit & 1 for suffix in suffixes)
        for bit in range(scheme.layout.suffixes.bit_length() - 1)
    ]
    rare = {bit: count for bit, count in enumerate(ones) if not 0.25 * ROWS < count < 0.75 * ROWS}
    set_bit = scheme.layout.set_bit
    assert rare == ({} if set_bit is None else {set_bit: len(suffixes)})


NAMED = [getattr(functions, name) for name in functions.__all__ if name.startswith("Generate")]


@in_one_case("function", NAMED)
def test_migrations_hold_it(function):
    arguments = [] if function is not GenerateID else ["snowflake"]
    for expression in (
        function(*arguments),
        GenerateID("kuuid", precision="ms", storage="binary"),
        GenerateID("ulid", at="created_at"),
    ):
        text, imports = MigrationWriter.serialize(expression)
        assert text.startswith(f"django_sortable_ids.functions.{type(expression).__name__}(")
        assert imports == {"import django_sortable_ids.functions"}
        assert (
            eval(text, {"django_sortable_ids": django_sortable_ids, "models": models}) == expression
        )


def test_it_learns_scheme_options_and_storage_from_the_column():
    for field, expected in (
        (ULIDField(storage="char", db_default=GenerateID()), GenerateID("ulid", storage="char")),
        (
            SnowflakeField(layout="discord", db_default=GenerateID()),
            GenerateID("snowflake", layout="discord"),
        ),
    ):
        assert field.db_default == field.clone().db_default == expected
        assert field.deconstruct()[3]["db_default"] == expected
    assert GenerateID().deconstruct() == ("django_sortable_ids.functions.GenerateID", (), {})


@pytest.mark.django_db
def test_without_a_column_it_wants_a_name():
    name_it = r'elsewhere name the scheme, such as GenerateID\("ulid"\)'
    with pytest.raises(TypeError, match=name_it):
        Order.objects.update(ulid=GenerateID())
    with pytest.raises(TypeError, match=name_it):
        GenerateID(storage="char")
    with pytest.raises(TypeError, match=name_it):
        GenerateID(epoch_ms=5)


def test_refuses_what_there_is_not():
    with pytest.raises(LookupError, match="unknown scheme 'uuid9'"):
        GenerateID("uuid9")
    with pytest.raises(TypeError, match="scheme 'uuid7' takes no options; remove precision"):
        GenerateID("uuid7", precision="ms")
    with pytest.raises(TypeError, match="count: remove GenerateID"):
        GenerateID("lexical_sequence")
    with pytest.raises(ValueError, match="storage='char': expected one of uuid"):
        GenerateID("uuid7", storage="char")


def test_a_program_without_django_makes_hex_ulids():
    """The default of the column is SQL of SQLite's own, with no function of Django's."""
    sqlite = ConnectionHandler({"default": {"ENGINE": "django.db.backends.sqlite3"}})["default"]
    sql, params = Query(Order).get_compiler(connection=sqlite).compile(GenerateID("hexulid"))
    with closing(sqlite3.connect(":memory:")) as program:
        program.execute(f"CREATE TABLE made (id text PRIMARY KEY DEFAULT ({sql % params}))")
        before = timezone.now()
        for _ in range(20):
            program.execute("INSERT INTO made DEFAULT VALUES")
        ids = [value for (value,) in program.execute("SELECT id FROM made")]
    scheme, about = HexULIDField().scheme, timedelta(milliseconds=10)
    assert len(set(ids)) == 20
    for value in ids:
        assert before - about < scheme.created_at(value) < timezone.now() + about


def test_refuses_a_mariadb_without_random_bytes():
    old = SimpleNamespace(vendor="mysql", mysql_is_mariadb=True, mysql_version=(10, 6, 18))
    with pytest.raises(NotSupportedError, match=r"MariaDB 10\.6\.18 has no RANDOM_BYTES"):
        RandomHex(digits=2).as_sql(Query(Order).get_compiler("default"), old)


def test_one_expression_has_the_sql_of_each_database():
    expression = GenerateID("ulid")
    compiler = Query(Order).get_compiler("default")
    for vendor, stored in {"sqlite": "unhex(", "postgresql": "::uuid"}.items():
        compiler.connection = SimpleNamespace(vendor=vendor)
        for _ in range(2):
            sql, params = compiler.compile(expression)
            assert stored in sql
            assert not params
