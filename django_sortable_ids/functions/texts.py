"""The text of an id in SQL: ``AsText``, and the order of texts that grow."""

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.core.exceptions import FieldError
from django.db import NotSupportedError, models
from django.db.models import F, TextField, expressions
from django.db.models.expressions import OrderBy
from django.db.models.functions import Length
from django.db.models.sql import Query

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from ..fields.storage import IntegerStorage, TextStorage
from ..schemes.notation import Notation
from ..schemes.text_forms import Digits, Groups, UUIDText
from .fragments import Compiled, Fragment, HyphenatedHex, SQLText, joined
from .ticks import hex_text


class AsText(models.Func):
    """An id's text as ``str(pk)`` has it in Python, a ``CharField``: ``AsText("id")``.

    It is the same on every engine and in every column, without the prefix and the mask of the
    public text; NULL for NULL. No index finds it.

    Raises ``FieldError`` if the expression is not an id, ``NotSupportedError`` for bytes of a
    scheme of your own whose text is not made of digits.
    """

    arity = 1
    output_field = models.CharField()

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        column = self.get_source_expressions()[0]
        field = id_field(column)
        if field is None:
            raise FieldError(f"AsText() takes a sortable id, found {column}")
        if isinstance(field.stored(connection), IntegerStorage):
            column = SQLText("CAST({0} AS text)", column, mysql="CAST({0} AS CHAR)")
        elif packs(field, connection):
            column = _text_of(column, field, connection)
        compiled: Compiled = compiler.compile(column)
        return compiled


def id_field(expression: Any) -> SortableIDField | None:
    """The field of an id, or of the id that a relation references; None for other expressions."""
    kind = kind_of(expression)
    return kind if isinstance(kind, SortableIDField) else None


def kind_of(expression: Any) -> Any:
    """The field of what an expression gives; for a relation, the id that it references. None for
    SQL of the project, and for mixed types: the expression around them may know the type."""
    name = "output_field" if isinstance(expression, Query) else "_output_field_or_none"
    is_order = isinstance(expression, expressions.OrderBy | expressions.OrderByList)
    with suppress(FieldError):
        field = None if is_order else getattr(expression, name, None)
        return referenced_id(field) or field
    return None


def packs(kind: Any, connection: Any) -> bool:
    """Whether it is an id whose column stores something other than its text or its number."""
    if not isinstance(kind, SortableIDField):
        return False
    stored = kind.stored(connection)
    if isinstance(stored, TextStorage):
        return stored.form != kind.scheme.canonical
    return not isinstance(stored, IntegerStorage)


def _text_of(column: Any, field: SortableIDField, connection: Any) -> Any:
    form, bits = field.scheme.canonical, 8 * field.scheme.byte_length
    digits = hex_text(column, field.stored(connection), connection, bytes=bits // 8).text
    match form:
        case UUIDText():
            # On SQLite, hex(NULL) is ''.
            plain = {"postgresql": "{0}", "mysql": "LOWER(REPLACE({0}, '-', ''))"}
            return HyphenatedHex(SQLText("nullif(lower({0}), '')", digits, **plain))
        case Digits(alphabet, length, padding=padding):
            groups, scale = [(length, bits)], 1 << padding
        case Groups(alphabet, parts) if all(part % 4 == 0 for _, part in parts):
            groups, scale = [*parts], 1
        case _:
            raise NotSupportedError(
                f"{connection.display_name} can't write the text of {field.scheme.title}, "
                f'{form.expected}: store it as text, with storage="char", or read it in Python'
            )
    first, written = 1 + (bits - sum(part for _, part in groups)) // 4, []
    for length, part in groups:
        constants: Any = {"alphabet": alphabet, "length": length, "scale": scale}
        written.append(_DigitsOfHex(digits, first=first, size=part // 4, **constants))
        first += part // 4
    return joined(written)


class _DigitsOfHex(Fragment):
    """``length`` digits in ``alphabet`` of the number that ``size`` hexadecimal digits spell, from
    the digit ``first``, at most 160 bits, times ``scale``; NULL for NULL."""

    output_field = TextField()
    sqlite = "sortable_id_digits(substr({0}, {first}, {size}), '{alphabet}', {length}, {scale})"

    def postgresql(self, connection: Any) -> str:
        number = "('x' || substr({{0}}, {first}, {size}))::bit({bits})::bigint * {weight}::numeric"
        digits = self._digits(number, "div(mod({}, {}::numeric), {}::numeric)::int")
        return f"({' || '.join(digits)})"

    def mysql(self, connection: Any) -> str:
        large = "CAST('{}' AS DECIMAL(60))"
        number = "CONV(SUBSTR(REPLACE({{0}}, '-', ''), {first}, {size}), 16, 10)"
        number = f"CAST({number} AS DECIMAL(60)) * {large.format('{weight}')}"
        return f"CONCAT({', '.join(self._digits(number, f'(MOD({{}}, {large}) DIV {large})'))})"

    def _digits(self, piece: str, digit: str) -> Iterator[str]:
        """SQL for each digit. ``piece`` is a template of up to 15 hexadecimal digits times their
        weight, ``digit`` one of a remainder of the number, divided."""
        first, size, alphabet = (self.extra[name] for name in ("first", "size", "alphabet"))
        base, pieces = len(alphabet), []
        for start, end in pairwise([0, *range(size % 15 or 15, size + 1, 15)]):
            weight, count = 16 ** (size - end) * self.extra["scale"], end - start
            digits = {"first": first + start, "size": count, "bits": 4 * count}
            pieces.append(piece.format(**digits, weight=weight))
        for power in range(self.extra["length"] - 1, -1, -1):
            place = digit.format(f"({' + '.join(pieces)})", base ** (power + 1), base**power)
            yield f"substr('{alphabet}', 1 + {place}, 1)"


def digits_of_hex(digits: str | None, alphabet: str, length: int, scale: int) -> str | None:
    """``sortable_id_digits`` of SQLite, which has no numbers of this size."""
    return _notation(alphabet, length).format(int(digits, 16) * scale) if digits else None


_notation = lru_cache(Notation)


def shortlex(name: str) -> tuple[OrderBy, OrderBy]:
    """Length and value of a field, for ``order_by(*shortlex("number"))``; ``"-number"`` descends.

    ``Index(*shortlex("number"), name=...)`` supports it, if the database has indexes on
    expressions. It is the order of counting if the characters of the sequence are in ASCII order,
    as in all named sets except ``alpha`` and ``alnum``.
    """
    descending = name.startswith("-")
    field = name.removeprefix("-")
    return (OrderBy(Length(field), descending=descending), OrderBy(F(field), descending=descending))
