from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.serializers import Field, HyperlinkedModelSerializer, ModelSerializer
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.rest_framework import SortableIDLookupMixin

from .models import PRODUCTS, Basket, Order, Refund, Voucher


def serializer_for(model: Any, *fields: str, base: Any = ModelSerializer, **options: Any) -> Any:
    """A serializer class for those fields of the model, for all of them where none are named.

    ``options`` are those of its ``Meta``, and fields that the class declares.
    """
    declared = {name: each for name, each in options.items() if isinstance(each, Field)}
    others = {name: each for name, each in options.items() if name not in declared}
    meta = type("Meta", (), {"model": model, "fields": fields or "__all__", **others})
    return type(f"{model.__name__}Serializer", (base,), {"Meta": meta, **declared})


def viewset_for(serializer: Any, *bases: type, **attributes: Any) -> Any:
    """A viewset of everything that the serializer is for."""
    options = {
        "queryset": serializer.Meta.model.objects.order_by("pk"),
        "serializer_class": serializer,
        "permission_classes": [AllowAny],
    }
    bases = bases or (SortableIDLookupMixin, ModelViewSet)
    return type("ViewSet", bases, options | attributes)


class LinkedBasketSerializer(HyperlinkedModelSerializer):
    class Meta:
        model = Basket
        fields = ["url", "name", *PRODUCTS, *(f"all_{name}" for name in PRODUCTS)]
        extra_kwargs = {"url": {"view_name": "linked-basket-detail"}}


class LinkedOrderSerializer(ModelSerializer):
    class Meta:
        model = Order
        fields = ["url", "name"]
        extra_kwargs = {"url": {"view_name": "order-by-ulid-detail", "lookup_field": "ulid"}}


VIEWSETS = {
    "baskets": ("basket", viewset_for(serializer_for(Basket))),
    "linked": ("linked-basket", viewset_for(LinkedBasketSerializer)),
    "linked-orders": ("linked-order", viewset_for(LinkedOrderSerializer, lookup_field="uuid7")),
    "refunds": ("refund", viewset_for(serializer_for(Refund))),
    "vouchers": ("voucher", viewset_for(serializer_for(Voucher))),
}
"""The viewsets by their path, with the names that routes have."""

for scheme, product in PRODUCTS.items():
    VIEWSETS |= {
        scheme: (
            product._meta.model_name or "",
            viewset_for(serializer_for(product, "id", "name")),
        ),
        f"plain/{scheme}": (
            f"plain-{scheme}",
            viewset_for(serializer_for(product, "id", "name"), ModelViewSet),
        ),
        f"orders/{scheme}": (
            f"order-by-{scheme}",
            viewset_for(serializer_for(Order), lookup_field=scheme),
        ),
    }
