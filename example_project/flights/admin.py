"""The admin; the drill-down, the filter by day and the search read the ids, no column of times."""

from django.contrib import admin

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin

from .models import Airline, Airport, Flight, Plane, Remark, Weather

admin.site.site_title = admin.site.site_header = "Flights from New York, 2013"


@admin.register(Airline)
class AirlineAdmin(SortableIDAdmin):
    list_display = ["code", "name"]
    search_fields = ["code", "name"]


@admin.register(Airport)
class AirportAdmin(SortableIDAdmin):
    list_display = ["code", "name", "time_zone"]
    search_fields = ["code", "name"]


@admin.register(Plane)
class PlaneAdmin(SortableIDAdmin):
    list_display = ["tail_number", "manufacturer", "model", "year", "seats"]
    search_fields = ["tail_number", "manufacturer", "model"]


@admin.register(Flight)
class FlightAdmin(SortableIDAdmin):
    created_at_hierarchy = "public_id"
    list_display = ["public_id", "id_created_at", "__str__", "route"]
    list_filter = [("public_id", CreatedAtFilter), "airline"]
    list_select_related = ["airline", "origin"]
    ordering = ["public_id"]
    search_fields = ["=tail_number"]
    search_help_text = "The id of a flight, or the tail number of a plane."
    autocomplete_fields = ["airline", "origin", "destination", "plane"]
    readonly_fields = ["public_id_public_text"]

    @admin.display(ordering="origin__code")
    def route(self, flight: Flight) -> str:
        return f"{flight.origin.code} → {flight.destination_code}"


@admin.register(Weather)
class WeatherAdmin(SortableIDAdmin):
    created_at_hierarchy = "public_id"
    list_display = ["public_id", "id_created_at", "origin__code", "temperature"]
    list_filter = [("public_id", CreatedAtFilter), ("origin", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["origin"]
    ordering = ["public_id"]
    search_fields = ["=origin__code"]
    search_help_text = "The id of a report, or the code of an airport."
    autocomplete_fields = ["origin"]


@admin.register(Remark)
class RemarkAdmin(SortableIDAdmin):
    list_display = ["text", "public_id", "flight", "id_created_at"]
    list_filter = [("id", CreatedAtFilter), ("flight", CreatedAtFilter)]
    list_select_related = ["flight__airline"]
    ordering = ["-id"]
    search_fields = ["text", "flight__public_id"]
    autocomplete_fields = ["flight"]
