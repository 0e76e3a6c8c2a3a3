"""Comparisons with an id itself: which ones there are, and what a malformed one does to them."""

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.core.exceptions import FieldError, ValidationError
from django.db.models import ForeignObject, Model, lookups
from django.db.models.fields.related_lookups import get_normalized_value
from django.http import Http404

from ..fields import SortableIDField, callers
from ..fields.lookup_values import Candidates, Malformed
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
    "search",
)


class _KeepCandidates:
    """A text that several keys may have masked stays what it is until the database is known."""

    lhs: Any
    rhs: Any

    def get_prep_lookup(self) -> Any:
        self.rhs = _kept(self.lhs, self.rhs)
        return super().get_prep_lookup()  # type: ignore[misc]


class _ExactlyOneCandidate(_KeepCandidates):
    """A text that several keys may have masked equals each of the values that it may stand for."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, Candidates):
            return compiler.compile(lookups.In(self.lhs, list(self.rhs.values)))
        return super().as_sql(compiler, connection)  # type: ignore[misc]


class _InCandidates:
    """Each text of the list stands for all of its values."""

    lhs: Any
    rhs: Any

    def get_prep_lookup(self) -> Any:
        field = _compared_field(self.lhs)
        if field is not None and field.public_text.masked and not hasattr(self.rhs, "as_sql"):
            self.rhs = [value for given in self.rhs for value in _values(self.lhs, given)]
        return super().get_prep_lookup()  # type: ignore[misc]


def _compared_field(lhs: Any) -> SortableIDField | None:
    """The sortable id that is compared, directly or at the end of a relation."""
    field: Any = getattr(lhs, "output_field", None)
    while hasattr(field, "path_infos"):
        field = field.path_infos[-1].target_fields[-1]
    return field if isinstance(field, SortableIDField) else None


def _kept(lhs: Any, given: Any) -> Any:
    """What was given, or the candidates of a text that several keys may have masked."""
    field = _compared_field(lhs)
    if field is None or not field.public_text.masked:
        return given
    if isinstance(given, Model) and hasattr(lhs.output_field, "path_infos"):
        given = get_normalized_value(given, lhs)[0]
    is_text = isinstance(given, str) or (isinstance(given, uuid.UUID) and given.version != 7)
    found = field.prepared(given) if is_text else given
    return found if isinstance(found, Candidates) else given


def _values(lhs: Any, given: Any) -> tuple[Any, ...]:
    kept = _kept(lhs, given)
    return kept.values if isinstance(kept, Candidates) else (given,)


class Exact(_ExactlyOneCandidate, lookups.Exact):
    pass


class In(_InCandidates, lookups.In):
    pass


class _RefuseMalformed(_KeepCandidates):
    """An order comparison with a malformed id raises ``ValidationError``: it has no place.

    In the cursor of REST framework's ``CursorPagination`` it is 404, as any other wrong cursor.
    """

    def get_prep_lookup(self) -> Any:
        prepared = super().get_prep_lookup()
        for value in prepared if isinstance(prepared, list | tuple) else [prepared]:
            if isinstance(value, Malformed):
                refusal = self.lhs.output_field.invalid(value.found)
                if callers.is_called_by(callers.CURSORS):
                    raise Http404(refusal.messages[0])
                raise refusal
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
    def get_prep_lookup(self) -> Any:
        if isinstance(self.rhs, list | tuple):
            self.rhs = tuple(_kept(self.lhs, each) for each in self.rhs)
        return super().get_prep_lookup()


class Pasted(lookups.In):
    """A match of a text in any accepted spelling, under a name that the admin's search passes on
    as it is: it casts the column to text for ``exact`` (Django 5.2), and asks for parts of it
    otherwise. A text that is two ids, in the canonical form and in the public one, matches both.
    """

    lookup_name = "pasted"

    def __init__(self, lhs: Any, rhs: str) -> None:
        super().__init__(lhs, list(_candidates(lhs.output_field, rhs)))


def _candidates(field: SortableIDField, text: str) -> Iterator[ID]:
    with suppress(InvalidID):
        yield field.scheme.parse(text)
    with suppress(ValidationError):
        yield from field.candidates(text)


class NoTextLookup(lookups.Lookup):
    """A text lookup, which an id has not: what is stored is a number.

    A search box asks for parts of a text in every one of its columns. There it is a match of the
    whole id.
    """

    def __new__(cls, lhs: Any, rhs: Any) -> Any:
        if callers.is_called_by(callers.SEARCHES):
            return Pasted(lhs, rhs)
        field = lhs.output_field
        raise FieldError(
            f"{field.name}__{cls.lookup_name}: ids have no text lookups, because the database "
            f"may keep bytes or numbers. Use {field.name}=..., which takes every spelling, or a "
            f"range of creation times, such as {field.name}__created_at__date=..."
        )


def register() -> None:
    """Make every lookup of this module one of ``SortableIDField``'s, and have relations look up
    candidates, too.
    """
    for lookup in (Exact, In, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range):
        SortableIDField.register_lookup(lookup)
    SortableIDField.register_lookup(Pasted)
    for name in _TEXT_LOOKUPS:
        refusal = type(f"No{name.title()}", (NoTextLookup,), {"lookup_name": name})
        SortableIDField.register_lookup(refusal)
    # Django asks the foreign key for these, and not the column that it points to.
    order = dict.fromkeys(("gt", "gte", "lt", "lte"), _KeepCandidates)
    for name, mixin in {"exact": _ExactlyOneCandidate, "in": _InCandidates, **order}.items():
        usual = ForeignObject.get_class_lookups()[name]
        if not issubclass(usual, mixin):
            ForeignObject.register_lookup(type(usual.__name__, (mixin, usual), {}))
