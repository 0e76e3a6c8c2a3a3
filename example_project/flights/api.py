"""The REST API: flights and remarks by public ids, planes by keys, the others by their codes."""

from rest_framework import mixins, serializers, viewsets
from rest_framework.pagination import CursorPagination
from rest_framework.routers import DefaultRouter

from django_sortable_ids.old_ids import RedirectOldIDs
from django_sortable_ids.rest_framework import SortableIDLookupMixin

from .models import Airline, Airport, Flight, Plane, Remark


class FlightSerializer(serializers.ModelSerializer):
    created_at = serializers.DateTimeField(read_only=True)
    airline = serializers.SlugRelatedField("code", read_only=True)
    origin = serializers.SlugRelatedField("code", read_only=True)
    destination = serializers.CharField(source="destination_code")

    class Meta:
        model = Flight
        fields = [
            "url",
            "public_id",
            "created_at",
            "airline",
            "number",
            "origin",
            "destination",
            "tail_number",
            "scheduled_departure",
            "departure",
            "departure_delay",
            "scheduled_arrival",
            "arrival",
            "arrival_delay",
            "air_time",
            "distance",
        ]
        extra_kwargs = {"url": {"lookup_field": "public_id"}}


class RemarkSerializer(serializers.ModelSerializer):
    created_at = serializers.DateTimeField(read_only=True)

    class Meta:
        model = Remark
        fields = ["url", "id", "created_at", "flight", "text"]
        # A text field, where the browsable API would offer every flight in a list.
        extra_kwargs = {"flight": {"style": {"base_template": "input.html"}}}


class AirlineSerializer(serializers.ModelSerializer):
    class Meta:
        model = Airline
        fields = ["code", "name"]


class AirportSerializer(serializers.ModelSerializer):
    class Meta:
        model = Airport
        fields = [
            "code",
            "name",
            "latitude",
            "longitude",
            "altitude",
            "utc_offset",
            "dst",
            "time_zone",
        ]


class PlaneSerializer(serializers.ModelSerializer):
    class Meta:
        model = Plane
        fields = ["id", "tail_number", "year", "type", "manufacturer", "model", "seats", "engine"]


class EarliestFirst(CursorPagination):
    """Pages of the list, each found by the index of the id."""

    page_size = 20
    ordering = "public_id"


class LatestFirst(CursorPagination):
    page_size = 20
    ordering = "-id"


class FlightViewSet(SortableIDLookupMixin, viewsets.ReadOnlyModelViewSet):
    """Flights by their public ids, the earliest first."""

    queryset = Flight.objects.select_related("airline", "origin")
    serializer_class = FlightSerializer
    pagination_class = EarliestFirst
    lookup_field = "public_id"


class RemarkViewSet(
    SortableIDLookupMixin,
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    """Remarks on flights. POST the id of a flight and a text; the remark's own id is made here."""

    queryset = Remark.objects.select_related("flight")
    serializer_class = RemarkSerializer
    pagination_class = LatestFirst


class AirlineViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Airline.objects.order_by("code")
    serializer_class = AirlineSerializer
    lookup_field = "code"


class AirportViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Airport.objects.order_by("code")
    serializer_class = AirportSerializer
    lookup_field = "code"


class FirstKeys(CursorPagination):
    page_size = 20
    ordering = "pk"


class PlaneViewSet(RedirectOldIDs, SortableIDLookupMixin, viewsets.ReadOnlyModelViewSet):
    """Planes by their keys. After a move of the keys, the old ones redirect."""

    queryset = Plane.objects.all()
    serializer_class = PlaneSerializer
    pagination_class = FirstKeys
    redirect_permanently = False


router = DefaultRouter()
router.register("flights", FlightViewSet)
router.register("remarks", RemarkViewSet)
router.register("airlines", AirlineViewSet)
router.register("airports", AirportViewSet)
router.register("planes", PlaneViewSet)
