"""Comparisons with an id itself: the lookups, and how they treat malformed ids.

``IDExact``, ``IDIn``, ``IDLessThan`` and so on are created at the end of this file, each from one
of our classes and Django's. Those of foreign keys are ``IDRelatedExact`` and so on.

They are registered when this module is imported, as soon as the app is ready and fields are
imported.
"""

from itertools import chain
from typing import Any
from uuid import UUID

from django.core.exceptions import FieldError
from django.db.models import ForeignObject, Model, Transform, Value, lookups
from django.db.models.fields import related_lookups as related
from django.http import Http404

from .fields import SortableIDField
from .fields.callers import CURSORS, is_called_by
from .fields.of_model import referenced_id
from .fields.public import Candidates, Malformed
from .schemes.errors import described

_NOTHING = "FALSE"
"""The SQL of a comparison with malformed ids: in an annotation, Django's ``EmptyResultSet`` would
discard all rows of the query."""

_TEXT_LOOKUPS = (
    *("pasted", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith"),
    *("iexact", "regex", "iregex", "search"),
)


class _KeepCandidates:
    """Keeps the candidates of a text that may stand for several ids, until the query runs."""

    lhs: Any
    rhs: Any

    def get_prep_lookup(self) -> Any:
        self.rhs = _value_or_candidates(self.lhs, self.rhs)
        return super().get_prep_lookup()  # type: ignore[misc]


class _EqualsACandidate(_KeepCandidates):
    """A text that may stand for several ids equals each of its candidates."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, Candidates):
            return compiler.compile(lookups.In(self.lhs, list(self.rhs.values)))
        if isinstance(self.rhs, Malformed):
            return _NOTHING, []
        return super().as_sql(compiler, connection)  # type: ignore[misc]


class _InCandidates:
    """Each text of the list stands for all of its candidates."""

    lhs: Any
    rhs: Any

    def get_prep_lookup(self) -> Any:
        field = referenced_id(self.lhs.output_field)
        if field is not None and not hasattr(self.rhs, "as_sql"):
            if isinstance(self.rhs, str):
                raise TypeError(f"{field}: expected a list of ids, found {described(self.rhs)}")
            values = list(self.rhs)
            if field.public_text.is_ambiguous:
                read = (_value_or_candidates(self.lhs, value) for value in values)
                several = (item.values if isinstance(item, Candidates) else [item] for item in read)
                values = list(chain.from_iterable(several))
            if any(map(_is_expression, values)):
                # From a list without expressions Django discards what is malformed: it equals None.
                values = [
                    value if _is_expression(value) else Value(value, output_field=field)
                    for value in values
                    if _is_expression(value) or field.read_for_lookup(value) != Malformed(value)
                ]
            self.rhs = values
        return super().get_prep_lookup()  # type: ignore[misc]

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        values = self.rhs if isinstance(self.rhs, list) else ()
        if values and all(isinstance(value, Malformed) for value in values):
            return _NOTHING, []
        return super().as_sql(compiler, connection)  # type: ignore[misc]


def _is_expression(value: Any) -> bool:
    return hasattr(value, "resolve_expression")


def _value_or_candidates(lhs: Any, value: Any) -> Any:
    """The value itself. A text that may stand for several ids becomes its ``Candidates``, its id if
    it has only one, or ``Malformed``."""
    field = referenced_id(lhs.output_field)
    if field and isinstance(value, Value) and isinstance(value.value, str | UUID):
        # Otherwise the database would compare its column with the text.
        return Value(value.value, output_field=field)
    if field is None or not field.public_text.is_ambiguous:
        return value
    if isinstance(value, Model) and hasattr(lhs.output_field, "path_infos"):
        value = related.get_normalized_value(value, lhs)[0]
    # A facade is never a UUIDv7.
    is_text = isinstance(value, str) or (field.masked and field.public_text.is_other_uuid(value))
    return field.read_for_lookup(value) if is_text else value


class _RefuseMalformed(_KeepCandidates):
    """Raises ``ValidationError`` for an order comparison with a malformed id, which has no place.

    In a cursor of REST framework's ``CursorPagination`` it raises 404, like any wrong cursor.
    """

    def get_prep_lookup(self) -> Any:
        if not isinstance(self, lookups.Range) or _is_expression(self.rhs):
            return self._placed(super().get_prep_lookup())
        field: Any = self.lhs.output_field
        ends = () if isinstance(self.rhs, str) else tuple(self.rhs)
        if len(ends) != 2:
            raise TypeError(f"{field}: expected two ids, found {described(self.rhs)}")
        read = (field.get_prep_value(_value_or_candidates(self.lhs, end)) for end in ends)
        self.rhs = [*map(self._placed, read)]
        return super().get_prep_lookup()

    def _placed(self, value: Any) -> Any:
        if not isinstance(value, Malformed):
            return value
        field: Any = referenced_id(self.lhs.output_field)
        converted = field.public_text.in_own_type(value.found)
        is_text = isinstance(converted, str)
        if isinstance(converted, field.scheme.value_type) and not is_text and not field.masked:
            return _Place(converted, field)
        refusal = field.invalid(value.found)
        if is_called_by(CURSORS):
            raise Http404(refusal.messages[0])
        raise refusal


class _Place(Value):
    """A UUID of another version, as it was read from a row, or a number: it sorts among the ids."""

    output_field: Any

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.value, int):  # drivers refuse one of more than 64 bits
            return str(min(max(self.value, -1), 1 << 63)), []
        return "%s", [self.output_field.stored(connection).to_db(self.value.int, connection)]


class WholeID(lookups.In):
    """Matches a text that is a whole id in any accepted spelling, and nothing else.

    Text lookups of an id are this one, as search boxes look for parts of a text in each of
    their columns, and the database may store an id as bytes or a number. A text that is two ids, in
    the canonical and in the public form, matches both.

    The admin's search passes on a lookup named ``pasted`` unchanged. For ``exact`` it would cast
    the column to text, and otherwise search for parts of it. django-filter splits what a lookup
    named ``in`` gets.
    """

    lookup_name = "pasted"

    def get_prep_lookup(self) -> Any:
        if _is_expression(self.rhs):
            raise FieldError("text lookups of ids take a text, not an expression: use exact or in")
        if self.rhs is None:
            return None  # which Django takes for IS NULL in iexact, and refuses in the others
        field, text = self.lhs.output_field, self.rhs
        self.rhs = list(field.readings(text)) if isinstance(text, str) else [text]
        return super().get_prep_lookup()


class CreatedAtLater(Transform):
    """``id__created_at``, and ``order__created_at`` of a foreign key: imported when it is used."""

    lookup_name = "created_at"

    def __new__(cls, id: Any) -> Any:
        from .functions.created_at import CreatedAt

        return CreatedAt(id)


def _lookup_as_vendor(lookup: Any, compiler: Any, connection: Any) -> Any:
    """The SQL of a lookup. An id is compared with an expression of texts as its text."""
    if not hasattr(lookup.rhs, "resolve_expression"):
        return lookup.as_sql(compiler, connection)
    from .functions.expressions import compare_as_vendor

    return compare_as_vendor(lookup, compiler, connection)


_ORDERS = ("GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual", "Range")
_OURS = {"Exact": _EqualsACandidate, "In": _InCandidates} | dict.fromkeys(_ORDERS, _RefuseMalformed)
# ``IDExact``, ``IDIn`` and so on. Django looks ``order=...`` up on the foreign key, and not on the
# column that this points to: ``IDRelatedExact`` and so on.
for _of, _module, _kind in ((SortableIDField, lookups, ""), (ForeignObject, related, "Related")):
    for _name, _ours in _OURS.items():
        if _usual := getattr(_module, _kind + _name, None):
            _lookup = type(f"ID{_kind}{_name}", (_ours, _usual), {})
            globals()[_lookup.__name__] = _lookup  # for pickle
            _of.register_lookup(_lookup)
for _name in _TEXT_LOOKUPS:
    SortableIDField.register_lookup(WholeID, _name)
for _vendor in ("sqlite", "postgresql", "mysql"):
    setattr(lookups.BuiltinLookup, f"as_{_vendor}", _lookup_as_vendor)
SortableIDField.register_lookup(CreatedAtLater)
ForeignObject.register_lookup(CreatedAtLater)
