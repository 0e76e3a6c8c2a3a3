"""What the demo has changed, and where to look at it."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from django_sortable_ids.ids import public_id

from .examples import example, links
from .models import Flight, Plane, Weather


def of_new_ids(host: str) -> Iterator[str]:
    """The summary after the backfill; ``host`` is what the URLs begin with."""
    flight = _example()
    day = flight.created_at.date()
    path = Path(settings.DATABASES["default"]["NAME"])
    before, after = links(flight)
    yield "\nWhat changed"
    yield f"  {flight.airline} {flight.number} from {flight.origin} on {day.day} {day:%B %Y}"
    yield f"    before: {before}"
    yield f"    after:  {after}"
    yield f"            which says by itself that it is of {flight.created_at:%Y-%m-%d %H:%M %Z}"
    yield (
        f"  {Flight.objects.count():,} flights and {Weather.objects.count():,} weather reports "
        f"have an id each: unique, NOT NULL, verified to sort as (time_hour, integer key)."
    )
    yield f"  They are in {path}, {path.stat().st_size / 1e6:.0f} MB."
    yield from _open(host)
    admin = f"{host}{reverse('admin:flights_flight_changelist')}"
    yield f"  1. {host}{flight.get_absolute_url()}"
    yield "     the flight in the API, by its id"
    yield f"  2. {admin}?{urlencode(_day(day))}"
    yield f"     the {_count(day):,} flights of {day.day} {day:%B}, filtered by the id alone"
    yield f"  3. {admin}?{urlencode({'q': public_id(flight)})}"
    yield "     that flight in the admin's search\n"


def of_moved_keys(host: str) -> Iterator[str]:
    """The summary after the move of the keys. The URLs were requested."""
    flight = _example()
    day = flight.created_at.date()
    path = Path(settings.DATABASES["default"]["NAME"])
    before, after = _redirected(links(flight)[0])
    api, plane = _redirected(reverse("plane-detail", args=[Plane.objects.earliest("pk").old_id]))
    yield "\nWhat changed"
    yield f"  {flight.airline} {flight.number} from {flight.origin} on {day.day} {day:%B %Y}"
    yield f"    before: {host}{before}"
    yield f"    after:  {host}{after}"
    yield "            the old URL redirects to the new one"
    yield f"  Everything is in {path}, {path.stat().st_size / 1e6:.0f} MB."
    yield from _open(host)
    yield f"  1. {host}{before}"
    yield "     the flight by its old id"
    yield f"  2. {host}{api}"
    yield f"     a plane in the API by its old id: redirects to {plane}"
    yield f"  3. {host}{reverse('admin:flights_flight_change', args=[flight.old_id])}"
    yield "     the flight in the admin by its old id\n"


def in_your_project() -> Iterator[str]:
    """How to begin with a table that has rows."""
    yield "Now in your own project:"
    yield "  pip install django-sortable-ids, and 'django_sortable_ids' in INSTALLED_APPS"
    yield '  public_id = UUIDv7Field(prefix="ord", encoding="base32", null=True), in a model'
    yield "  manage.py makemigrations; manage.py migrate"
    yield "  manage.py backfill_ids shop.Order.public_id --created-from created_at"
    yield "  manage.py backfill_ids shop.Order.public_id --write-migration"


def _open(host: str) -> Iterator[str]:
    yield "\nOpen this page, which has three buttons; or one of those below"
    yield f"  {host}{reverse('front')}"


def _redirected(path: str) -> tuple[str, str]:
    """A path and the one that it redirects to, which must answer."""
    answer = Client(SERVER_NAME="127.0.0.1").get(path, follow=True)
    chain: list[tuple[str, int]] = answer.redirect_chain
    if answer.status_code != 200 or len(chain) != 1:
        raise CommandError(f"{path} answers {answer.status_code} after {chain}, not one redirect")
    return path, chain[0][0]


def _example() -> Flight:
    flight = example()
    assert flight is not None, "the flights are loaded"
    return flight


def _day(day: date) -> dict[str, str]:
    return {
        "public_id__created_at__date__gte": day.isoformat(),
        "public_id__created_at__date__lte": day.isoformat(),
    }


def _count(day: date) -> int:
    return Flight.objects.filter(**_day(day)).count()
