"""The list filter of creation times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ..fields import SortableIDField
from ..fields.of_model import id_at, id_field, id_fields
from ..schemes import TimeScheme


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


def _title(model: type[models.Model], field: Any, id_column: SortableIDField) -> Any:
    """The filter's title. It names the field or model, unless it filters by the model's main id."""
    if field in id_fields(model):
        name = "" if field == id_field(model) else field.verbose_name
    elif isinstance(field, models.ForeignKey | models.ManyToManyField):
        name = field.verbose_name
    else:
        name = id_column.model._meta.verbose_name
    return _("creation time of %(name)s") % {"name": name} if name else _("creation time")
