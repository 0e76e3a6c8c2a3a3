"""Comparisons with an id itself: which ones there are, and what a malformed one does to them."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

from django.core.exceptions import FieldError, ValidationError
from django.db.models import lookups

from ..fields import SortableIDField
from ..fields.malformed import Malformed
from ..schemes import ID, InvalidID

_TEXT_LOOKUPS = (
    "contains",
    "icontains",
    "startswith",
    "istartswith",
    "endswith",
    "iendswith",
    "iexact",
    "regex",
    "iregex",
)


class _RefuseMalformed:
    """An order comparison with a malformed id raises ``ValidationError``: it has no place."""

    lhs: Any

    def get_prep_lookup(self) -> Any:
        prepared = super().get_prep_lookup()  # type: ignore[misc]
        for value in prepared if isinstance(prepared, list | tuple) else [prepared]:
            if isinstance(value, Malformed):
                raise self.lhs.output_field.invalid(value.found)
        return prepared


class GreaterThan(_RefuseMalformed, lookups.GreaterThan):
    pass


class GreaterThanOrEqual(_RefuseMalformed, lookups.GreaterThanOrEqual):
    pass


class LessThan(_RefuseMalformed, lookups.LessThan):
    pass


class LessThanOrEqual(_RefuseMalformed, lookups.LessThanOrEqual):
    pass


class Range(_RefuseMalformed, lookups.Range):
    pass


class Pasted(lookups.In):
    """A match of a text in any accepted spelling, under a name that the admin's search passes on
    as it is: it casts the column to text for ``exact`` (Django 5.2), and asks for parts of it
    otherwise. A text that is two ids, in the canonical form and in the public one, matches both.
    """

    lookup_name = "pasted"

    def __init__(self, lhs: Any, rhs: str) -> None:
        super().__init__(lhs, list(_readings(lhs.output_field, rhs)))


def _readings(field: SortableIDField, text: str) -> Iterator[ID]:
    with suppress(InvalidID):
        yield field.scheme.parse(text)
    with suppress(ValidationError):
        yield from field.readings(text)


class NoTextLookup(lookups.Lookup):
    """A text lookup, which an id has not: what is stored is a number."""

    def __init__(self, lhs: Any, rhs: Any) -> NoReturn:
        field = lhs.output_field
        raise FieldError(
            f"{field.name}__{self.lookup_name}: ids have no text lookups, because the database "
            f"may keep bytes or numbers. Use {field.name}=..., which takes every spelling, or a "
            f"range of creation times, such as {field.name}__created_at__date=..."
        )


def register() -> None:
    """Make every lookup of this module one of ``SortableIDField``'s."""
    for lookup in (GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range, Pasted):
        SortableIDField.register_lookup(lookup)
    for name in _TEXT_LOOKUPS:
        refusal = type(f"No{name.title()}", (NoTextLookup,), {"lookup_name": name})
        SortableIDField.register_lookup(refusal)
