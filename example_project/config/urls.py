from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView
from flights.api import router
from flights.views import FlightPage, FrontPage

urlpatterns = [
    path("", FrontPage.as_view(), name="front"),
    path("favicon.ico", RedirectView.as_view(url=static("flights/icon.svg"))),
    path("admin/", admin.site.urls),
    path("flights/<int:pk>/", FlightPage.as_view(), name="flight"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", include(router.urls)),
]
