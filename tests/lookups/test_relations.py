"""Creation times across relations, in expressions, and in querysets that are pickled."""

import pickle
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import FieldError, ValidationError
from django.db import connection
from django.db.models import CharField, F, IntegerField, UUIDField
from django.db.models.functions import Abs, Length, Lower
from django.db.models.lookups import Exact
from django.test.utils import isolate_apps, register_lookup
from django.utils import timezone

from django_sortable_ids.fields import ULIDField
from tests.combinations import each_with, in_one_case
from tests.own_tables import Own
from tests.support import explained
from tests.testapp.models import KEYS, Order, OrderLine, SequenceKey, around

from .support import each_field, fill, utc

pytestmark = pytest.mark.django_db

OLD, NEW = utc(2020, 6, 1, 12), utc(2026, 6, 1, 12)
BETWEEN = utc(2023, 1, 1)


def orders_of(name):
    """An old and a new order, and two without an id."""
    fill(name, [OLD, NEW])
    old, new = Order.objects.exclude(created_at=None).order_by("created_at")
    for order in Order.objects.all():
        OrderLine.objects.create(order=order)
    OrderLine.objects.create(order=None)
    return old, new


def test_a_foreign_key_to_the_key_needs_no_join(time_key):
    child = around(time_key, "Child")
    scheme = time_key._meta.pk.scheme
    old, new = (time_key.objects.create(pk=scheme.generate(at)) for at in (OLD, NEW))
    rows = [child.objects.create(parent=parent) for parent in (old, new, None)]
    rows[0].friends.add(new)
    for id in ("", "__id", "__pk", "_id"):
        path = f"parent{id}__created_at"
        found = child.objects.filter(**{f"{path}__gte": BETWEEN})
        assert "JOIN" not in str(found.query)
        assert list(found) == [rows[1]]
        assert set(child.objects.exclude(**{f"{path}__gte": BETWEEN})) == {rows[0], rows[2]}
        assert list(child.objects.filter(**{f"{path}__year": 2020})) == [rows[0]]
        assert list(child.objects.filter(**{f"{path}__month__lt": 7}).order_by(path)) == rows[:2]
        assert list(child.objects.filter(**{f"{path}__isnull": True})) == rows[2:]
        assert list(child.objects.filter(**{path: F(path)}).order_by(f"-{path}")) == rows[1::-1]
    for path in ("friends", "friends__id"):
        assert list(child.objects.filter(**{f"{path}__created_at__gte": BETWEEN})) == [rows[0]]
    assert list(time_key.objects.filter(children__parent__id__created_at__lt=BETWEEN)) == [old]
    assert list(time_key.objects.filter(pk__created_at__lt=BETWEEN)) == [old]


@each_field
def test_a_pickled_queryset(name):
    orders_of(name)
    for lookup, value in [
        ("__gte", BETWEEN),
        ("__range", (BETWEEN, NEW)),
        ("__in", [NEW]),
        ("__date", NEW.date()),
        ("__year__gt", 2022),
        ("__isnull", False),
        ("", BETWEEN),
    ]:
        queryset = Order.objects.filter(**{f"{name}__created_at{lookup}": value})
        restored = Order.objects.all()
        restored.query = pickle.loads(pickle.dumps(queryset.query))
        assert set(restored) == set(queryset)
        assert pickle.loads(pickle.dumps(queryset)).count() == queryset.count()


@each_field
def test_the_zone_is_that_of_the_query(name):
    """A date means the day of the zone that is current when the filter is written."""
    orders_of(name)
    late = utc(2026, 6, 2, 2)
    fill(name, [late])
    with timezone.override("America/New_York"):
        on_the_first = Order.objects.filter(**{f"{name}__created_at__date": NEW.date()})
    with timezone.override("UTC"):
        assert on_the_first.count() == 2
        assert Order.objects.filter(**{f"{name}__created_at__date": NEW.date()}).count() == 1


# What ``id__created_at`` can't do, and what it says then.


