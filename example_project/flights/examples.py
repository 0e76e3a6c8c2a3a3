"""The flight that the demo shows, and its links before and after."""

from datetime import date

from django.urls import reverse

from .key_move import is_copy
from .models import Flight

INDEPENDENCE_DAY = date(2013, 7, 4)


def example() -> Flight | None:
    """The first flight of 4 July, or the last one before it if that day wasn't loaded; None without
    flights."""
    flights = Flight.objects.select_related("airline", "origin").order_by("public_id")
    found = flights.filter(public_id__created_at__date__gte=INDEPENDENCE_DAY).first()
    return found or flights.last()


def links(flight: Flight) -> tuple[str, str]:
    """Its paths by the integer key, and by the id that took its place."""
    if is_copy():
        return reverse("flight", args=[flight.old_id]), reverse("flight", args=[flight.pk])
    return reverse("flight-detail", args=[flight.pk]), flight.get_absolute_url()
