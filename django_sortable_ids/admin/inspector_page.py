"""What the page shows of the ids in a text, with the rows that the user may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import pgettext

from ..fields import SortableIDField
from ..fields.of_model import id_fields
from ..inspecting.details import Details, details
from ..inspecting.inspection import Answer, Inspection, inspect
from ..inspecting.output import report
from ..inspecting.output.picture_svg import Picture, in_words, picture
from ..inspecting.parts import Part
from ..inspecting.reading.texts import cleaned, shown
from ..inspecting.rows import Column
from ..schemes import all_schemes

_TEMPLATE = "django_sortable_ids/admin/inspect_id.html"


@dataclass(frozen=True)
class _Shown:
    """A candidate as the template shows it."""

    details: Details
    picture: Picture | None

    @property
    def parts(self) -> Iterator[tuple[int, Part, str, str]]:
        """Each part with its number, its places and its value."""
        if anatomy := self.details.anatomy:
            for number, part in enumerate(anatomy.parts, 1):
                yield number, part, report.places(part), report.shown_value(anatomy, part)

    @property
    def description(self) -> str:
        """The picture in words."""
        return in_words(self.details.anatomy) if self.details.anatomy else ""


@dataclass(frozen=True)
class _ShownID:
    """An id as the template shows it."""

    inspection: Inspection

    @property
    def text(self) -> str:
        return shown(self.inspection.text)

    @property
    def in_full(self) -> list[_Shown]:
        """The candidates that are shown in full."""
        found = map(details, self.inspection.in_full)
        return [_Shown(each, _picture(each)) for each in found]

    @property
    def others(self) -> list[Details]:
        """All other candidates."""
        return list(map(details, self.inspection.others))


def _picture(found: Details) -> Picture | None:
    return picture(found.anatomy) if found.anatomy and found.anatomy.text else None


def page(request: HttpRequest, site: admin.AdminSite) -> HttpResponse:
    text = request.GET.get("q", "")
    scheme = request.GET.get("scheme")
    if scheme not in {each.name for each in all_schemes()}:
        scheme = None
    columns = list(_columns(request, site))
    answer = inspect(text, columns, scheme=scheme) if text.strip() else Answer(())
    context = {
        **site.each_context(request),
        "title": pgettext("sortable ids", "Inspect an id"),
        "pasted": " ".join(cleaned(text).split()),
        "ids": [_ShownID(each) for each in answer.ids],
        "not_looked_up": [error.partition(":")[0] for error in answer.errors],
        "time_zone": timezone.get_current_timezone_name(),
    }
    request.current_app = site.name
    return TemplateResponse(request, _TEMPLATE, context)


def _columns(request: HttpRequest, site: admin.AdminSite) -> Iterator[Column]:
    """The ids of the models that the user may view in this site."""
    for model, model_admin in site._registry.items():
        if model_admin.has_view_or_change_permission(request):
            for field in id_fields(model):
                if not field.wrong_options:
                    yield _column(field, request, model_admin)


def _column(
    field: SortableIDField, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
) -> Column:
    def rows() -> models.QuerySet[Any]:
        return model_admin.get_queryset(request)

    def may_show(row: models.Model) -> bool:
        return model_admin.has_view_or_change_permission(request, row)

    def url(row: models.Model) -> str | None:
        return _change_url(model_admin.admin_site, row)

    return Column(field, rows, may_show, url, unmasks_without_row=False)


def _change_url(site: admin.AdminSite, row: models.Model) -> str | None:
    meta = row._meta
    route = f"admin:{meta.app_label}_{meta.model_name}_change"
    try:
        return reverse(route, args=[quote(row.pk)], current_app=site.name)
    except NoReverseMatch:
        return None
