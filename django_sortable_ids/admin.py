"""The admin: shows the creation times in ids, and finds ids in any accepted spelling."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import quote, unquote
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from .fields import SortableIDField
from .fields.of_model import field_at, id_at, id_field, id_fields, local_time
from .old_ids import old_key, old_row
from .schemes import InvalidID, OutOfRange, TimeScheme
from .views import redirect_to_route

__all__ = ["CreatedAtFilter", "SortableIDAdmin"]

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class CreatedAtFilter(admin.DateFieldListFilter):
    """Filters by the creation time in an id: today, the past 7 days, this month, this year, or from
    one day to another.

    ``list_filter = [("id", CreatedAtFilter)]`` works for any sortable id with a time, also of a
    related model (``"order"`` or ``"order__id"``). Each choice queries a range of the id's index.
    """

    template = "django_sortable_ids/admin/created_at_filter.html"

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: dict[str, Any],
        model: type[models.Model],
        model_admin: admin.ModelAdmin[Any],
        field_path: str,
    ) -> None:
        id_column = id_at(model, field_path)
        if id_column is None or not isinstance(id_column.scheme, TimeScheme):
            raise ImproperlyConfigured(
                f"CreatedAtFilter can't filter {model._meta.label} by {field_path!r}: expected the "
                f"path of a sortable id with a time"
            )
        # DateFieldListFilter needs no more of its field than this.
        times = models.DateTimeField(_title(model, field, id_column), null=field.null)
        # The admin only allows parameters that begin with a path in list_filter.
        path = f"{field_path}__created_at"
        while field.is_relation:
            field = field.target_field
            field_path = f"{field_path}__{field.name}"
        self._column = f"{field_path}__created_at"
        self.first_day_name = f"{path}__date__gte"
        self.last_day_name = f"{path}__date__lte"
        for name in (self.first_day_name, self.last_day_name):
            # A form sends an empty text for a blank day.
            if params.get(name) == [""]:
                del params[name]
        super().__init__(times, request, params, model, model_admin, path)
        self.used_parameters = self._lookups(self.used_parameters)

    def expected_parameters(self) -> list[str | None]:
        return [*super().expected_parameters(), self.first_day_name, self.last_day_name]

    def get_facet_counts(self, pk_attname: str, filtered_qs: Any) -> dict[str, Any]:
        return {
            f"{i}__c": models.Count(pk_attname, filter=models.Q(**self._lookups(parameters)))
            for i, (_title, parameters) in enumerate(self.links)
        }

    def _lookups(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {
            self._column + name.removeprefix(self.field_path): value
            for name, value in parameters.items()
        }

    @property
    def first_day(self) -> str:
        """The first day of the chosen range, for the form."""
        return str(self.date_params.get(self.first_day_name, ""))

    @property
    def last_day(self) -> str:
        """The last day of the chosen range, for the form."""
        return str(self.date_params.get(self.last_day_name, ""))

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The links. Also sets what the form's template needs."""
        self.other_parameters = [
            (name, value)
            for name, values in changelist.filter_params.items()
            if not name.startswith(self.field_generic)
            for value in values
        ]
        return super().choices(changelist)


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

    def __init__(self, model: type[models.Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        if not self.search_fields:
            # The system check of autocomplete_fields reads the attribute.
            own = [field.name for field in id_fields(model) if field.unique]
            self.search_fields = own  # type: ignore[misc]
        usable = [field for field in id_fields(model) if not field.wrong_options]
        timed = [field for field in usable if isinstance(field.scheme, TimeScheme)]
        if timed:
            self.id_created_at = _CreatedAtColumn(timed[0])

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


class _CreatedAtColumn:
    """A column of ``list_display``: the admin calls it for each row."""

    short_description = _("created at")

    def __init__(self, field: SortableIDField) -> None:
        descending = isinstance(field.scheme, TimeScheme) and field.scheme.descending
        self.admin_order_field = f"-{field.name}" if descending else field.name
        self._field = field

    def __call__(self, obj: models.Model) -> datetime | None:
        value = getattr(obj, self._field.attname)
        try:
            return None if value is None else local_time(self._field, value)
        except (OutOfRange, InvalidID):
            # After the year 9999, or an accepted id of another version.
            return None


def _title(model: type[models.Model], field: Any, id_column: SortableIDField) -> Any:
    """The filter's title. It names the field or model, unless it filters by the model's main id."""
    if field in id_fields(model):
        name = "" if field == id_field(model) else field.verbose_name
    elif isinstance(field, models.ForeignKey | models.ManyToManyField):
        name = field.verbose_name
    else:
        name = id_column.model._meta.verbose_name
    return _("creation time of %(name)s") % {"name": name} if name else _("creation time")
