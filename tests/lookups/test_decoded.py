"""``id__created_at`` wherever no range of ids will do: as a column of the same times does."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connections
from django.db.models import (
    Count,
    DateTimeField,
    ExpressionWrapper,
    F,
    Max,
    Min,
    Q,
    Subquery,
    Window,
)
from django.db.models.functions import (
    ExtractHour,
    ExtractWeek,
    ExtractYear,
    Lag,
    Now,
    RowNumber,
    TruncDay,
    TruncHour,
    TruncMonth,
)
from django.utils import timezone

from django_sortable_ids.functions import CreatedAt, GenerateID
from tests.combinations import each_with, in_one_case
from tests.testapp.models import Order, OrderLine

from .support import (
    FIELDS,
    KINDS_OF_TICK,
    compare,
    each_field,
    each_kind_of_tick,
    fill,
    scheme_of,
    utc,
)

pytestmark = pytest.mark.django_db

ZONES = ["America/New_York", "Europe/Berlin", "Pacific/Apia"]
each_kind_of_tick_in_a_zone = in_one_case(("name", "zone"), each_with(KINDS_OF_TICK, ZONES))

# Both changes of New York's and Berlin's clocks, ends of years and quarters, a leap day.
MOMENTS = [
    *(utc(2026, 3, 8, 5) + timedelta(minutes=40) * n for n in range(6)),
    *(utc(2026, 11, 1, 4, 30) + timedelta(minutes=40) * n for n in range(6)),
    *(utc(2025, 10, 26, 0, 10) + timedelta(minutes=40) * n for n in range(4)),
    utc(2024, 2, 29, 23, 59, 59, 999_000),
    utc(2024, 12, 30, 12),
    utc(2025, 12, 31, 23, 59, 59),
    utc(2026, 1, 1),
    utc(2026, 4, 1, 3, 30),
    utc(2026, 10, 1, 10, 15, 30, 123_456),
]

LOOKUPS = {
    "year": lambda at: at.year,
    "iso_year": lambda at: at.isocalendar().year,
    "quarter": lambda at: (at.month + 2) // 3,
    "month": lambda at: at.month,
    "week": lambda at: at.isocalendar().week,
    "week_day": lambda at: at.isoweekday() % 7 + 1,
    "iso_week_day": lambda at: at.isoweekday(),
    "day": lambda at: at.day,
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "second": lambda at: at.second,
    "date": lambda at: at.date(),
    "date__month": lambda at: at.month,
    "time": lambda at: at.time(),
    "time__hour": lambda at: at.hour,
}


@each_kind_of_tick_in_a_zone
def test_parts_of_the_calendar(name, zone):
    stored = fill(name, MOMENTS)
    with timezone.override(zone):
        for lookup, part in LOOKUPS.items():
            values = {part(moment.astimezone(ZoneInfo(zone))) for moment in stored}
            for value in sorted(values)[::5]:
                matches = compare(name, f"__{lookup}", value)
                assert matches[0], (lookup, value)
                compare(name, f"__{lookup}__gt", value)


EXPRESSIONS = {
    "column": F("created_at"),
    "sum": ExpressionWrapper(F("created_at") + timedelta(hours=1), DateTimeField()),
    "now": Now(),
    "subquery": Subquery(Order.objects.filter(created_at__isnull=False).values("created_at")[:1]),
}


@pytest.mark.parametrize(("name", "kind"), each_with(FIELDS, list(EXPRESSIONS)))
def test_expressions(name, kind):
    fill(name, MOMENTS)
    expression = EXPRESSIONS[kind]
    for lookup in ("exact", "gt", "gte", "lt", "lte"):
        compare(name, f"__{lookup}", expression)
    if not isinstance(expression, Subquery):
        compare(name, "__date", TruncDay(expression))
        compare(name, "__year__lte", ExtractYear(expression))


@each_kind_of_tick_in_a_zone
def test_values_groups_and_order(name, zone):
    """Everything that a query can do with a time, with that of the id and with the column's."""
    fill(name, MOMENTS)
    with timezone.override(zone):
        of_id, of_column = (
            list(map(list, everything(path))) for path in (CreatedAt(name), F("created_at"))
        )
    assert of_id == of_column
    assert all(of_id)


