"""Pages of large tables, for the admin, for views and for Django REST framework.

``SortableIDPaginator`` does not count every row. ``keyset_page`` does not skip the rows of the
pages before: it begins after an id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.paginator import EmptyPage, Paginator
from django.db.models import F, QuerySet
from django.db.models.expressions import OrderBy
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.functional import cached_property

from . import conf
from .db.counting import Count, count
from .fields import SortableIDField
from .fields.of_model import field_at, is_unique_alone, referenced_id
from .schemes import ID, InvalidID
from .schemes.mask import MaskKey

if TYPE_CHECKING:
    from django.core.paginator import Page

__all__ = ["Count", "KeysetPage", "SortableIDPaginator", "keyset_page"]


class _LastPage(int):
    """The number that a paginator has for its last page, which may be another one."""


class SortableIDPaginator(Paginator):  # type: ignore[type-arg]
    """A ``Paginator`` that does not count every row of a large table.

    ``count`` is a ``Count``: exact up to ``exact_up_to`` rows. Above that it is the estimate of
    PostgreSQL, MariaDB or MySQL, or a minimum where they have none, and on SQLite. For the last
    page of such a count, and for pages after it, all rows are counted. So whether a page is the
    last one is always right.
    """

    exact_up_to: int = 10_000
    """The number of rows up to which the count is exact."""

    @cached_property
    def count(self) -> Count:
        if not isinstance(self.object_list, QuerySet):
            return Count(super().count)
        # A page must never have more rows than were counted.
        return count(self.object_list, max(self.exact_up_to, self.per_page + self.orphans))

    @cached_property
    def num_pages(self) -> int:
        pages = super().num_pages
        return pages if self.count.is_exact else _LastPage(pages)

    def validate_number(self, number: Any) -> int:
        try:
            return super().validate_number(number)
        except EmptyPage:
            if self.count.is_exact or int(number) < 1:
                raise
            return int(number)

    def get_page(self, number: Any) -> Page[Any]:
        try:
            return super().get_page(number)
        except EmptyPage:
            return self.page(self.num_pages)

    def page(self, number: Any) -> Page[Any]:
        valid = self.validate_number(number)
        if not self.count.is_exact and valid >= self.num_pages:
            self._set_count(self.object_list.count())  # type: ignore[attr-defined]
            valid = self.num_pages if isinstance(number, _LastPage) else valid
        if self.count.is_exact:
            return super().page(valid)
        all_rows: QuerySet[Any] = self.object_list.all()  # type: ignore[attr-defined]
        bottom, most = (valid - 1) * self.per_page, self.per_page + self.orphans
        loaded = list(all_rows[bottom : bottom + most + 1])
        if len(loaded) <= most:  # The estimate was too high.
            self._set_count(bottom + len(loaded) if loaded else all_rows.count())
            return super().page(valid)
        rows = with_rows(all_rows[bottom : bottom + self.per_page], loaded[: self.per_page])
        page: Page[Any] = self._get_page(rows, valid, self)  # type: ignore[attr-defined]
        return page

    def _set_count(self, exact: int) -> None:
        self.__dict__["count"] = Count(exact)
        self.__dict__.pop("num_pages", None)


# Pages after an id, or before it: any page costs what the first one costs

_SALT = "django_sortable_ids.signed_texts"
_DIGITS = 32
"""Hexadecimal digits of a signature: 128 bits."""


class IDOrder(NamedTuple):
    """The order of rows by a unique id, which every row has."""

    path: str
    attname: str
    field: SortableIDField
    descending: bool

    def text(self, row: Any) -> str:
        """What a URL says of the row's place: the public text of its id, signed if it is masked."""
        return signed(self.field, getattr(row, self.attname))


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
    """The id that orders the rows; None if it is not unique, or if rows lack it.

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
    if field is None or field.wrong_options or not is_unique_alone(column):
        return None
    # By the name of a relation, rows have the order of the related model.
    if column.is_relation and path not in ("pk", column.attname):
        return None
    if column.null:
        all_rows = column.model._base_manager.using(rows.db)
        if all_rows.filter(**{f"{column.name}__isnull": True}).exists():
            return None
    return IDOrder(path, column.attname, field, descending)


def keyset_page(
    rows: QuerySet[Any],
    per_page: int,
    *,
    after: str | None = None,
    before: str | None = None,
    order: IDOrder | None = None,
) -> KeysetPage:
    """The rows after an id, or the last rows before it, at most ``per_page``.

    ``rows`` are instances, in the order of a unique id, ascending or descending; otherwise
    ``ValueError``. ``after`` and ``before`` are what another page says of its neighbours. Without
    them, and for ``after=""``, it is the first page; for ``before=""`` it is the last one. Raises
    ``InvalidID``, a ``ValueError``, for any other text. ``order`` is theirs, if it is known.
    """
    if per_page < 1:
        raise ValueError(f"per_page is {per_page}: expected 1 or more")
    order = order or id_order(rows)
    if order is None or rows._fields is not None:  # type: ignore[attr-defined]
        raise ValueError(
            f"{rows.model._meta.label}: expected instances in the order of a unique id"
        )
    backwards = before is not None
    position = before if backwards else after
    selected = rows.reverse() if backwards else rows.all()
    if position:
        sign = "lt" if order.descending != backwards else "gt"
        value = read_signed(order.field, position)
        selected = selected.filter(**{f"{order.path}__{sign}": value})
    page = list(selected[: per_page + 1])
    has_more, page = len(page) > per_page, page[:per_page]
    has_previous, has_next = bool(position), has_more
    if backwards:
        page.reverse()
        has_previous, has_next = has_next, has_previous
    # Where all rows of the page are gone, its neighbours are the last page and the first one.
    ends = (order.text(page[0]), order.text(page[-1])) if page else ("", "")
    return KeysetPage(
        rows=with_rows(selected[:per_page], page),
        previous=ends[0] if has_previous else None,
        next=ends[1] if has_next else None,
    )


def with_rows(query: QuerySet[Any], rows: list[Any]) -> QuerySet[Any]:
    """The query as if it had run and found these rows."""
    done: Any = query._chain()  # type: ignore[attr-defined]
    done._result_cache = rows
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


def read_signed(field: SortableIDField, signed_text: str) -> ID:
    """The value of a text from ``signed``; ``InvalidID`` for anything else.

    The signature identifies the key that masked the text: even with several, there is one value.
    """
    if not field.masked:
        return field.public_text.candidates(signed_text)[0]
    text, _, signature = signed_text.rpartition(".")
    for key in conf.mask_keys():
        if constant_time_compare(signature, _signature(field, text, key)):
            return field.public_text.parse_with(text, key)
    raise InvalidID("invalid signature: the text is of another column or key, or forged")


def _signature(field: SortableIDField, text: str, key: MaskKey) -> str:
    secret = f"{key.k0:016x}{key.k1:016x}"
    digest = salted_hmac(_SALT, f"{field} {text}", secret=secret, algorithm="sha256")
    return digest.hexdigest()[:_DIGITS]
