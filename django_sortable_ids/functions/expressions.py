"""What expressions see of an id: its text where a function, a comparison or an assignment takes
text, and what the column stores elsewhere. What would mean nothing is refused."""

import operator
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Literal
from uuid import UUID

from django.db import NotSupportedError, models
from django.db.models import expressions
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast, Coalesce, Greatest, Least, NullIf, Replace
from django.db.models.functions.window import LagLeadFunction
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLInsertCompiler

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from ..fields.storage import TextStorage, UUIDStorage
from ..schemes.text_forms import UUIDText
from .texts import AsText, id_field, kind_of, packs

_TEXTS = (models.CharField, models.TextField)
_RETURN_A_SOURCE = (
    *(expressions.Case, expressions.When, expressions.ExpressionWrapper),
    *(Coalesce, Greatest, Least, NullIf, LagLeadFunction),
)
"""Expressions whose result is one of their arguments."""
_ADAPTED = ("django.", "django_sortable_ids.")
"""Modules whose functions of unknown kind take what the column stores."""


def as_vendor(
    function: Any, usual: Any, kind: str, /, compiler: Any, connection: Any, **extra: Any
) -> Any:
    """The SQL of a function that sees the text of an id stored as something else.

    ``usual`` compiles it. ``kind`` is ``"text"`` if it takes characters or writes JSON, ``"any"``
    if it takes anything, ``"unknown"`` for a ``Func`` of the project. Raises
    ``NotSupportedError`` if its result would be read as an id, or would mean nothing.
    """
    if field := isinstance(function, _RETURN_A_SOURCE) and id_field(function):
        function = with_ids(function, field, connection)
        for source in function.get_source_expressions():
            value = getattr(source, "result", source)  # of a When
            if not isinstance(value, models.Value):
                _refuse_other_form(field, value, connection)
    sources, name = function.get_source_expressions(), type(function).__name__
    packed = [source for source in sources if packs(kind_of(source), connection)]
    if isinstance(function, Cast) and not _casts(function, connection):
        raise NotSupportedError(
            f"{connection.display_name} can't cast {sources[0]} to an id: its column doesn't "
            "store the text. Compare the id with the column itself, or read the text in Python"
        )
    if not packed or (
        kind == "unknown" and name != "Func" and type(function).__module__.startswith(_ADAPTED)
    ):
        return usual(function, compiler, connection, **extra)
    takes = _takes(function, kind, packed, connection)
    if takes is None:
        raise NotSupportedError(
            f"{name}() can't take {packed[0]}, whose column doesn't store the text of the id: "
            f"write {name}(AsText(...)), with AsText of django_sortable_ids.functions"
        )
    if takes == "text":
        function = function.copy()
        function.set_source_expressions([AsText(arg) if arg in packed else arg for arg in sources])
    return usual(function, compiler, connection, **extra)


def _takes(
    function: Any, kind: str, packed: Sequence[Any], connection: Any
) -> Literal["text", "column"] | None:
    """What a function of packed ids takes; None if its result would mean another id, or nothing."""
    result = function.output_field
    is_id = referenced_id(result) is not None
    is_text = isinstance(result, _TEXTS) and not is_id
    is_uuid = isinstance(result, models.UUIDField)
    keeps = is_id or isinstance(result, models.BinaryField)
    keeps = keeps or (is_uuid and _fits(packed[0], result, connection))
    if kind == "unknown" and is_text and function.function == "CAST":
        kind = "any"  # such as the function of django-reversion
    if isinstance(function, Cast):
        means_something = is_text or keeps
    elif kind == "unknown":
        means_something = keeps or all(_is_native(source, connection) for source in packed)
    elif kind == "text" and is_id:
        means_something = False
    else:
        means_something = keeps or not (is_uuid or (is_text and isinstance(function, models.Case)))
    if not means_something:
        return None
    sees_text = kind == "text" or (is_text and kind == "any")
    return "text" if sees_text or isinstance(result, models.JSONField) else "column"


def _casts(cast: Cast, connection: Any) -> bool:
    """Whether the database converts what is cast to the type of an id's column."""
    source = cast.get_source_expressions()[0]
    if id_field(cast) is None or _is_native(cast, connection):
        return True
    return _fits(source, cast.output_field, connection)


