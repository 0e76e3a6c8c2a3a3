"""The page that decodes any id, below every admin site that shows sortable ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, update_wrapper
from typing import TYPE_CHECKING

from django.contrib.admin import AdminSite
from django.contrib.admin.utils import quote
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import pgettext

from ..fields.of_model import id_fields
from ..schemes import all_schemes

if TYPE_CHECKING:
    from ..inspecting.inspection import SearchedColumn


def inspect_id_view(site: AdminSite) -> Callable[..., HttpResponse]:
    """The view of the page for a site, for staff of the site only.

    ``SortableIDAdmin`` adds it to its site. For a place of its own:
    ``path("admin/inspect-id/", inspect_id_view(admin.site))``, before the path of the site.
    """
    return site.admin_view(update_wrapper(partial(_page, site), _page))


def inspect_id_urls(site: AdminSite) -> list[URLPattern]:
    """The URL of the page, for ``get_urls()`` of a ``ModelAdmin`` of the site.

    Every model may have one: ``reverse("admin:inspect_id")`` is the last of them.
    """
    return [path("inspect-id/", inspect_id_view(site), name="inspect_id")]


def _page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    # A process that serves pages needs the inspector on this one only.
    from ..inspecting.inspection import cleaned, in_one_line, inspect

    text, scheme = request.GET.get("q", ""), request.GET.get("scheme")
    if scheme not in {known.name for known in all_schemes()}:
        scheme = None
    columns = _columns(request, site)
    inspection = inspect(text, list(columns), scheme=scheme) if text.strip() else None
    errors = inspection.errors if inspection else ()
    context = {
        **site.each_context(request),
        "title": pgettext("sortable ids", "Inspect an id"),
        "pasted": " ".join(cleaned(text).split()),
        "found": inspection,
        "text": inspection and in_one_line(inspection.text),
        "not_looked_up": [error.partition(":")[0] for error in errors],
        "time_zone": timezone.get_current_timezone_name(),
    }
    request.current_app = site.name
    return TemplateResponse(request, "django_sortable_ids/admin/inspect_id.html", context)


def _columns(request: HttpRequest, site: AdminSite) -> Iterator[SearchedColumn]:
    """The ids of the models that the user may view in this site."""
    from ..inspecting.inspection import SearchedColumn

    def url(row: models.Model) -> str | None:
        route = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
        with suppress(NoReverseMatch):
            return reverse(route, args=[quote(row.pk)], current_app=site.name)
        return None

    for model, model_admin in site._registry.items():
        may_show = partial(model_admin.has_view_or_change_permission, request)
        for field in id_fields(model) if may_show() else ():
            if not field.wrong_options:
                rows = partial(model_admin.get_queryset, request)
                yield SearchedColumn(field, rows, may_show, url, unmasks_without_row=False)
