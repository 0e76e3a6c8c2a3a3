"""The system check of admins that name an id whose creation times they can't show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.sites import all_sites
from django.core.checks import CheckMessage

from ..checks import messages
from ..fields.of_model import id_at
from ..schemes import TimeScheme
from .created_at_filter import CreatedAtFilter
from .model_admin import SortableIDAdmin


def check_admins(app_configs: Any = None, **_: Any) -> list[CheckMessage]:
    """Problems of the admins of every site; a ``SortableIDAdmin`` checks its own hierarchy."""
    return [
        message
        for site in all_sites
        for model_admin in site._registry.values()
        for message in _check(model_admin)
    ]


def _check(model_admin: Any) -> Iterator[CheckMessage]:
    cls = type(model_admin)
    hierarchy = getattr(model_admin, "created_at_hierarchy", None)
    if hierarchy is not None and not isinstance(model_admin, SortableIDAdmin):
        yield messages.wrong_hierarchy(cls, f"{cls.__name__} ignores it", messages.DERIVE)
    for each in model_admin.list_filter:
        if isinstance(each, tuple | list) and issubclass(each[1], CreatedAtFilter):
            column = id_at(model_admin.model, each[0])
            if column is None or not isinstance(column.stored_scheme, TimeScheme):
                yield messages.wrong_filter(cls, each[0])
