"""The pages: the front page, and that of a flight."""

import time
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.views.generic import DetailView, TemplateView

from django_sortable_ids.functions import histogram
from django_sortable_ids.ids import public_id
from django_sortable_ids.old_ids import RedirectOldIDs

from .examples import example, links
from .models import Flight

YEAR = (date(2013, 1, 1), date(2014, 1, 1))


class FrontPage(TemplateView):
    """What the ids are good for, in one look."""

    template_name = "flights/front.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        flight = example()
        if flight is None:
            return super().get_context_data(**kwargs)
        started = time.perf_counter()
        bars = histogram(Flight.objects.all(), "public_id", "day", *YEAR, time_limit=None)
        milliseconds = (time.perf_counter() - started) * 1000
        weeks = histogram(Flight.objects.all(), "public_id", "week", *YEAR, time_limit=None)
        before, after = links(flight)
        return super().get_context_data(
            flight=flight,
            before=before,
            inspector=_inspector(flight),
            after=after,
            bars=bars,
            weeks=weeks,
            count=f"{sum(bar.count for bar in bars):,}",
            milliseconds=f"{milliseconds:.0f}",
            **kwargs,
        )

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        # The page works under a strict policy, and the browser shows that.
        policy = {"Content-Security-Policy": "default-src 'self'"}
        return super().render_to_response(context, headers=policy, **kwargs)


def _inspector(flight: Flight) -> str:
    """The page that decodes the flight's id."""
    return f"{reverse('admin:inspect_id')}?{urlencode({'q': public_id(flight, 'public_id')})}"


class FlightPage(RedirectOldIDs, DetailView):
    """A flight by its key. After a move of the keys, the old ones redirect to the present ones.

    Browsers keep permanent redirects, and this move can be undone.
    """

    queryset = Flight.objects.select_related("airline", "origin", "plane")
    redirect_permanently = False
