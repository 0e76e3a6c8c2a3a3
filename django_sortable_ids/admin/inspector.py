"""The URL of the page that decodes any id, below every admin site that shows sortable ids."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

NAME = "inspect_id"
"""The name of the page's URL, in the namespace of its site."""


def inspect_id_view(site: AdminSite) -> Callable[..., HttpResponse]:
    """The view of the page for a site, for staff of the site only.

    ``SortableIDAdmin`` adds it to its site. For a place of its own:
    ``path("admin/inspect-id/", inspect_id_view(admin.site))``, before the path of the site.
    """

    def view(request: HttpRequest) -> HttpResponse:
        # A process that serves pages needs the inspector on this one only.
        from .inspector_page import page

        return page(request, site)

    return site.admin_view(view)


def inspect_id_urls(site: AdminSite) -> list[URLPattern]:
    """The URL of the page, for ``get_urls()`` of a ``ModelAdmin`` of the site.

    Every model may have one: ``reverse("admin:inspect_id")`` is the first of them.
    """
    return [path("inspect-id/", inspect_id_view(site), name=NAME)]
