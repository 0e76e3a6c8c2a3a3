"""``created_from``: ids of the times in the rows."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from django_sortable_ids.collisions import SortableIDManager
from django_sortable_ids.fields import (
    LexicalSequenceField,
    SnowflakeField,
    ULIDField,
    UUIDv7AutoField,
    UUIDv7Field,
)
from django_sortable_ids.functions import GenerateID
from tests.marks import own_tables
from tests.own_tables import own_model, with_tables

OLD = dt.datetime(2013, 5, 6, 7, 8, 9, 123456, tzinfo=dt.UTC)
KEYS = {
    "UUIDv7": UUIDv7Field(primary_key=True, created_from="at"),
    "automatic": UUIDv7AutoField(primary_key=True, created_from="at"),
    "snowflake": SnowflakeField(primary_key=True, created_from="at"),
}
pytestmark = own_tables


def define(**fields):
    common = {"at": models.DateTimeField(null=True), "objects": SortableIDManager()}
    return own_model("Imported", **common | {name: each.clone() for name, each in fields.items()})


@pytest.fixture
def imported():
    """Makes a model with these fields and a time ``at``, and its table."""
    with with_tables(define) as make:
        yield make


def time_in(model, row, name="id"):
    return model._meta.get_field(name).scheme.created_at(getattr(row, name))


def floored(at):
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


class Moment(dt.datetime):
    """A time like those of pendulum, whose differences are no number of microseconds."""

    def __sub__(self, other):
        return str(super().__sub__(other))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_has_the_time_of_its_row(imported, key):
    model = imported(id=key)
    row = model(at=OLD)
    assert row.pk is None
    row.save()
    assert time_in(model, row) == floored(OLD)
    assert model.objects.get(pk=row.pk).at == OLD


def test_another_column_has_the_time_of_its_row(imported):
    model = imported(public=ULIDField(unique=True, created_from="at"))
    row = model.objects.create(at=OLD)
    assert time_in(model, row, "public") == floored(OLD)
    before = row.public
    row.at = timezone.now()
    row.save()
    assert row.public == before


def test_a_time_that_the_database_or_the_insert_sets_means_now(imported):
    model = imported(
        id=UUIDv7Field(primary_key=True, created_from="at"),
        other=UUIDv7Field(created_from="set_at", unique=True),
        third=UUIDv7Field(created_from="changed_at", unique=True),
        set_at=models.DateTimeField(auto_now_add=True),
        changed_at=models.DateTimeField(auto_now=True),
    )
    start = floored(timezone.now())
    for at in (None, Now()):
        row = model.objects.create(at=at, set_at=OLD, changed_at=OLD)
        for name in ("id", "other", "third"):
            assert start <= time_in(model, row, name) <= timezone.now(), name


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2013-05-06T07:08:09+02:00", dt.datetime(2013, 5, 6, 5, 8, 9, tzinfo=dt.UTC)),
        (dt.date(2013, 5, 6), dt.datetime(2013, 5, 6, 4, 0, tzinfo=dt.UTC)),
        (models.Value(floored(OLD)), floored(OLD)),
        (Moment(2013, 5, 6, tzinfo=dt.UTC), dt.datetime(2013, 5, 6, tzinfo=dt.UTC)),
    ],
)
def test_spellings_of_a_time(imported, settings, value, expected):
    settings.TIME_ZONE = "America/New_York"
    column = models.DateField() if type(value) is dt.date else models.DateTimeField()
    model = imported(id=UUIDv7Field(primary_key=True, created_from="on"), on=column)
    assert time_in(model, model.objects.create(on=value)) == expected


def test_local_times(imported, settings):
    settings.USE_TZ = False
    settings.TIME_ZONE = "America/New_York"
    model = imported(id=KEYS["UUIDv7"])
    local = dt.datetime(2013, 5, 6, 7, 8, 9)  # noqa: DTZ001
    row = model.objects.create(at=local)
    assert time_in(model, row) == local.replace(tzinfo=ZoneInfo("America/New_York"))


def test_many_rows_of_few_times_are_in_their_order(imported):
    model = imported(id=UUIDv7Field(primary_key=True, created_from="at"))
    later = OLD + dt.timedelta(days=1)
    times = [later, OLD, OLD, None, later, OLD] * 50
    rows = model.objects.bulk_create(model(at=at) for at in times)
    assert len({row.pk for row in rows}) == 300
    for at in (OLD, later):
        of_time = [row.pk for row in rows if row.at == at]
        assert of_time == sorted(of_time)
        assert {time_in(model, row) for row in rows if row.at == at} == {floored(at)}


def test_a_time_that_the_scheme_cannot_hold(imported):
    model = imported(id=SnowflakeField(primary_key=True, created_from="at"))
    with pytest.raises(ValidationError, match=r"snowflake can't hold 1969-07-20.*it holds 2010"):
        model.objects.create(at=dt.datetime(1969, 7, 20, tzinfo=dt.UTC))
    assert not model.objects.exists()


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (UUIDv7Field(created_from="then", unique=True), "a DateTimeField or DateField .*: at"),
        (UUIDv7Field(created_from="name", unique=True), "='name': expected a DateTimeField or"),
        (UUIDv7Field(created_from=3, unique=True), "created_from=3: expected a DateTimeField"),
        (LexicalSequenceField(created_from="at", unique=True), "have no times"),
        (
            LexicalSequenceField(created_from="at", template="I-{number}", width=5, unique=True),
            "have no times",
        ),
        (ULIDField(created_from="at", db_default=GenerateID(), unique=True), "the database"),
    ],
)
def test_wrong_names(field, message):
    model = define(name=models.CharField(max_length=9), public=field)
    found = model._meta.get_field("public").check()
    (error,) = [each for each in found if each.id == "sortable_ids.E016"]
    assert re.search(message, error.msg)


def test_the_option_changes_no_table_and_is_kept():
    field = UUIDv7Field(created_from="at")
    assert field.deconstruct()[3] == {"created_from": "at"}
    assert "created_from" in UUIDv7Field.non_db_attrs
