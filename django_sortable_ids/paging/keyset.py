"""The rows after an id, or before it: any page costs what the first one costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import F, QuerySet
from django.db.models.expressions import OrderBy
from django.utils.crypto import constant_time_compare, salted_hmac

from .. import conf
from ..fields import SortableIDField
from ..fields.of_model import field_at, referenced_id
from ..schemes import ID, InvalidID
from ..schemes.mask import MaskKey

_SALT = "django_sortable_ids.signed_texts"
_DIGITS = 32
"""Hexadecimal digits of a signature: 128 bits."""


class IDOrder(NamedTuple):
    """That rows are in the order of a unique id, which every row has."""

    path: str
    attname: str
    field: SortableIDField
    descending: bool

    def text(self, row: Any) -> str:
        """What a URL says of the row's place: the public text of its id, signed if it is masked."""
        return signed(self.field, getattr(row, self.attname))

    def value(self, text: str) -> ID:
        """The id of a ``text``; ``InvalidID`` for anything else."""
        return read_signed(self.field, text)


@dataclass(frozen=True)
class KeysetPage:
    """One page, and the cursors of its neighbours."""

    rows: QuerySet[Any]
    """The rows of the page; the query has run."""
    previous: str | None
    """``before`` of the previous page; None on the first one."""
    next: str | None
    """``after`` of the next page; None on the last one."""


def id_order(rows: QuerySet[Any]) -> IDOrder | None:
    """By which id the rows are ordered; None if it is no unique id, or if rows lack it.

    Whether rows of a nullable column lack it takes one look-up in its index.
    """
    query = rows.query
    if query.is_sliced or query.combinator or query.distinct_fields:
        return None
    name, descending = _first_name(rows)
    if name in query.annotations:
        return None
    path = name if "__" not in name else ""
    column = field_at(rows.model, path)
    field = referenced_id(column)
    if field is None or field.wrong_options or not column.unique:
        return None
    # By the name of a relation, rows have the order of the related model.
    if column.is_relation and path not in ("pk", column.attname):
        return None
    if column.null:
        every = column.model._base_manager.using(rows.db)
        if every.filter(**{f"{column.name}__isnull": True}).exists():
            return None
    return IDOrder(path, column.attname, field, descending)


def keyset_page(
    rows: QuerySet[Any], per_page: int, *, after: str | None = None, before: str | None = None
) -> KeysetPage:
    """The rows after an id, or the last rows before it, at most ``per_page``.

    ``rows`` are ordered by a unique id that every row has, ascending or descending; otherwise
    ``ValueError``. ``after`` and ``before`` are what another page says of its neighbours. Without
    them, and for ``after=""``, it is the first page; for ``before=""`` it is the last one. Raises
    ``InvalidID``, a ``ValueError``, for any other text.
    """
    order = id_order(rows)
    if order is None:
        raise ValueError(f"{rows.model._meta.label}: expected rows in the order of a unique id")
    return page_in_order(rows, order, per_page, after=after, before=before)


def page_in_order(
    rows: QuerySet[Any],
    order: IDOrder,
    per_page: int,
    *,
    after: str | None = None,
    before: str | None = None,
) -> KeysetPage:
    """``keyset_page``, for rows whose order is known."""
    backwards = before is not None
    position = before if backwards else after
    selected = rows.reverse() if backwards else rows.all()
    if position:
        sign = "lt" if order.descending != backwards else "gt"
        selected = selected.filter(**{f"{order.path}__{sign}": order.value(position)})
    found = list(selected[: per_page + 1])
    has_more, found = len(found) > per_page, found[:per_page]
    has_previous, has_next = bool(position), has_more
    if backwards:
        found.reverse()
        has_previous, has_next = has_next, has_previous
    # Where all rows of the page are gone, its neighbours are the last page and the first one.
    ends = (order.text(found[0]), order.text(found[-1])) if found else ("", "")
    return KeysetPage(
        rows=with_rows(selected[:per_page], found),
        previous=ends[0] if has_previous else None,
        next=ends[1] if has_next else None,
    )


def with_rows(query: QuerySet[Any], found: list[Any]) -> QuerySet[Any]:
    """The query as if it had run and found these rows."""
    done: Any = query._chain()  # type: ignore[attr-defined]
    done._result_cache = found
    done._prefetch_done = True
    return done  # type: ignore[no-any-return]


def _first_name(rows: QuerySet[Any]) -> tuple[str, bool]:
    """The name of the first column of the order, and whether it is descending; empty if the order
    begins with anything else."""
    query: Any = rows.query
    order = query.order_by or (query.get_meta().ordering if query.default_ordering else ())
    first: Any = order[0] if order and not query.extra_order_by else ""
    descending = not query.standard_ordering
    if isinstance(first, OrderBy):
        descending, first = descending != first.descending, first.expression
    if isinstance(first, F):
        return first.name, descending  # type: ignore[attr-defined]
    if not isinstance(first, str):
        return "", descending
    return first.lstrip("-"), descending != first.startswith("-")


# Texts that only the app reads


def signed(field: SortableIDField, value: ID) -> str:
    """The public text. A masked text is signed with its mask key, together with the column: clients
    can't forge it.

    A client that could compare ids with forged texts could read their times. The random bits of a
    masked text determine the mask that is XORed with the time. So flipping a bit in the masked time
    flips that bit of the time, and a binary search takes 48 comparisons.

    A stored UUID of another version is written as it is; ``read_signed`` refuses it.
    """
    text = field.public_text.format(value)
    if not field.masked or field.public_text.is_other_uuid(value):
        return text
    return f"{text}.{_signature(field, text, conf.mask_keys()[0])}"


def read_signed(field: SortableIDField, given: str) -> ID:
    """The value of a text from ``signed``; ``InvalidID`` for anything else.

    The signature identifies the key that masked the text: even with several, there is one value.
    """
    if not field.masked:
        return field.public_text.parse(given)
    text, _, signature = given.rpartition(".")
    for key in conf.mask_keys():
        if constant_time_compare(signature, _signature(field, text, key)):
            return field.public_text.parse_with(text, key)
    raise InvalidID("invalid signature: the text is of another column or key, or forged")


def _signature(field: SortableIDField, text: str, key: MaskKey) -> str:
    secret = f"{key.k0:016x}{key.k1:016x}"
    digest = salted_hmac(_SALT, f"{field} {text}", secret=secret, algorithm="sha256")
    return digest.hexdigest()[:_DIGITS]
