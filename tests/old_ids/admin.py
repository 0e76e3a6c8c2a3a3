from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from django_sortable_ids.admin import SortableIDAdmin

from .models import Country, Device, Gift, Parcel, Purchase, Secret


class OldAdmin(SortableIDAdmin):
    """Nobody sees the hidden rows, only a superuser the restricted ones, and none is loaded that is
    guarded."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        return None if row is not None and row.name == "guarded" else row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).exclude(name="hidden")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser or obj is None or obj.name != "restricted"

    has_change_permission = has_delete_permission = has_view_permission


for model in (Country, Device, Gift, Parcel, Purchase, Secret):
    admin.site.register(model, OldAdmin)