@in_one_case("path", ["created_at", "created_at__gte", "created_at__date__lt"])
def test_sequences_carry_no_time(path):
    value = utc(2026, 1, 1)
    message = r"testapp\.{} is of the scheme lexical sequence: its ids carry no time"
    with pytest.raises(FieldError, match=message.format("SequenceKey.id")):
        SequenceKey.objects.filter(**{f"id__{path}": value})
    with pytest.raises(FieldError, match=message.format("Order.number")):
        Order.objects.filter(**{f"number__{path}": value})
    with pytest.raises(FieldError, match="carry no time"):
        SequenceKey.objects.filter(**{f"children__id__{path}": value})


@each_field
@in_one_case(
    ("path", "value"),
    [
        ("", "nonsense"),
        ("__gte", "2026-13-01"),
        ("__date", "yesterday"),
        ("__date__in", ["2026-01-01", "x"]),
        ("__range", ("2026-01-01T00:00:00Z", "x")),
    ],
)
def test_what_is_no_time_is_refused_as_a_column_would(name, path, value):
    with pytest.raises(ValidationError):
        Order.objects.filter(**{f"created_at{path}": value}).exists()
    with pytest.raises(ValidationError):
        Order.objects.filter(**{f"{name}__created_at{path}": value}).exists()


@each_field
@in_one_case("path", ["date", "year", "month__gte", "hour__in"])
def test_lookups_of_times_follow_created_at(name, path):
    with pytest.raises(FieldError, match="Unsupported lookup"):
        Order.objects.filter(**{f"{name}__{path}": 1})


def test_djangos_checks_find_a_lookup_of_times_that_is_none():
    with isolate_apps("tests.testapp"):

        class Dated(Own):
            id = ULIDField(primary_key=True)

            class Meta(Own.Meta):
                ordering = ("id__year",)

        assert [each.id for each in Dated.check()] == ["models.E015"]


@each_field
@in_one_case("bounds", [(), (OLD,), (OLD, BETWEEN, NEW)])
def test_a_range_of_other_than_two_is_refused(name, bounds):
    with pytest.raises(TypeError, match=rf"\.{name}: expected two times, found"):
        Order.objects.filter(**{f"{name}__created_at__range": bounds})
    with pytest.raises(TypeError, match=rf"\.{name}: expected two ids, found"):
        Order.objects.filter(**{f"{name}__range": bounds})


def test_a_foreign_key_to_another_key_has_no_time():
    with pytest.raises(FieldError, match=r"takes a sortable id, found contenttypes\."):
        Permission.objects.filter(content_type__created_at__gte=BETWEEN)
    with pytest.raises(FieldError, match="carry no time"):
        around(SequenceKey, "Child").objects.filter(parent__created_at__gte=BETWEEN)


def test_the_warning_about_a_naive_time_names_its_lookup(settings):
    settings.USE_TZ = True
    with pytest.warns(RuntimeWarning, match=r"Order\.uuid7__created_at received a naive"):
        Order.objects.filter(uuid7__created_at__gte=BETWEEN.replace(tzinfo=None))


@in_one_case(
    ("base", "transform", "path"),
    [
        (CharField, Lower, "ulid__lower"),
        (CharField, Lower, "hexulid__lower"),
        (IntegerField, Abs, "snowflake__abs"),
        (UUIDField, Length, "uuid7__length"),
    ],
)
def test_transforms_of_other_fields_are_not_those_of_ids(base, transform, path):
    """What a project registers for its texts and numbers expects the column of these."""
    with register_lookup(base, transform), pytest.raises(FieldError):
        Order.objects.filter(**{path: "1"})


# Lookups that a project registers with a class of ids, or with one column


def assert_found(name):
    order = Order.objects.create()
    assert Order.objects.get(**{f"{name}__same": getattr(order, name)}) == order


def assert_unknown(name):
    with pytest.raises(FieldError):
        Order.objects.filter(**{f"{name}__same": getattr(Order.objects.create(), name)})


