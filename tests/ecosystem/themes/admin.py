"""A model admin as the documentation of the theme wants it."""

from django.conf import settings
from django.contrib import admin

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin

from .models import Event

if settings.THEME == "unfold":
    from unfold.admin import ModelAdmin
else:
    from django.contrib.admin import ModelAdmin


@admin.register(Event)
class EventAdmin(SortableIDAdmin, ModelAdmin):
    created_at_hierarchy = "id"
    list_display = ["public_id", "id_created_at", "name"]
    list_filter = [("id", CreatedAtFilter), "name"]
    list_filter_submit = True  # of unfold: one form around all filters
    list_per_page = 10
    ordering = ["id"]
