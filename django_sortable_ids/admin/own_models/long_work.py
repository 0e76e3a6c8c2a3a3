"""The page on which backfills, checks of ids and moves of keys are watched."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.cache import add_never_cache_headers

from .read_only import ReadOnlyList

REFRESH_SECONDS = 2
"""Between two looks at work that runs."""


class BackfillRunAdmin(ReadOnlyList):
    """A page with the work of every database. While something runs, it refreshes itself."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        # Backfills and moves are large, and a process that serves pages needs them here only.
        from ...backfill.reporting import work
        from .cards import cards

        found = list(work.everywhere())
        is_active = any(each.is_active for each in found)
        is_paused = "paused" in request.GET
        databases = [
            {
                "alias": each.using,
                "vendor": connections[each.using].display_name,
                "error": each.error,
                "cards": cards(each),
            }
            for each in found
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": self.opts.verbose_name_plural,
            "opts": self.opts,
            "databases": databases,
            "is_active": is_active,
            "is_paused": is_paused,
            "refresh": REFRESH_SECONDS if is_active and not is_paused else None,
            **(extra_context or {}),
        }
        request.current_app = self.admin_site.name
        template = "django_sortable_ids/admin/long_work.html"
        response = TemplateResponse(request, template, context)
        add_never_cache_headers(response)
        return response
