"""The form of the list filter: from one day to another."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class _Day(forms.DateField):
    """A day as browsers send it, whatever the language."""

    def __init__(self, label: Any, form_id: str) -> None:
        attributes = {"type": "date", "form": form_id}
        super().__init__(
            label=label,
            required=False,
            input_formats=["%Y-%m-%d"],
            widget=forms.DateInput(attributes, format="%Y-%m-%d"),
        )

    def to_python(self, value: Any) -> date | None:
        try:
            return super().to_python(value)
        except ValidationError:
            # The browser shows an empty input, so the message has the text.
            message = _("“%(value)s” is not a date. A date is, for example, 2026-01-31.")
            params = {"value": str(value)[:20]}
            raise ValidationError(message, code="invalid", params=params) from None


class ChosenDays(forms.Form):
    """The first and the last day, both optional; its fields have the names of the parameters.

    They belong to the ``<form>`` with ``form_id``, wherever that is on the page: a form can't be
    within another one.
    """

    def __init__(self, first_name: str, last_name: str, data: dict[str, str]) -> None:
        super().__init__(data, label_suffix="")
        self.first_name, self.last_name = first_name, last_name
        self.form_id = f"sortable-ids-{first_name}"
        self.fields = {
            first_name: _Day(pgettext_lazy("sortable ids", "From"), self.form_id),
            last_name: _Day(pgettext_lazy("sortable ids", "To"), self.form_id),
        }

    def clean(self) -> dict[str, Any]:
        days = self.cleaned_data
        first, last = days.get(self.first_name), days.get(self.last_name)
        if first and last and first > last:
            self.add_error(self.last_name, _("This day is before the first one."))
        return days

    def is_chosen(self) -> bool:
        """Whether there is any day, or a text that is none."""
        return any(self.data.values())

    def chosen(self) -> dict[str, list[date]]:
        """The days by the names of their parameters, as a filter has its values."""
        self.is_valid()
        return {name: [day] for name, day in self.cleaned_data.items() if day}
