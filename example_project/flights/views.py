"""The page of a flight."""

from django.views.generic import DetailView

from django_sortable_ids.views import RedirectOldIDs

from .models import Flight


class FlightPage(RedirectOldIDs, DetailView):
    """A flight by its key. After a move of the keys, the old ones redirect to the present ones.

    Browsers keep permanent redirects, and this move can be undone.
    """

    queryset = Flight.objects.select_related("airline", "origin", "plane")
    redirect_permanently = False
