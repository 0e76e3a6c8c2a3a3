"""The search box: an id that can be nothing else is looked up by the index of the id alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.contrib.admin.utils import lookup_spawns_duplicates
from django.db.models import Q, QuerySet

from ..fields import SortableIDField
from ..lookups.ids import pasted_values
from ..schemes import TimeScheme

_FEWEST_BITS = 80
"""An id with as many bits is long enough that no word and no number is one by chance."""


class Searched(NamedTuple):
    """An id that the search compares with a text, and the lookup path to it."""

    path: str
    field: SortableIDField


def rows_with_id(
    rows: QuerySet[Any], searched: Iterable[Searched], term: str
) -> tuple[QuerySet[Any], bool] | None:
    """The rows with the id that the term spells, and whether one may be among them twice.

    None if there is no such row, or if the term may be anything else than an id.
    """
    text = term.strip(" \"'")
    conditions = [
        (path, Q(**{f"{path}__pasted": text}))
        for path, field in searched
        if _is_only_an_id(field, text) and any(pasted_values(field, text))
    ]
    found = [(path, each) for path, each in conditions if rows.filter(each).exists()]
    if not found:
        return None
    may_repeat = any(lookup_spawns_duplicates(rows.model._meta, path) for path, _ in found)
    return rows.filter(Q.create([each for _, each in found], connector=Q.OR)), may_repeat


def _is_only_an_id(field: SortableIDField, text: str) -> bool:
    """Whether a text that spells an id is no other text: it has the prefix, or it is so long."""
    if any(prefix and text.startswith(prefix) for prefix in field.public_text.accepted_prefixes):
        return True
    scheme = field.scheme
    return isinstance(scheme, TimeScheme) and scheme.bits >= _FEWEST_BITS and not text.isdecimal()
