"""The system check of admins that name an id whose creation times they can't show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.sites import all_sites
from django.core.checks import CheckMessage

from ..checks.messages import message
from ..fields.of_model import id_at
from ..schemes import TimeScheme
from .created_at_filter import CreatedAtFilter
from .model_admin import SortableIDAdmin


def check_admins(app_configs: Any = None, **_: Any) -> list[CheckMessage]:
    """Problems of the admins of every site; a ``SortableIDAdmin`` checks its own hierarchy."""
    return [
        found
        for site in all_sites
        for model_admin in site._registry.values()
        for found in _check(model_admin)
    ]


def _check(model_admin: Any) -> Iterator[CheckMessage]:
    cls = type(model_admin)
    hierarchy = getattr(model_admin, "created_at_hierarchy", None)
    if hierarchy is not None and not isinstance(model_admin, SortableIDAdmin):
        fix = "Derive the class from SortableIDAdmin, of django_sortable_ids.admin."
        yield message("E017", cls, reason=f"{cls.__name__} ignores it", fix=fix)
    for each in model_admin.list_filter:
        if isinstance(each, tuple | list) and issubclass(each[1], CreatedAtFilter):
            column = id_at(model_admin.model, each[0])
            if column is None or not isinstance(column.stored_scheme, TimeScheme):
                yield message("E020", cls, path=each[0])
