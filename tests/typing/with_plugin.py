"""What only mypy knows, with the plugin of django-stubs: attributes that Django makes itself."""

import uuid
from typing import assert_type

from django.db.models import QuerySet

from tests.typing.models import Customer, Nullable, Order


def relations(order: Order) -> None:
    assert_type(order.customer_id, uuid.UUID)
    assert_type(order.replaces_id, int | None)
    assert_type(order.sent_to, Customer)
    assert_type(order.sent_to_id, uuid.UUID)


def queries() -> None:
    assert_type(Order.objects.values_list("public_id", flat=True).get(), str)
    assert_type(Nullable.objects.values_list("tsid", flat=True).get(), int | None)
    assert_type(Order.objects.values_list("customer__id", flat=True).get(), uuid.UUID)
    assert_type(
        Order.objects.filter(customer__pk="cus_1", pk=1, public_id__in=["a"]), QuerySet[Order]
    )
