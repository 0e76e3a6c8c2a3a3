"""Pages of large tables, for the admin, for views and for Django REST framework.

``SortableIDPaginator`` does not count every row. ``keyset_page`` does not skip the rows of the
pages before: it begins after an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.paginator import EmptyPage, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

from .paging.counting import Count, count
from .paging.keyset import KeysetPage, keyset_page, with_rows

if TYPE_CHECKING:
    from django.core.paginator import Page

    BasePaginator = Paginator[Any]
else:
    BasePaginator = Paginator

__all__ = ["Count", "KeysetPage", "SortableIDPaginator", "keyset_page"]


class _LastPage(int):
    """The number that a paginator has for its last page, which may be another one."""


class SortableIDPaginator(BasePaginator):
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
        """The number of pages, as far as it is known."""
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
        every: QuerySet[Any] = self.object_list.all()  # type: ignore[attr-defined]
        bottom, most = (valid - 1) * self.per_page, self.per_page + self.orphans
        found = list(every[bottom : bottom + most + 1])
        if len(found) <= most:  # The estimate was too high.
            self._set_count(bottom + len(found) if found else every.count())
            return super().page(valid)
        rows = with_rows(every[bottom : bottom + self.per_page], found[: self.per_page])
        page: Page[Any] = self._get_page(rows, valid, self)  # type: ignore[attr-defined]
        return page

    def _set_count(self, exact: int) -> None:
        self.__dict__["count"] = Count(exact)
        self.__dict__.pop("num_pages", None)
