"""That a filter by creation time reads the index of the id, as the database itself explains."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F

from tests.combinations import each_with
from tests.support import explained
from tests.testapp.models import KEYS, SequenceKey, around

from .support import utc

pytestmark = pytest.mark.django_db

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