def subquery_as_vendor(subquery: Any, compiler: Any, connection: Any, **extra: Any) -> Any:
    """The SQL of a ``Subquery``, or of the ``Query`` that Django 6.1 makes of it, which is no text
    of ids and which an INSERT stores only in a column that fits; else ``NotSupportedError``."""
    kind = kind_of(subquery)
    if isinstance(kind, _TEXTS) and not referenced_id(kind):
        _refuse_ids(getattr(subquery, "query", subquery), connection)
    query = compiler.query
    if isinstance(compiler, SQLInsertCompiler) and not hasattr(query, "checked_for_ids"):
        query.checked_for_ids = True
        pairs = ((to, getattr(row, to.attname)) for row in query.objs for to in query.fields)
        check_assigned(pairs, connection)
    return subquery.as_sql(compiler, connection, **extra)


def field_of_query(usual: Any, query: Any) -> Any:
    """The ``output_field`` of a subquery. Of a foreign key to an id it is the id: Django has no
    converters for the foreign key."""
    return referenced_id(field := usual(query)) or field


def update_as_vendor(compiler: Any, usual: Any) -> Any:
    """The SQL of an UPDATE, whose constants are ids, and whose expressions fit their columns."""
    query = compiler.query
    query.values = [
        (field, model, with_ids(value, id_) if (id_ := referenced_id(field)) else value)
        for field, model, value in query.values
    ]
    compiled = usual(compiler)
    check_assigned(((field, value) for field, _, value in query.values), compiler.connection)
    return compiled


def check_assigned(assigned: Iterable[tuple[Any, Any]], connection: Any) -> None:
    """Check what a statement assigns to fields: ``NotSupportedError`` if it would store a packed id
    in a column of another kind, or something else in the column of a packed id."""
    for target, value in assigned:
        is_expression = hasattr(value, "as_sql") and not isinstance(value, models.Value)
        if is_expression and not _fits(value, target, connection):
            field = referenced_id(target)
            advice = "write AsText(...), with AsText of django_sortable_ids.functions"
            if packs(field, connection):
                advice = "assign ids that Python has read"
            raise NotSupportedError(
                f"{target} can't be set to {id_field(value) or value}: their columns store ids "
                f"in different forms. To convert them, {advice}"
            )


def _fits(expression: Any, target: Any, connection: Any) -> bool:
    """Whether the column of the target stores ids in the form that the expression gives."""
    kinds = [kind_of(expression), referenced_id(target) or target]
    plain = [kind for kind in kinds if not isinstance(kind, SortableIDField)]
    if len(plain) == 2 or None in kinds:
        return True
    forms = [_form(kind, connection) for kind in kinds]
    if forms[0] in (forms[1], None) or any(isinstance(kind, models.BinaryField) for kind in plain):
        return True
    packs_one = any(packs(kind, connection) for kind in kinds)
    return bool(plain) and not packs_one and not isinstance(plain[0], models.UUIDField)


def _form(kind: Any, connection: Any) -> Any:
    """The form in which a column stores ids; its type, unless it is a column of UUIDs."""
    stored = kind.stored(connection) if isinstance(kind, SortableIDField) else None
    if isinstance(stored, UUIDStorage) or (stored is None and isinstance(kind, models.UUIDField)):
        return UUID if connection.features.has_native_uuid_field else UUIDText(hyphens=False)
    if isinstance(stored, TextStorage) and isinstance(stored.form, UUIDText):
        return stored.form
    return type(stored) if stored else kind.db_type(connection)


_STORES_IDS = (models.UUIDField, models.IntegerField, models.CharField, models.TextField)


def _refuse_other_form(field: SortableIDField, value: Any, connection: Any) -> None:
    is_known = isinstance(kind_of(value), (SortableIDField, *_STORES_IDS))
    if is_known and not _fits(value, field, connection):
        raise NotSupportedError(
            f"{field} can't be compared or combined with {id_field(value) or value}: their columns "
            "store ids in different forms. Convert both, with AsText of "
            "django_sortable_ids.functions"
        )


