"""The search box: an id that can be nothing else is looked up by the index of the id alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.utils import lookup_spawns_duplicates
from django.db.models import Q, QuerySet
from django.db.models.constants import LOOKUP_SEP

from ..fields import SortableIDField
from ..fields.of_model import field_at
from ..lookups.ids import pasted_values
from ..schemes import TimeScheme

PASTED = f"{LOOKUP_SEP}pasted"
_FEWEST_BITS = 80
"""An id with as many bits is long enough that no word and no number is one by chance."""


def rows_with_id(
    rows: QuerySet[Any], search_fields: Iterable[str], term: str
) -> tuple[QuerySet[Any], bool] | None:
    """The rows with the id that the term spells, and whether one may be among them twice.

    ``search_fields`` are lookups, of which those of ids end with ``__pasted``. None if there is no
    such row, or if the term may be anything else than an id.
    """
    text, found, may_repeat = term.strip(" \"'"), Q(), False
    for name in search_fields:
        path = str(name).removesuffix(PASTED)
        field = field_at(rows.model, path)
        if path == name or not isinstance(field, SortableIDField) or field.wrong_options:
            continue
        with_id = Q(**{name: text})
        is_only_an_id = _is_only_an_id(field, text) and any(pasted_values(field, text))
        if is_only_an_id and rows.filter(with_id).exists():
            found |= with_id
            may_repeat = may_repeat or lookup_spawns_duplicates(rows.model._meta, path)
    return (rows.filter(found), may_repeat) if found else None


def _is_only_an_id(field: SortableIDField, text: str) -> bool:
    """Whether a text that spells an id is no other text: it has the prefix, or it is so long."""
    if any(prefix and text.startswith(prefix) for prefix in field.public_text.accepted_prefixes):
        return True
    scheme = field.scheme
    return isinstance(scheme, TimeScheme) and scheme.bits >= _FEWEST_BITS and not text.isdecimal()
