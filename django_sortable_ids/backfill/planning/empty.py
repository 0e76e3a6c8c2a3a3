"""Tables without rows: their ids can be verified though nobody knows what they are made from."""

from __future__ import annotations

from django.db import models, router
from django.db.models import QuerySet

from ... import history
from ...fields import SortableIDField
from ...models import BackfillRun
from ..sources.fields import check_tables, find_field


def find_empty(label: str, using: str | None) -> tuple[type[models.Model], SortableIDField] | None:
    """Model and field of ``app.Model.field`` where the table is empty and no run has filled it,
    but for history models.

    Raises ``BackfillError`` for what can't be filled.
    """
    model, field = find_field(label)
    if history.original_of(model) is not None:
        return None  # copies, whose originals are known
    using = using or router.db_for_write(model)
    check_tables(model, field, using)
    runs = BackfillRun.objects.using(using).filter(target=f"{model._meta.label}.{field.name}")
    rows: QuerySet[models.Model] = QuerySet(model, using=using)
    return None if runs.exists() or rows.exists() else (model, field)
