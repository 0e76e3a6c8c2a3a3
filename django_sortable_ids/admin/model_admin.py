"""The base class of the model admins of a project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import quote, unquote
from django.core.checks import CheckMessage
from django.core.exceptions import FieldError
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.urls import URLPattern

from ..checks.messages import wrong_hierarchy
from ..fields import SortableIDField
from ..fields.of_model import field_at, id_fields
from ..histograms.columns import timed_column
from ..histograms.histogram import SECONDS
from ..old_ids import old_key, old_row
from ..schemes import TimeScheme
from ..views import redirect_to_route
from .change_list import DrillDownMixin, with_drill_down
from .columns import CreatedAtColumn
from .inspector import inspect_id_urls

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class SortableIDAdmin(ModelAdmin):
    """A ``ModelAdmin`` whose search box finds a pasted id, and that can show creation times.

    In addition to ``search_fields``, the search matches the key and the unique ids of the model in
    any accepted spelling. An id in ``search_fields`` (``"order__id"``) is also matched as a whole.
    ``"id_created_at"`` in ``list_display`` shows the time in the model's first id that has one, and
    sorts by that id.

    If the key of the model was moved, the search also matches old ids. The pages of a row with its
    old id redirect to those with the present one, for rows of ``get_queryset()`` that the user may
    see. For users: ``class OwnUserAdmin(SortableIDAdmin, UserAdmin)``.
    """

    created_at_hierarchy: str | None = None
    """The path of an id, ``"id"`` or ``"order__id"``, whose creation times are drawn above the
    list: bars of the years, which lead to the months of a year, the days, the hours and the
    minutes. The bars count the rows of the list, with its filters, search and ``get_queryset()``,
    from the id's index alone."""
    created_at_hierarchy_seconds: float = SECONDS
    """How long a page may look for the bars and count them. After that time, the counts are said as
    "more than", or left out."""

    def __init__(self, model: type[models.Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        if not self.search_fields:
            # The system check of autocomplete_fields reads the attribute.
            own = [field.name for field in id_fields(model) if field.unique]
            self.search_fields = own  # type: ignore[misc]
        usable = [field for field in id_fields(model) if not field.wrong_options]
        timed = [field for field in usable if isinstance(field.scheme, TimeScheme)]
        if timed:
            self.id_created_at = CreatedAtColumn(timed[0])

    def check(self, **kwargs: Any) -> list[Any]:
        return [*super().check(**kwargs), *self._check_created_at_hierarchy()]

    def _check_created_at_hierarchy(self) -> Iterator[CheckMessage]:
        if self.created_at_hierarchy is None:
            return
        try:
            timed_column(self.model, self.created_at_hierarchy)
        except FieldError as error:
            yield wrong_hierarchy(type(self), str(error))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        change_list: Any = super().get_changelist(request, **kwargs)
        return with_drill_down(change_list) if self.created_at_hierarchy else change_list

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        response: Any = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        if isinstance(context.get("cl"), DrillDownMixin):
            # Extends whatever template the list has, as each project may have its own.
            context["list_template"] = response.resolve_template(response.template_name)
            response.template_name = "django_sortable_ids/admin/change_list.html"
        return response

    def get_urls(self) -> list[URLPattern]:
        return [*inspect_id_urls(self.admin_site), *super().get_urls()]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        declared = [self._whole(name) for name in super().get_search_fields(request)]
        own = [f"{field.name}__pasted" for field in id_fields(self.model) if field.unique]
        return list(dict.fromkeys([*declared, *own]))

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        # PostgreSQL raises an error for NUL. The list's form refuses it; autocomplete has no form.
        if "\0" in search_term:
            return queryset.none(), False
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        key = old_key(self.model)
        if key and (values := key.values(search_term.strip())):
            found |= queryset.filter(**{f"{key.path}__in": values})
        return found, may_repeat

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> Any:
        """Django's answer for an id that no row has, or a redirect to the row that had it once."""
        row = old_row(self.get_queryset(request), unquote(object_id))
        if row is None or not self.has_view_or_change_permission(request, row):
            usual: Any = super()
            return usual._get_obj_does_not_exist_redirect(request, opts, object_id)
        return redirect_to_route(request, {"object_id": quote(row.pk)})

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        """The page of a ``UserAdmin``, which is the other base class, or a redirect to it."""
        if self.get_object(request, unquote(id)) is None:
            row = old_row(self.get_queryset(request), unquote(id))
            if row is not None and self.has_change_permission(request, row):
                return redirect_to_route(request, {"id": quote(row.pk)})
        usual: Any = super()
        return usual.user_change_password(request, id, form_url)

    def _whole(self, name: str) -> str:
        path = name.lstrip("^=@")
        for end in (path, path.rpartition(LOOKUP_SEP)[0]):
            if isinstance(field_at(self.model, end), SortableIDField):
                return f"{end}{LOOKUP_SEP}pasted"
        return name
