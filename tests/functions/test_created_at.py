"""``CreatedAt`` and ``AsText``: the database reads the time and the text of an id as Python does,
whatever the column."""

import json
import random
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import FieldError
from django.db import NotSupportedError, connection
from django.db.models import Value

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.functions import AsText, CreatedAt, GenerateID
from django_sortable_ids.schemes import OutOfRange, all_schemes, get
from tests.capabilities import PAGE, label, options
from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.own_tables import table_with
from tests.schemes.support import VECTORS
from tests.support import execute
from tests.testapp.models import Order, SequenceKey

from .columns import COLUMNS, LABELS, UNREAD

pytestmark = pytest.mark.django_db

COUNT = 300


def numbers_of(scheme, count):
    """Numbers of ids: of the ends, of both sides of tick borders, and random ones of all times."""
    layout = scheme.layout
    first, last = layout.first_tick, layout.last_tick
    now = scheme.tick(scheme.created_at(scheme.example))
    latest = scheme.tick(scheme.latest)
    near = {first, first + 1, now, now + 1, latest - 1, latest, latest + 1, last}
    for tick in (each for each in near if each <= last):
        yield layout.join(tick, 0)
        yield layout.join(tick, layout.capacity(tick) - 1)
    chance = random.Random(9562)
    for n in range(count):
        # Half of them anywhere, which is mostly the far future, half of them up to now.
        tick = chance.randint(first, last if n % 2 else now)
        yield layout.join(tick, chance.randrange(layout.capacity(tick)))


def vectors_of(scheme):
    """Numbers of the published ids of the scheme."""
    for file in VECTORS.glob("*.json"):
        vectors = json.loads(file.read_text())
        if (
            vectors.get("scheme") == scheme.name
            and get(scheme.name, **vectors["options"]) == scheme
        ):
            for vector in vectors["valid"]:
                yield scheme.to_int(scheme.parse(vector["text"]))


def time_of(scheme, value):
    try:
        return scheme.created_at(value)
    except OutOfRange:
        return None


@own_tables
@pytest.mark.parametrize("field", COLUMNS, ids=LABELS)
def test_equals_python(field, shows):
    scheme = field.scheme
    numbers = [*numbers_of(scheme, COUNT), *vectors_of(scheme)]
    values = {scheme.from_int(number) for number in numbers}
    with table_with(field) as model:
        model.objects.bulk_create([model(made=value) for value in values], batch_size=900)
        assert set(model.objects.values_list("made", flat=True)) == values
        shows("keeps", field)
        assert_found(model, values, scheme)
        shows("finds", field)
        texts = model.objects.values_list("made", AsText("made"))
        assert dict(texts) == {value: str(value) for value in values}
        found = model.objects.values_list("made", CreatedAt("made"))
        if label(field) in map(label, UNREAD):
            advice = "can't read the time of .* shares a digit with other bits: .*'binary'"
            with pytest.raises(NotSupportedError, match=advice):
                list(found)
            shows("reads", field, has=False)
            return
        assert dict(found) == {value: time_of(scheme, value) for value in values}
    shows("reads", field)


def assert_found(model, values, scheme):
    """A range of creation times finds those of its times, at its ends as well."""
    times = {value: time for value in values if (time := time_of(scheme, value)) is not None}
    first, last = (sorted(times.values())[len(times) * n // 3] for n in (1, 2))
    found = model.objects.filter(made__created_at__range=(first, last))
    expected = {value for value, time in times.items() if first <= time <= last}
    assert set(found.values_list("made", flat=True)) == expected


@in_one_case(
    ("model", "column", "message"),
    [
        (
            SequenceKey,
            "id",
            r"testapp\.SequenceKey\.id is of the scheme lexical sequence: its ids carry no time",
        ),
        (Order, "created_at", r"takes a sortable id, found testapp\.Order\.created_at"),
        (Order, "id", r"takes a sortable id, found testapp\.Order\.id"),
        (Order, Value(7), r"takes a sortable id, found"),
    ],
)
def test_refuses_what_has_no_time(model, column, message):
    with pytest.raises(FieldError, match=message):
        list(model.objects.annotate(at=CreatedAt(column)))


# Ids that the database makes with ``at`` have the time that Django reads in that column

MOMENT = datetime(2024, 7, 1, 12, 30, 0, 123_000, tzinfo=UTC)


def made_at():
    Order.objects.update(ulid=GenerateID("ulid", at="created_at"))
    return get("ulid").created_at(Order.objects.get().ulid)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("use_tz", [True, False])
def test_in_every_zone(settings, zone, use_tz):
    settings.USE_TZ, settings.TIME_ZONE = use_tz, zone
    expected = MOMENT if use_tz else datetime(2024, 7, 1, 12, 30, tzinfo=ZoneInfo(zone))
    Order.objects.create(name="", created_at=MOMENT if use_tz else expected.replace(tzinfo=None))
    assert made_at() == expected


@pytest.mark.skipif(connection.vendor != "postgresql", reason="no other engine has two types")
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("use_tz", [True, False])
def test_of_a_timestamp_without_zone(settings, zone, use_tz):
    settings.USE_TZ, settings.TIME_ZONE = use_tz, zone
    execute(
        "ALTER TABLE testapp_order ALTER created_at TYPE timestamp",
        "INSERT INTO testapp_order (name, created_at) VALUES ('', '2024-07-01 12:30')",
    )
    at = made_at()
    assert at == datetime(2024, 7, 1, 12, 30, tzinfo=UTC if use_tz else ZoneInfo(zone))
    as_compared = at if use_tz else at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert Order.objects.filter(created_at=as_compared).exists()


# No scheme is in the catalogue without columns that SQL is tested with, and without its docs

PAGE_OF_FIELDS = (Path(__file__).parents[2] / "docs" / "reference" / "fields.md").read_text()


def test_sql_is_tested_with_columns_of_every_scheme():
    in_columns = {field.scheme for field in (*COLUMNS, LexicalSequenceField())}
    lacking = {scheme.name for scheme in all_schemes() if scheme not in in_columns}
    assert lacking == {"uuid1"}, "which is only converted from"


def test_every_column_is_in_the_table_of_engines():
    lines = PAGE.read_text().splitlines()
    lists = dict(each[3:].split("`: ", 1) for each in lines if each.startswith("- `"))
    rows = {each.split("` | ")[0] for each in lines}
    for field in COLUMNS:
        of_field = lists.get(type(field).__name__, "").split(", `")
        listed = {each.strip("`") for each in of_field}
        shown = options(label(field)).strip("`")
        assert shown in listed or f"| `{label(field)}" in rows, label(field)


def test_the_page_of_fields_says_how_to_get_every_scheme():
    """Its field and, where it is one of several, the option that chooses it."""
    chosen = {field.scheme: field for field in (*COLUMNS, LexicalSequenceField())}
    for scheme in all_schemes():
        if scheme.name == "uuid1":
            continue
        field = chosen[scheme]
        words = [type(field).__name__, *map(str, field.scheme_arguments.values())]
        missing = [word for word in words if not re.search(rf"\b{word}\b", PAGE_OF_FIELDS)]
        assert missing == [], scheme.name