def everything(at):
    rows = Order.objects.filter(created_at__isnull=False)
    yield rows.order_by(at, "pk").values_list("pk", flat=True)
    yield rows.order_by(at.desc(), "pk").values_list("pk", flat=True)
    yield rows.order_by("pk").annotate(at=at).values_list("at", flat=True)
    for trunc in (TruncHour, TruncDay, TruncMonth):
        yield rows.annotate(at=trunc(at)).order_by("at").values_list("at").annotate(Count("pk"))
    yield (
        rows.annotate(week=ExtractWeek(at)).values("week").annotate(n=Count("pk")).order_by("week")
    )
    yield rows.annotate(hour=ExtractHour(at)).filter(hour__lt=12).order_by("pk").values_list("hour")
    yield [rows.aggregate(first=Min(at), last=Max(at), count=Count(at, distinct=True))]
    yield rows.values("name").annotate(first=Min(at)).filter(first__lt=Now()).values_list("first")
    numbered = rows.annotate(row=Window(RowNumber(), order_by=[at, "pk"]), at=at).order_by("pk")
    yield numbered.values_list("row")
    day = utc(2026, 3, 8).date()
    for kind, value in (("gt", MOMENTS[2]), ("date", day), ("isnull", True)):
        yield numbered.filter(Q(row=2) | Q(**{f"at__{kind}": value})).values_list("row")
    yield (
        rows.annotate(before=Window(Lag(at), order_by=[at, "pk"]))
        .order_by("pk")
        .values_list("before")
    )


@each_kind_of_tick
def test_across_relations(name):
    stored = fill(name, MOMENTS)
    for order in Order.objects.all():
        OrderLine.objects.create(order=order)
    path = f"order__{name}__created_at"
    lines = OrderLine.objects.annotate(at=CreatedAt(f"order__{name}")).order_by("at", "pk")
    assert sorted(line.at for line in lines if line.at) == stored
    days = lines.values_list(TruncDay(path)).annotate(Count("pk")).order_by(TruncDay(path))
    expected = lines.values_list(TruncDay("order__created_at")).annotate(Count("pk"))
    assert list(days) == list(expected.order_by(TruncDay("order__created_at")))
    march = Order.objects.filter(**{f"lines__{path}__month": 3})
    assert set(march) == set(Order.objects.filter(created_at__month=3))


@each_field
def test_null_and_the_year_10000(name):
    """An id of a year that a ``datetime`` can't show has none, as NULL has none."""
    scheme = scheme_of(name)
    newest = scheme.from_int(scheme.layout.join(scheme.layout.last_tick, 0))
    Order.objects.create(**{name: newest, "number": "1"})
    Order.objects.filter(pk=Order.objects.create(number="2").pk).update(**{name: None})
    times = set(Order.objects.values_list(CreatedAt(name), flat=True))
    assert times == ({None} if scheme.latest.year == 9999 else {None, scheme.latest})


@each_kind_of_tick_in_a_zone
def test_without_time_zones(name, zone, settings):
    settings.TIME_ZONE, settings.USE_TZ = zone, False
    single = [at for at in MOMENTS if at.month not in (10, 11, 3)]
    stored = fill(name, single)
    found = Order.objects.filter(created_at__isnull=False).annotate(at=CreatedAt(name))
    assert sorted(found.values_list("at", flat=True)) == stored
    assert found.filter(at=F("created_at")).count() == len(stored)
    for lookup, part in LOOKUPS.items():
        value = part(stored[0])
        compare(name, f"__{lookup}", value)
    assert list(
        found.values_list(TruncDay("at")).annotate(Count("pk")).order_by(TruncDay("at"))
    ) == list(
        found.values_list(TruncDay("created_at"))
        .annotate(Count("pk"))
        .order_by(TruncDay("created_at"))
    )


@pytest.fixture
def database_in_tokyo():
    """A database whose times without a zone are those of Tokyo, with a session there."""

    default = connections["default"]

    def move(zone):
        default.settings_dict["TIME_ZONE"] = zone
        for cached in ("timezone", "timezone_name"):
            default.__dict__.pop(cached, None)
        default.ensure_timezone()

    before = default.settings_dict["TIME_ZONE"]
    move("Asia/Tokyo")
    yield
    move(before)


@each_kind_of_tick
def test_a_database_with_a_zone_of_its_own(name, database_in_tokyo):
    stored = fill(name, MOMENTS)
    found = Order.objects.filter(created_at__isnull=False).annotate(at=CreatedAt(name))
    assert sorted(found.values_list("at", flat=True)) == stored
    assert found.filter(at=F("created_at")).count() == len(stored)
    for lookup in ("hour", "date", "month"):
        compare(name, f"__{lookup}", LOOKUPS[lookup](timezone.localtime(stored[0])))
    found.update(uuid6=GenerateID("uuid6", at="created_at"))
    assert found.filter(uuid6__created_at=F("created_at")).count() == len(stored)
