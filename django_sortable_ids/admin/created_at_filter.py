"""The list filter of creation times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import lookup_spawns_duplicates
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import pgettext_lazy

from ..fields import SortableIDField
from ..fields.of_model import id_at, id_field, id_fields
from ..schemes import TimeScheme
from .chosen_days import ChosenDays
from .past_spans import past_spans


class CreatedAtFilter(admin.DateFieldListFilter):
    """Filters by the creation time in an id: today, the past 7 days, this month, this year, one of
    the last months and years that have rows, or from one day to another.

    ``list_filter = [("id", CreatedAtFilter)]`` works for any sortable id with a time, also of a
    related model (``"order"`` or ``"order__id"``). Each choice queries a range of the id's index.
    A subclass may change how many past months and years are offered. They are those of the rows of
    ``get_queryset()``; with 0 of both, nothing is looked up.
    """

    template = "django_sortable_ids/admin/created_at_filter.html"
    has_form_in_list: bool = False
    """Whether the list contains the form of the days, so that the filter doesn't."""
    past_months: int = 6
    """How many of the last months with rows are choices."""
    past_years: int = 3
    """How many of the last years with rows are choices."""

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
        names = (self.first_day_name, self.last_day_name)
        given = {name: str(params.pop(name)[-1]) for name in names if name in params}
        self.days = ChosenDays(*names, given)
        super().__init__(times, request, params, model, model_admin, path)
        if self.days.is_chosen():
            self.date_params |= given
        self.used_parameters = self._lookups(self.used_parameters | self.days.chosen())
        self._id_path = field_path
        self._scheme = id_column.scheme
        self._has_past_spans = False

    def expected_parameters(self) -> list[str | None]:
        return [*super().expected_parameters(), self.first_day_name, self.last_day_name]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """The rows of the choice; none if the days are wrong, which the form says."""
        if not self.days.is_valid():
            return queryset.none()
        return super().queryset(request, queryset)

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

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The links. Also sets what the template needs."""
        self.read_parameters(changelist)
        if not self._has_past_spans:
            self._has_past_spans = True
            self._add_past_spans(changelist.root_queryset)
        return super().choices(changelist)

    def read_parameters(self, changelist: ChangeList) -> None:
        """Set ``other_parameters``, which the form of the days keeps, and ``own_parameters``, which
        a form around the filter keeps.
        """
        given = [
            (name, value) for name, values in changelist.filter_params.items() for value in values
        ]
        self.other_parameters = [
            (name, value) for name, value in given if not name.startswith(self.field_generic)
        ]
        own = self.expected_parameters()
        self.own_parameters = [(name, value) for name, value in given if name in own]

    def _add_past_spans(self, rows: models.QuerySet[Any]) -> None:
        """Add links to past months and years, after those of today and of this year."""
        # An index of ids doesn't lead to the rows of a many-to-many relation.
        if lookup_spawns_duplicates(rows.model._meta, self._id_path) or not self._scheme.sorts:
            return
        if not self.past_months and not self.past_years:
            return
        now = timezone.now()
        now = timezone.localtime(now) if timezone.is_aware(now) else now
        since, until = self.lookup_kwarg_since, self.lookup_kwarg_until
        past: Any = [
            (span.title, {since: span.start, until: span.end})
            for span in past_spans(rows, self._id_path, now, self.past_months, self.past_years)
        ]
        # The last two, with and without a date, are no spans.
        at = len(self.links) - (2 if self.field.null else 0)
        self.links = (*self.links[:at], *past, *self.links[at:])


def _title(model: type[models.Model], field: Any, id_column: SortableIDField) -> Any:
    """The filter's title. It names the field or model, unless it filters by the model's main id."""
    if field in id_fields(model):
        name = "" if field == id_field(model) else field.verbose_name
    elif isinstance(field, models.ForeignKey | models.ManyToManyField):
        name = field.verbose_name
    else:
        name = id_column.model._meta.verbose_name
    if not name:
        return pgettext_lazy("sortable ids", "creation time")
    return pgettext_lazy("sortable ids", "creation time of %(name)s") % {"name": name}
