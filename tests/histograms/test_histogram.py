"""``histogram()``: the counts of each bar, compared with counting one by one."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import partial

import pytest
from django.core.exceptions import FieldError
from django.db import connection
from django.db.models import Count, Q, Window
from django.db.models.functions import RowNumber
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_sortable_ids import functions
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.functions import Bar
from django_sortable_ids.histograms.histogram import UNITS
from django_sortable_ids.pagination import Count as Rows
from django_sortable_ids.schemes import TimeScheme
from tests.admin.page import Page
from tests.combinations import each_with, in_one_case
from tests.lookups.support import fill, utc
from tests.marks import own_tables
from tests.own_tables import table_with
from tests.schemes.support import ids_at
from tests.store.models import PRODUCTS, Basket, Profile, Stock, ULIDProduct
from tests.support import explained
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db
histogram = partial(functions.histogram, time_limit=None)
"""Exact however busy the machine is."""

ZONES = {
    "Europe/Berlin": utc(2026, 10, 25),
    "America/New_York": utc(2026, 3, 8),
    "Australia/Lord_Howe": utc(2026, 4, 4, 12),
    "America/Sao_Paulo": utc(2018, 11, 4),
    "Pacific/Apia": utc(2011, 12, 30),
}


def around(middle, n, seed=0):
    """Moments within a day of the middle, to the second, and both ends of its hours."""
    chance = random.Random(seed)
    seconds = [chance.randrange(-86_400, 86_400) for _ in range(n)]
    hours = [3_600 * hour + shift for hour in range(-3, 4) for shift in (-1, 0)]
    return [middle + timedelta(seconds=each) for each in (*seconds, *hours)]


def test_each_kind_of_column_is_counted(stored_key):
    scheme = stored_key._meta.get_field("id").scheme
    if not isinstance(scheme, TimeScheme):
        return
    ids = ids_at(scheme, around(utc(2026, 3, 8), 30))
    stored_key.objects.bulk_create(stored_key(id=value) for value in ids)
    bars = histogram(stored_key.objects, "id", "hour")
    assert rows_in(bars) == one_by_one(bars, map(scheme.created_at, ids))
    assert sum(rows_in(bars)) == len(ids) == 44


@pytest.mark.parametrize(("unit", "zone"), each_with(UNITS, list(ZONES)))
def test_each_unit_is_counted_from_a_start_to_an_end(unit, zone):
    with timezone.override(zone):
        middle = ZONES[zone]
        fill("uuid7", around(middle, 40))
        times = [at for at in Order.objects.values_list("created_at", flat=True) if at]
        long = unit not in ("minute", "hour")
        start = middle - timedelta(days=40 if long else 0, hours=2, seconds=11)
        end = middle + timedelta(days=40 if long else 0, hours=3, seconds=1)
        bars = histogram(Order.objects, "uuid7", unit, start, end)
        assert rows_in(bars) == one_by_one(bars, times)
        assert (bars[0].start, bars[-1].end) == (start, end)
        assert all(bar.start.tzinfo == timezone.get_current_timezone() for bar in bars)


def test_days_may_be_the_bounds():
    fill("uuid7", [utc(2026, 7, day, 12) for day in range(1, 10)])
    bars = histogram(Order.objects, "uuid7", "day", date(2026, 7, 3), date(2026, 7, 6))
    assert rows_in(bars) == [1, 1, 1]
    assert f"{bars[0].start:%c}" == "Fri Jul  3 00:00:00 2026"


def test_without_rows_there_are_no_bars_unless_both_bounds_are_given():
    assert histogram(Order.objects, "uuid7", "day") == []
    assert histogram(Order.objects, "uuid7", "day", utc(2026, 1, 1)) == []
    assert histogram(Order.objects.none(), "uuid7", "day") == []
    assert rows_in(
        histogram(Order.objects.none(), "uuid7", "day", utc(2026, 1, 1, 12), utc(2026, 1, 2, 3))
    ) == [0]
    assert histogram(Order.objects, "uuid7", "day", utc(2026, 1, 1), utc(2026, 1, 1)) == []


def test_without_time_zones_bars_have_local_times(settings):
    settings.USE_TZ = False
    settings.TIME_ZONE = "Europe/Berlin"
    fill("ulid", [utc(2026, 3, 28, 22, 30), utc(2026, 3, 28, 23), utc(2026, 3, 29, 21, 59)])
    bars = histogram(Order.objects, "ulid", "day")
    assert bars == [
        Bar(datetime(2026, 3, 28), datetime(2026, 3, 29), Rows(1)),  # noqa: DTZ001
        Bar(datetime(2026, 3, 29), datetime(2026, 3, 30), Rows(2)),  # noqa: DTZ001
    ]
    assert histogram(Order.objects, "ulid", "day", bars[0].start, bars[1].end) == bars


def test_ids_at_both_ends_of_a_scheme():
    """Years after 9999 have no time, and the others no limit but that of the number of bars."""
    scheme = Order._meta.get_field("uuid7").scheme
    low, high = (scheme.from_int(number) for number in scheme.whole_range)
    Order.objects.bulk_create(
        Order(uuid7=value, number=number) for number, value in (("91", low), ("92", high))
    )
    (only,) = histogram(Order.objects, "uuid7", "year")
    assert (only.count, only.start.year) == (1, 1969)  # in New York
    fill("uuid7", [scheme.latest])
    with pytest.raises(ValueError, match="more than 400 bars of one year; take a longer unit"):
        histogram(Order.objects, "uuid7", "year")
    last = histogram(Order.objects, "uuid7", "year", utc(9990, 1, 1, 5))
    assert rows_in(last) == [0] * 9 + [1]


@own_tables
def test_uuids_of_other_versions_that_are_accepted_are_not_counted():
    field = UUIDv7Field(accept_other_versions=True)
    moments = [utc(2026, 7, day, 12) for day in (1, 1, 2, 4)]
    own = ids_at(field.scheme, moments)
    others = [uuid.UUID(int=value.int & ~(0xF << 76) | 4 << 76) for value in own[:3]]
    with table_with(field) as model:
        model.objects.bulk_create(model(made=value) for value in [*own, *others, uuid.uuid4()])
        bars = histogram(model.objects, "made", "day")
        assert rows_in(bars) == [2, 1, 0, 1]


# Relations


def test_through_a_relation():
    moments = [utc(2026, 7, day, 12) for day in (1, 1, 2, 4)]
    for scheme, model in PRODUCTS.items():
        if scheme == "sequence":
            continue
        ids = model._meta.get_field("id").scheme
        for at in moments:
            row = model.objects.create(pk=ids.generate(at))
            Basket.objects.create(name=scheme, **{scheme: row})
        baskets = Basket.objects.filter(name=scheme)
        for path in (scheme, f"{scheme}__id", f"{scheme}__pk"):
            with CaptureQueriesContext(connection) as captured:
                assert rows_in(histogram(baskets, path, "day")) == [2, 1, 0, 1], path
            assert "JOIN" not in "".join(query["sql"] for query in captured), path


def test_filters_of_the_queryset_hold():
    fill("uuid7", [utc(2026, 7, day, 12) for day in (1, 2, 2, 3, 9)])
    numbers = [order.number for order in Order.objects.filter(uuid7__isnull=False)]
    some = Order.objects.filter(number__in=numbers[:2]) | Order.objects.filter(number=numbers[3])
    times = [order.created_at for order in some]
    bars = histogram(some.order_by("-name"), "uuid7", "day")
    assert rows_in(bars) == one_by_one(bars, times)
    assert len(bars) < 9


# Querysets


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the steps of SQLite")
def test_a_filter_by_time_does_not_make_each_bar_read_all_of_its_rows():
    fill("uuid7", [utc(2026, 7, 1) + timedelta(hours=n) for n in range(2400)])

    def steps(rows):
        counted = []
        connection.connection.set_progress_handler(lambda: counted.append(1), 100)
        try:
            histogram(rows, "uuid7", "day", utc(2026, 7, 1), utc(2026, 10, 9))
        finally:
            connection.connection.set_progress_handler(None, 0)
        return len(counted)

    since = Order.objects.filter(uuid7__created_at__gte=utc(2026, 7, 1))
    assert steps(since) < 3 * steps(Order.objects.all())


@pytest.mark.parametrize("seed", range(2))
def test_rows_that_a_join_repeats_are_counted_once(seed):
    chance = random.Random(seed)
    products = [ULIDProduct.objects.create(name=chance.choice("ab")) for _ in range(6)]
    scheme = Basket._meta.get_field("id").scheme
    moments = [utc(2026, 7, 1) + timedelta(minutes=chance.randrange(9_000)) for _ in range(30)]
    for at in moments:
        basket = Basket.objects.create(pk=scheme.generate(at), name=chance.choice("xy"))
        basket.all_ulid.set(chance.sample(products, chance.randrange(6)))
    found = Basket.objects.filter(Q(all_ulid__name="a") | Q(name="x")).distinct()
    assert found.count() < Basket.objects.filter(Q(all_ulid__name="a") | Q(name="x")).count()
    times = [scheme.created_at(basket.pk) for basket in found]
    for unit in ("day", "hour"):
        bars = histogram(found, "id", unit)
        assert rows_in(bars) == one_by_one(bars, times)
        assert sum(rows_in(bars)) == found.count()


def test_rows_with_an_aggregate_of_other_rows_are_counted_once():
    """As in ``get_queryset()`` of many an admin."""
    products = [ULIDProduct.objects.create() for _ in range(3)]
    scheme = Basket._meta.get_field("id").scheme
    for day, count in ((1, 3), (1, 0), (2, 1), (4, 2)):
        basket = Basket.objects.create(pk=scheme.generate(utc(2026, 7, day, 12)))
        basket.all_ulid.set(products[:count])
    annotated = Basket.objects.annotate(n=Count("all_ulid"))
    assert rows_in(histogram(annotated, "id", "day")) == [2, 1, 0, 1]
    assert rows_in(histogram(annotated.filter(n__gt=1), "id", "day")) == [1, 0, 0, 1]


def test_rows_that_a_window_chooses_are_counted():
    """Such as the last of each name."""
    scheme = ULIDProduct._meta.get_field("id").scheme
    for name, day in (("a", 1), ("a", 2), ("b", 2), ("a", 4), ("c", 5)):
        ULIDProduct.objects.create(pk=scheme.generate(utc(2026, 7, day, 12)), name=name)
    place = Window(RowNumber(), partition_by="name", order_by="-id")
    last = ULIDProduct.objects.annotate(place=place).filter(place=1)
    assert rows_in(histogram(last, "id", "day")) == [1, 0, 1, 1]


@pytest.mark.parametrize("name", ["uuid7", "ulid", "kuuid", "reversed_kuuid", "snowflake"])
def test_no_row_is_read(name):
    fill(name, [utc(2026, 7, 1) + timedelta(hours=n) for n in range(200)])
    with CaptureQueriesContext(connection) as captured:
        days = histogram(
            Order.objects, name, "day", utc(2026, 7, 3, 4), utc(2026, 7, 6, 4), time_limit=None
        )
    assert rows_in(days) == [24, 24, 24]
    (query,) = captured.captured_queries
    lines = explained(query["sql"])
    plan = [line for line in lines if "testapp_order" in line and "Filter" not in line]
    is_mariadb = getattr(connection, "mysql_is_mariadb", False)
    sign = {
        "sqlite": "USING COVERING INDEX",
        "postgresql": "Index Only Scan",
        "mysql": "Using index" if is_mariadb else "Covering index range scan",
    }[connection.vendor]
    assert len(plan) == 3
    for line in plan:
        assert sign in line
        assert "SCAN testapp_order" not in line


@pytest.mark.parametrize("n", [400, 401])
def test_the_number_of_bars_has_a_limit(n):
    start = utc(2026, 1, 1)
    end = start + timedelta(minutes=n)
    if n == 400:
        assert len(histogram(Order.objects, "uuid7", "minute", start, end)) == 400
    else:
        with pytest.raises(ValueError, match="more than 400 bars of one minute"):
            histogram(Order.objects, "uuid7", "minute", start, end)


# What is refused


WRONG_FIELDS = {
    "name": "'name' of testapp.Order is no sortable id, and no relation to one",
    "nothing": "'nothing' of testapp.Order is no sortable id",
    "uuid7__year": "'uuid7__year' of testapp.Order is no sortable id",
    "": "'' of testapp.Order is no sortable id",
}


@in_one_case(("field", "message"), WRONG_FIELDS.items())
def test_a_field_that_is_no_id_is_refused(field, message):
    with pytest.raises(FieldError, match=message):
        histogram(Order.objects, field, "day")


def test_ids_without_a_time_are_refused():
    with pytest.raises(
        FieldError, match=r"'sequence' of store\.Basket is of the scheme .*: its ids carry no time"
    ):
        histogram(Basket.objects, "sequence", "day")
    with pytest.raises(FieldError, match="no sortable id"):
        histogram(Stock.objects, "pk", "day")


@pytest.mark.parametrize(
    ("rows", "path"), [(Basket.objects, "all_ulid"), (ULIDProduct.objects, "baskets__id")]
)
def test_paths_to_several_rows_are_refused(rows, path):
    with pytest.raises(FieldError, match="leads from a row to several"):
        histogram(rows, path, "day")
    assert histogram(Profile.objects, "product", "day") == []


WRONG = [
    ({"unit": "fortnight"}, "no unit 'fortnight'; expected one of year, quarter, month, week, day"),
    ({"start": datetime(2026, 1, 1)}, "2026-01-01 00:00:00 has no time zone"),  # noqa: DTZ001
    ({"start": utc(2026, 1, 2), "end": utc(2026, 1, 1)}, "the end, .* is before the start"),
    ({"time_limit": 0}, "time_limit is 0; expected seconds above 0, or None"),
    ({"time_limit": -1.5}, "time_limit is -1.5"),
]


@in_one_case(("arguments", "message"), WRONG)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        histogram(Order.objects, "uuid7", **{"unit": "day", **arguments})


@in_one_case(
    "rows",
    [
        lambda: Order.objects.all()[:5],
        lambda: Order.objects.all().union(Order.objects.all()),
        lambda: Order.objects.values("name").annotate(n=Count("pk")),
        lambda: Order.objects.values("name").distinct(),
        lambda: Order.objects.distinct("name"),
    ],
)
def test_querysets_that_are_no_rows_are_refused(rows):
    with pytest.raises(ValueError, match="this queryset has a slice, a union, groups or distinct"):
        histogram(rows(), "uuid7", "day")


# What the tests of histograms share.


def one_by_one(bars: Iterable[Bar], times: Iterable[datetime]) -> list[int]:
    """How many of the times lie in each of the bars."""
    times = list(times)
    return [
        sum(bar.start.timestamp() <= at.timestamp() < bar.end.timestamp() for at in times)
        for bar in bars
    ]


def rows_in(bars: Iterable[Bar]) -> list[int]:
    """The counts, which must be exact."""
    bars = list(bars)
    assert all(bar.count.is_exact for bar in bars)
    return [bar.count for bar in bars]


# {% sortable_id_histogram bars %}: a picture and a table of the same counts


START = utc(2026, 10, 31, 4)
DAY = timedelta(days=1)


def bar(number, count, *, length=DAY, precision="exact"):
    start = timezone.localtime(START + number * length)
    return Bar(start, start + length, Rows(count, precision))


def drawn(bars, title=""):
    template = Template("{% load sortable_ids %}{% sortable_id_histogram bars title=title %}")
    return Page(template.render(Context({"bars": bars, "title": title}))).root.find("figure")


def test_heights_are_in_proportion_and_few_rows_are_seen():
    figure = drawn([bar(0, 200), bar(1, 100), bar(2, 1), bar(3, 0)])
    rects = list(figure.find_all("rect"))
    assert [(rect["y"], rect["height"]) for rect in rects] == [
        ("0", "100"),
        ("50", "50"),
        ("98", "2"),
        ("100", "0"),
    ]
    assert [rect["x"] for rect in rects] == ["0", "10", "20", "30"]
    assert figure.find("svg")["viewbox"] == "0 0 40 100"


def test_the_table_has_every_count_as_text():
    figure = drawn(
        [bar(0, 1234), bar(1, 10_001, precision="minimum"), bar(3, 0, precision="minimum")]
    )
    labels = [cell.text for cell in figure.find_all("th", scope="row")]
    counts = [cell.text for cell in figure.find_all("td")]
    assert labels == ["Oct. 31, 2026", "Nov. 1, 2026", "Nov. 2, 2026"]
    assert counts == ["1,234", "more than 10,000", "not counted"]
    assert figure.find("svg")["aria-hidden"] == "true"
    assert [rect.attributes.get("class") for rect in figure.find_all("rect")] == [
        None,
        "sortable-ids-more",
        "sortable-ids-more",
    ]


@pytest.mark.parametrize(
    ("length", "label"),
    [
        (timedelta(minutes=1), "Oct. 31, 2026, 12:01 a.m."),
        (timedelta(hours=1), "Oct. 31, 2026, 1 a.m."),
        (DAY, "Nov. 1, 2026"),
        (timedelta(days=31), "November 2026"),
        (timedelta(days=366), "2027"),
    ],
)
def test_labels_are_as_long_as_the_bars_need(length, label):
    figure = drawn([bar(0, 1, length=length), bar(1, 1, length=length)])
    assert list(figure.find_all("th", scope="row"))[1].text == label


@pytest.mark.parametrize("is_aware", [True, False])
def test_hours_that_repeat_have_different_labels(settings, is_aware):
    hours = [bar(number, 1, length=timedelta(hours=1)) for number in range(25, 27)]
    if not is_aware:
        settings.USE_TZ, settings.TIME_ZONE = False, "America/New_York"
        ends = ((hour.start, hour.end) for hour in hours)
        hours = [Bar(*(at.replace(tzinfo=None) for at in both), Rows(1)) for both in ends]
    figure = drawn(hours)
    assert [each.text for each in figure.find_all("th", scope="row")] == [
        "Nov. 1, 2026, 1 a.m.",
        "Nov. 1, 2026, 1 a.m. EST",
    ]


def test_no_bars_are_a_sentence():
    figure = drawn([])
    assert "Nothing was created in this time." in figure.text
    assert not list(figure.find_all("svg"))


def test_what_is_given_is_escaped():
    page = drawn([bar(0, 1)], title="<script>alert(1)</script>")
    assert not list(page.find_all("script"))
    assert page.find("figcaption").text == "<script>alert(1)</script>"
