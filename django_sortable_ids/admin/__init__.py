"""The admin: shows the creation times in ids, finds ids in any accepted spelling, decodes them,
and lists backfills.

Django imports this package at every start, so it has only the lists of the app's own models; the
other parts are imported when they are used.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin import AdminSite
from django.db import router
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import pgettext, pgettext_lazy

if TYPE_CHECKING:
    from ..models import BackfillRun
    from .created_at_filter import CreatedAtFilter as CreatedAtFilter
    from .inspector import inspect_id_urls as inspect_id_urls
    from .inspector import inspect_id_view as inspect_id_view
    from .model_admin import SortableIDAdmin as SortableIDAdmin

_MODULES = {
    "CreatedAtFilter": "created_at_filter",
    "SortableIDAdmin": "model_admin",
    "inspect_id_urls": "inspector",
    "inspect_id_view": "inspector",
}

__all__ = [*_MODULES, "register_own_models"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


_STATES = {
    "running": pgettext_lazy("sortable ids", "Running"),
    "stopped": pgettext_lazy("sortable ids", "Stopped"),
    "finished": pgettext_lazy("sortable ids", "Done"),
}


def register_own_models(site: AdminSite) -> None:
    """Add backfills, worker leases and sequence counters to an admin site.

    The default site has them already. They are read-only, and need the permission to view the
    model. A model that the site has already is left as it is.
    """
    from ..models import BackfillRun, SequenceCounter, WorkerLease

    for model, model_admin in (
        (BackfillRun, BackfillRunAdmin),
        (WorkerLease, WorkerLeaseAdmin),
        (SequenceCounter, SequenceCounterAdmin),
    ):
        if not site.is_registered(model):
            site.register(model, model_admin)


class ReadOnlyList(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list without pages of rows, for users with the permission to view the model."""

    actions = None
    list_display_links = None
    show_full_result_count = False

    def get_urls(self) -> list[URLPattern]:
        meta = self.opts
        view = self.admin_site.admin_view(self.changelist_view)
        return [path("", view, name=f"{meta.app_label}_{meta.model_name}_changelist")]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        title = capfirst(self.opts.verbose_name_plural)  # no row can be selected
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_queryset(self, request: HttpRequest) -> Any:
        # The rows as they are: a replica may be late.
        return super().get_queryset(request).using(router.db_for_write(self.model))

    def _never(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = _never


def _time(column: str, title: Any) -> Any:
    """A column of Unix ms, as times in the current time zone; empty for 0."""

    @admin.display(description=title, ordering=column)
    def time_of(self: ReadOnlyList, row: Any) -> datetime | None:
        ms: int = getattr(row, column)
        at = datetime.fromtimestamp(ms // 1000, UTC)
        return (at if settings.USE_TZ else timezone.make_naive(at)) if ms else None

    return time_of


class BackfillRunAdmin(ReadOnlyList):
    """The progress of each backfill, as ``backfill_ids --status`` shows it."""

    list_display = ["target", "state", "progress", "heartbeat_time", "last_error"]
    ordering = ["-started_at"]

    class Media:
        css = {"all": ["django_sortable_ids/admin.css"]}

    @admin.display(description=pgettext_lazy("sortable ids", "state"))
    def state(self, run: BackfillRun) -> Any:
        # A process that serves pages needs the room of backfills only here.
        from ..management.reporting import Status

        status = Status(run)
        shown = _STATES[status.state]
        if status.state != "stopped" or status.is_left_over:
            return shown
        return format_html("{}<br><code>{}</code>", shown, status.command)

    @admin.display(description=pgettext_lazy("sortable ids", "Rows"))
    def progress(self, run: BackfillRun) -> Any:
        done = number_format(run.rows_filled, force_grouping=True)
        if run.finished_at is not None:
            return done
        planned = max(run.rows_planned, run.rows_filled)
        total = number_format(planned, force_grouping=True)
        text = pgettext("sortable ids", "%(done)s of %(total)s") % {"done": done, "total": total}
        bar = '<progress max="{}" value="{}" aria-label="{}"></progress> {}'
        return format_html(bar, planned, run.rows_filled, run.target, text)

    heartbeat_time = _time("heartbeat", pgettext_lazy("sortable ids", "Last heartbeat"))


class WorkerLeaseAdmin(ReadOnlyList):
    """Who has which worker number, and until when; others may take it some seconds later."""

    list_display = ["number", "owner", "from_time", "until_time"]
    ordering = ["number"]
    search_fields = ["owner"]

    from_time = _time("starts", pgettext_lazy("sortable ids", "from"))
    until_time = _time("expires", pgettext_lazy("sortable ids", "until"))


class SequenceCounterAdmin(ReadOnlyList):
    """How many ids each lexical sequence has reserved."""

    list_display = ["key", "first", "step", "taken"]
    ordering = ["key"]
    search_fields = ["key"]