def compare_as_vendor(lookup: Any, compiler: Any, connection: Any) -> Any:
    """The SQL of a lookup with expressions: a text is compared with an id's text;
    ``NotSupportedError`` for a subquery of ids."""
    several = isinstance(lookup.rhs, expressions.ExpressionList)
    sides = [lookup.lhs, *(lookup.rhs.get_source_expressions() if several else [lookup.rhs])]
    # A text that no database casts to an id is compared as it is.
    uncast = [
        side.get_source_expressions()[0]
        if isinstance(side, Cast) and not _casts(side, connection)
        else side
        for side in sides
    ]
    packed = next((side for side in uncast if packs(kind_of(side), connection)), None)
    if packed is not None and any(_is_text(side, id_field(packed)) for side in uncast):
        compared = [_compared(side, connection) for side in uncast]
    elif field := next(filter(None, map(id_field, sides)), None):
        compared = [with_ids(side, field, connection) for side in sides]
        for side in compared:
            # Some packages compare functions that return a text.
            if id_field(side) or not isinstance(kind_of(side), _TEXTS):
                _refuse_other_form(field, side, connection)
    else:
        compared = sides
    lookup = copy(lookup)
    lookup.lhs, *right = compared
    lookup.rhs = expressions.ExpressionList(*right) if several else right[0]
    return lookup.as_sql(compiler, connection)


def _is_text(side: Any, packed: Any) -> bool:
    """Whether it gives a text, no id and no constant, that a packed id is compared with.

    Other packages compare a UUID with what it is in Django's ``UUIDField``: a text from which
    ``Replace`` removes the hyphens, or a function of theirs.
    """
    if isinstance(side, _RETURN_A_SOURCE):
        sources = (getattr(source, "result", source) for source in side.get_source_expressions())
        return any(_is_text(source, packed) for source in sources)
    query, selected = getattr(side, "query", side), []
    if isinstance(query, Query):
        selected = [*query.select, *query.annotation_select.values()]
    column = selected[0] if len(selected) == 1 else side
    while isinstance(column, Cast) and isinstance(kind_of(column), _TEXTS):
        column = column.get_source_expressions()[0]
    if isinstance(column, KeyTransform | AsText):
        return True
    is_text = isinstance(kind_of(column), _TEXTS) and not id_field(column)
    if not is_text or isinstance(column, models.Value):
        return False
    return packed.scheme.value_type is not UUID or all(
        type(part).__module__.startswith("django.") and not isinstance(part, Replace)
        for part in column.flatten()
    )


def _compared(side: Any, connection: Any) -> Any:
    """The text of a packed id, and of a value; another expression as it is."""
    if isinstance(side, models.Value) and side.value is not None:
        return models.Value(str(side.value))
    _refuse_ids(side, connection)
    return AsText(side) if packs(kind_of(side), connection) else side


def _refuse_ids(query: Any, connection: Any) -> None:
    """Raise ``NotSupportedError`` for a query of packed ids where a text is expected."""
    if isinstance(query, Query) and packs(kind_of(query), connection):
        raise NotSupportedError(
            "a subquery of ids is no text, as their column doesn't store the text of the id: write "
            "values(AsText(...)), with AsText of django_sortable_ids.functions"
        )


def with_ids(expression: Any, field: SortableIDField, connection: Any = None) -> Any:
    """The expression, whose constants are ids of the field: Django writes a ``Value()`` as its own
    field of the type stores it. With a connection, texts remain texts in a column of them."""
    if isinstance(expression, models.Value):
        as_texts = connection is not None and not packs(field, connection)
        kinds = UUID if as_texts else str | UUID
        is_other = isinstance(expression.value, kinds) and id_field(expression) is None
        return models.Value(expression.value, output_field=field) if is_other else expression
    if isinstance(expression, _RETURN_A_SOURCE):
        sources = expression.get_source_expressions()
        converted = [with_ids(source, field, connection) for source in sources]
        if any(map(operator.is_not, sources, converted)):
            expression = expression.copy()
            expression.set_source_expressions(converted)
            if not referenced_id(vars(expression).get("output_field")):
                vars(expression).pop("output_field", None)
    return expression


def _is_native(expression: Any, connection: Any) -> bool:
    """Whether it is a UUID in a column of the database's own type for UUIDs."""
    field = id_field(expression)
    if field is None or field.scheme.value_type is not UUID:
        return False
    is_uuid = isinstance(field.stored(connection), UUIDStorage)
    return is_uuid and bool(connection.features.has_native_uuid_field)
