from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin

from .models import PRODUCTS, Basket, Bundle, Order, Profile, Refund, Review, Voucher

TIMED = [name for name in PRODUCTS if name != "sequence"]
"""The names of the schemes whose ids have a time."""


class BasketInline(admin.TabularInline):
    model = Basket
    fields = ["name"]
    extra = 1


class ProductAdmin(SortableIDAdmin):
    created_at_hierarchy = "id"
    list_display = ["id", "name", "id_created_at"]
    list_filter = [("id", CreatedAtFilter)]
    readonly_fields = ["id_created_at"]
    ordering = ["id"]
    search_fields = ["name"]


class SequenceAdmin(SortableIDAdmin):
    list_display = ["id", "name"]
    ordering = ["id"]
    search_fields = ["name"]


for name, model in PRODUCTS.items():
    inline = type(f"{name}_inline", (BasketInline,), {"fk_name": name})
    base = ProductAdmin if name in TIMED else SequenceAdmin
    admin.site.register(model, type(base)(f"{name}_admin", (base,), {"inlines": [inline]}))


@admin.register(Basket)
class BasketAdmin(SortableIDAdmin):
    created_at_hierarchy = "id"
    list_display = ["id", "name", "id_created_at", "ulid"]
    list_editable = ["name"]
    list_filter = [
        "name",
        ("id", CreatedAtFilter),
        *((name, CreatedAtFilter) for name in TIMED[::2]),
        *((f"{name}__id", CreatedAtFilter) for name in TIMED[1::2]),
        ("all_ulid", CreatedAtFilter),
    ]
    search_fields = ["name", "ulid__id", "=snowflake__pk", "kuuid__id__exact", "all_uuid7__id"]
    raw_id_fields = [*list(PRODUCTS)[::2], "all_ulid"]
    autocomplete_fields = [*list(PRODUCTS)[1::2], "all_snowflake"]


@admin.register(Order)
class OrderAdmin(SortableIDAdmin):
    """Staff see the orders of their own tenant."""

    created_at_hierarchy = "kuuid"
    list_display = ["name", "id_created_at"]
    list_filter = [(name, CreatedAtFilter) for name in TIMED]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        orders = super().get_queryset(request)
        if request.user.is_superuser:
            return orders
        return orders.filter(tenant=request.user.get_username())


@admin.register(Refund)
class RefundAdmin(SortableIDAdmin):
    created_at_hierarchy = "ulid__snowflake"
    list_filter = [(name, CreatedAtFilter) for name in TIMED]
    raw_id_fields = list(PRODUCTS)[::2]
    search_fields = ["name", "ulid__ulid"]


@admin.register(Review)
class ReviewAdmin(SortableIDAdmin):
    list_filter = [
        ("import_id", CreatedAtFilter),
        ("profile", CreatedAtFilter),
        ("bundle", CreatedAtFilter),
        ("basket__ulid", CreatedAtFilter),
    ]
    search_fields = ["name", "import_id"]


@admin.register(Voucher)
class VoucherAdmin(SortableIDAdmin):
    list_display = ["id", "id_created_at"]


admin.site.register([Bundle, Profile])
