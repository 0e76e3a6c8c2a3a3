from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from flights.api import router
from flights.views import FlightPage, FrontPage

urlpatterns = [
    path("", FrontPage.as_view(), name="front"),
    path("admin/", admin.site.urls),
    path("flights/<int:pk>/", FlightPage.as_view(), name="flight"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", include(router.urls)),
]
