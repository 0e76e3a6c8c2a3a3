"""The list filter of creation times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from ..fields import SortableIDField
from ..fields.of_model import id_field, id_fields
from ..histograms.counting import timed_column


class ChosenDays(forms.Form):
    """The first and the last day, both optional; its fields have the names of the parameters.

    They belong to the ``<form>`` with ``form_id``, wherever that is on the page: a form can't be
    within another one.
    """

    def __init__(self, first_name: str, last_name: str, data: dict[str, str]) -> None:
        super().__init__(data, label_suffix="")
        self.first_name, self.last_name = first_name, last_name
        self.form_id = f"sortable-ids-{first_name}"
        titles = (pgettext_lazy("sortable ids", "From"), pgettext_lazy("sortable ids", "To"))
        for name, title in zip((first_name, last_name), titles, strict=True):
            # A day as browsers send it, whatever the language.
            attributes, day_format = {"type": "date", "form": self.form_id}, "%Y-%m-%d"
            widget = forms.DateInput(attributes, format=day_format)
            self.fields[name] = forms.DateField(
                label=title, required=False, input_formats=[day_format], widget=widget
            )

    def clean(self) -> dict[str, Any]:
        days = self.cleaned_data
        first, last = days.get(self.first_name), days.get(self.last_name)
        if first and last and first > last:
            self.add_error(self.last_name, _("This day is before the first one."))
        return days

    def is_chosen(self) -> bool:
        return any(self.data.values())

    def chosen(self) -> dict[str, list[date]]:
        """The days by the names of their parameters, as a filter has its values."""
        self.is_valid()
        return {name: [day] for name, day in self.cleaned_data.items() if day}


class CreatedAtFilter(admin.DateFieldListFilter):
    """Filters by the creation time in an id: today, the past 7 days, this month, this year, or
    from one day to another.

    ``list_filter = [("id", CreatedAtFilter)]`` works for any sortable id with a time, also of a
    related model (``"order"`` or ``"order__id"``). Each choice queries a range of the id's index.
    Earlier months and years are those of ``SortableIDAdmin.created_at_hierarchy``.
    """

    template = "django_sortable_ids/admin/created_at_filter.html"
    has_form_in_list: bool = False
    """Whether the list contains the form of the days, so that the filter doesn't."""

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: dict[str, Any],
        model: type[models.Model],
        model_admin: admin.ModelAdmin[Any],
        field_path: str,
    ) -> None:
        column = timed_column(model, field_path, may_repeat=True)
        # DateFieldListFilter needs no more of its field than this.
        times = models.DateTimeField(_title(model, field, column.field), null=field.null)
        # With the name of the id: a related model may have a column created_at.
        path = f"{column.path}__created_at"
        names = (f"{path}__date__gte", f"{path}__date__lte")
        chosen = {name: str(params.pop(name)[-1]) for name in names if name in params}
        self.days = ChosenDays(*names, chosen)
        super().__init__(times, request, params, model, model_admin, path)
        if self.days.is_chosen():
            self.date_params |= chosen
        self.used_parameters |= self.days.chosen()

    def expected_parameters(self) -> list[str | None]:
        return [*super().expected_parameters(), self.days.first_name, self.days.last_name]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """The rows of the choice. Invalid dates match nothing; the form shows why."""
        if not self.days.is_valid():
            return queryset.none()
        return super().queryset(request, queryset)

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The links; in a period of the drill-down, "any date" is not the chosen one."""
        self.read_parameters(changelist)
        self.date_params = self.date_params or {
            name: value
            for name, value in changelist.params.items()
            if name.startswith(self.field_generic)
        }
        return super().choices(changelist)

    def read_parameters(self, changelist: ChangeList) -> None:
        """Set ``other_parameters``, which the form of the days keeps, and ``own_parameters``, which
        a form around the filter keeps."""
        pairs = [
            (name, value) for name, values in changelist.filter_params.items() for value in values
        ]
        own_names, generic = self.expected_parameters(), self.field_generic
        self.own_parameters = [pair for pair in pairs if pair[0] in own_names]
        self.other_parameters = [pair for pair in pairs if not pair[0].startswith(generic)]


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
