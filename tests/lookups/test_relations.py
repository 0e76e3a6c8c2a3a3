"""Creation times across relations, in expressions, and in querysets that are pickled."""

import pickle

import pytest
from django.db.models import BooleanField, Case, Count, Exists, ExpressionWrapper, OuterRef, Q, When
from django.utils import timezone

from tests.testapp.models import Order, OrderLine, around

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


@each_field
def test_through_a_foreign_key(name):
    old, new = orders_of(name)
    path = f"order__{name}__created_at"
    assert OrderLine.objects.get(**{f"{path}__gte": BETWEEN}).order == new
    assert OrderLine.objects.get(**{f"{path}__date": OLD.date()}).order == old
    assert OrderLine.objects.get(**{f"{path}__year__lt": 2023}).order == old
    by_column = OrderLine.objects.exclude(order__created_at__gte=BETWEEN)
    assert set(OrderLine.objects.exclude(**{f"{path}__gte": BETWEEN})) == set(by_column)
    assert OrderLine.objects.filter(**{f"{path}__isnull": True}).count() == 3


def test_a_foreign_key_to_the_key_needs_no_join(time_key):
    child = around(time_key, "Child")
    scheme = time_key._meta.pk.scheme
    old, new = (time_key.objects.create(pk=scheme.generate(at)) for at in (OLD, NEW))
    rows = [child.objects.create(parent=parent) for parent in (old, new, None)]
    rows[0].friends.add(new)
    found = child.objects.filter(parent__id__created_at__gte=BETWEEN)
    assert "JOIN" not in str(found.query)
    assert list(found) == [rows[1]]
    assert set(child.objects.exclude(parent__id__created_at__gte=BETWEEN)) == {rows[0], rows[2]}
    assert list(child.objects.filter(parent__pk__created_at__year=2020)) == [rows[0]]
    assert list(child.objects.filter(friends__id__created_at__gte=BETWEEN)) == [rows[0]]
    assert list(time_key.objects.filter(children__parent__id__created_at__lt=BETWEEN)) == [old]
    assert list(time_key.objects.filter(pk__created_at__lt=BETWEEN)) == [old]


@each_field
def test_in_expressions(name):
    _old, new = orders_of(name)
    is_new = Q(**{f"{name}__created_at__gte": BETWEEN})
    never = Q(**{f"{name}__created_at": BETWEEN})
    found = Order.objects.annotate(
        age=Case(When(never, then=3), When(is_new, then=1), default=2),
        flag=ExpressionWrapper(is_new, output_field=BooleanField()),
        same=Exists(Order.objects.filter(is_new, pk=OuterRef("pk"))),
    )
    assert {order.pk: (order.age, bool(order.flag), order.same) for order in found} == {
        order.pk: (1, True, True) if order == new else (2, False, False) for order in found
    }
    counts = Order.objects.aggregate(
        new=Count("pk", filter=is_new), never=Count("pk", filter=never), all=Count("pk")
    )
    assert counts == {"new": 1, "never": 0, "all": 4}


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


@pytest.mark.parametrize("lookup", ["", "__in", "__gt", "__gte", "__lt", "__lte"])
def test_a_queryset_through_a_foreign_key_can_be_pickled(lookup):
    order = Order.objects.create(number="1")
    line = OrderLine.objects.create(order=order)
    queryset = OrderLine.objects.filter(
        **{f"order{lookup}": [order] if lookup == "__in" else order}
    )
    expected = [] if lookup in ("__gt", "__lt") else [line]
    assert list(pickle.loads(pickle.dumps(queryset.all()))) == expected
    restored = OrderLine.objects.all()
    restored.query = pickle.loads(pickle.dumps(queryset.query))
    assert list(restored) == expected


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
