"""What the tests of the lookups share."""

import itertools
from datetime import UTC, datetime

from django.conf import settings
from django.utils import timezone

from django_sortable_ids.schemes import TimeScheme
from tests.combinations import in_one_case
from tests.schemes.support import ids_at
from tests.testapp.models import Order

FIELDS = [
    field.name
    for field in Order._meta.fields
    if isinstance(getattr(field, "scheme", None), TimeScheme)
]
"""The ids of an order that carry a time."""

# A sequence would count in the database, one by one.
_numbers = itertools.count(1)

each_field = in_one_case("name", FIELDS)
KINDS_OF_TICK = ["uuid6", "uuid7", "kuuid", "reversed_kuuid"]
"""100 ns, 1 ms, 1 s, and the newest first: for what depends on little else."""
each_kind_of_tick = in_one_case("name", KINDS_OF_TICK)


def scheme_of(name):
    return Order._meta.get_field(name).scheme


def fill(name, moments):
    """An order for each moment: its id is of that time, and so is its ``created_at``, floored as
    the scheme floors it. And two orders without either.
    """
    scheme = scheme_of(name)
    orders = []
    for value in ids_at(scheme, moments):
        at = scheme.created_at(value)
        if not settings.USE_TZ:
            at = timezone.make_naive(at)
        orders.append(Order(**{name: value}, created_at=at, number=f"{next(_numbers)}"))
    without = [Order.objects.create(number=f"{next(_numbers)}") for _ in range(2)]
    Order.objects.filter(pk__in=[order.pk for order in without]).update(**{name: None})
    Order.objects.bulk_create(orders)
    return sorted({order.created_at for order in orders})


def keys(**conditions):
    """What ``filter`` finds, and what ``exclude`` does."""
    return [
        set(queryset.values_list("pk", flat=True))
        for queryset in (Order.objects.filter(**conditions), Order.objects.exclude(**conditions))
    ]


def compare(name, lookup, value):
    """The same is found by the id and by the column; give it."""
    by_id = keys(**{f"{name}__created_at{lookup}": value})
    assert by_id == keys(**{f"created_at{lookup}": value}), (lookup, value)
    return by_id


def utc(*arguments):
    return datetime(*arguments, tzinfo=UTC)