def test_one_of_a_class():
    assert_unknown("ulid")
    with register_lookup(ULIDField, Exact, lookup_name="same"):
        assert_found("ulid")
        assert ULIDField.get_lookups()["same"] is Exact
        assert_unknown("hexulid")
    assert_unknown("ulid")
    assert "same" not in ULIDField.get_lookups()


# That a filter by creation time reads the index of the id, as the database itself explains


FIRST = utc(2026, 1, 1)
DAYS = 40
EACH_DAY = 25


PLACES = ["key", "unique", "indexed through a relation"]
TIME_KEYS = [model for model in KEYS if model is not SequenceKey]


@pytest.fixture(
    params=each_with(TIME_KEYS, PLACES), ids=lambda case: f"{case[0].__name__}-{case[1]}"
)
def path(request):
    """A model with 1,000 rows, so many that an index pays, and the path to its id."""
    key, place = request.param
    model = key if place == "key" else around(key, "Public")
    field = model._meta.get_field("id" if place == "key" else "public")
    model.objects.bulk_create(
        model(**{field.name: value})
        for day in range(DAYS)
        for value in field.scheme.generate_many(EACH_DAY, FIRST + timedelta(days=day, hours=5))
    )
    if place.startswith("indexed"):
        model.objects.update(to=F("public"))
        return model, "to__public", "to_id"
    return model, field.name, field.name


def plan(queryset):
    """What the database says that it will do, as one text."""
    return "\n".join(explained(*queryset.query.sql_with_params(), options="FORMAT=JSON"))


def reads(plan, column, *signs):
    """Whether the plan reads nothing but that range of the column's index."""
    if connection.vendor == "sqlite":
        wanted = " AND ".join(f"{column}{sign}?" for sign in signs)
        return plan.count("SEARCH") == 1 and f"({wanted})" in plan
    if connection.vendor == "postgresql":
        conditions = [line for line in plan.splitlines() if "Index Cond" in line]
        compared = re.findall(rf"\b{column}\)?(?:::\w+)? ([<>])= ", conditions[0])
        return len(conditions) == 1 and compared == list(signs)
    # MariaDB shows bytes in its JSON as they are, which no parser takes.
    plan = re.sub(r"\s+", "", plan)
    if connection.mysql_is_mariadb:
        return '"access_type":"range"' in plan and f'"used_key_parts":["{column}"]' in plan
    return plan.count('"index_access_type"') == 1 and (
        f'"key_columns":["{column}"]' in plan and '"index_access_type":"index_range_scan"' in plan
    )


LOOKUPS = [
    ("__range", (FIRST + timedelta(days=3), FIRST + timedelta(days=4)), 25),
    ("__date", (FIRST + timedelta(days=3)).date(), 25),
    ("", FIRST + timedelta(days=3, hours=5), 25),
    ("__date__range", ((FIRST + timedelta(days=3)).date(), (FIRST + timedelta(days=4)).date()), 50),
]


def test_a_span_of_time(path):
    model, name, column = path
    for lookup, value, count in LOOKUPS:
        found = model.objects.filter(**{f"{name}__created_at{lookup}": value})
        assert reads(plan(found), column, ">", "<"), plan(found)
        assert found.count() == count
    two_conditions_are_one_range(model, name, column)
    an_open_end_is_one_too(model, name, column)


def two_conditions_are_one_range(model, name, column):
    start = FIRST + timedelta(days=7)
    since = {f"{name}__created_at__gte": start}
    until = {f"{name}__created_at__lt": start + timedelta(days=1)}
    found = model.objects.filter(**since, **until)
    # PostgreSQL shows the conditions in the order of the query, SQLite the lower bound first.
    assert any(reads(plan(found), column, *signs) for signs in ("><", "<>")), plan(found)
    assert found.count() == EACH_DAY


def an_open_end_is_one_too(model, name, column):
    found = model.objects.filter(**{f"{name}__created_at__gte": FIRST + timedelta(days=DAYS - 1)})
    descending = model._meta.get_field(name.split("__")[-1]).scheme.descending
    assert reads(plan(found), column, "<" if descending else ">"), plan(found)
    assert found.count() == EACH_DAY
