"""Columns of ``list_display`` and fields of the change page."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db import models
from django.utils import formats
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import pgettext, pgettext_lazy

from ..fields import SortableIDField
from ..fields.of_model import id_fields, local_time, main_field
from ..schemes import InvalidID, OutOfRange, TimeScheme


class ListedColumn:
    """What the admin calls for each row. Sorts by the id."""

    def __init__(self, field: SortableIDField, model_admin: ModelAdmin[Any], title: Any) -> None:
        self.admin_order_field = field.name
        self.short_description = title
        self.field = field
        self._model_admin = model_admin


class CreatedAtColumn(ListedColumn):
    def __init__(self, field: SortableIDField, model_admin: ModelAdmin[Any], title: Any) -> None:
        super().__init__(field, model_admin, title)
        if isinstance(field.scheme, TimeScheme) and field.scheme.descending:
            self.admin_order_field = f"-{field.name}"

    def __call__(self, obj: models.Model) -> str:
        value, created = getattr(obj, self.field.attname), None
        # It may be after the year 9999, or an accepted id of another version.
        with suppress(OutOfRange, InvalidID):
            created = None if value is None else local_time(self.field, value)
        if created is None:
            return str(self._model_admin.get_empty_value_display())
        return format_html(
            '<time class="sortable-ids-time" datetime="{}">{}</time>',
            created.isoformat(),
            formats.localize(created),
        )


class PublicTextColumn(ListedColumn):
    """The public text of an id, which a click selects; a script adds a button that copies it."""

    def __call__(self, obj: models.Model) -> str:
        value = getattr(obj, self.field.attname)
        if value is None:
            return str(self._model_admin.get_empty_value_display())
        return format_html(
            '<span class="sortable-ids-text" dir="ltr" translate="no" data-copy="{}"'
            ' data-copied="{}">{}</span>',
            pgettext("sortable ids", "Copy"),
            pgettext("sortable ids", "Copied"),
            self.field.public_text.shown(value),
        )


def columns(model_admin: ModelAdmin[Any]) -> dict[str, ListedColumn]:
    """The columns of the model's ids by their names in ``list_display``."""
    fields = [field for field in id_fields(model_admin.model) if not field.wrong_options]
    timed = [field for field in fields if isinstance(field.scheme, TimeScheme)]
    found: dict[str, ListedColumn] = {}
    for field in fields:
        title = field.verbose_name
        if field.name != "public_id":
            title = format_lazy(pgettext_lazy("sortable ids", "public {name}"), name=title)
        found[f"{field.name}_public_text"] = PublicTextColumn(field, model_admin, title)
    for field in timed:
        title = format_lazy(
            pgettext_lazy("sortable ids", "{name} created at"), name=field.verbose_name
        )
        found[f"{field.name}_created_at"] = CreatedAtColumn(field, model_admin, title)
    if fields:
        title = pgettext_lazy("sortable ids", "public id")
        found["public_id"] = PublicTextColumn(main_field(fields), model_admin, title)
    if timed:
        title = pgettext_lazy("sortable ids", "created at")
        found["id_created_at"] = CreatedAtColumn(timed[0], model_admin, title)
    return found
