"""Pages of large tables, for the admin, for views and for Django REST framework.

``SortableIDPaginator`` does not count every row. ``keyset_page`` does not skip the rows of the
pages before: it begins after an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django.core.paginator import EmptyPage, Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

from .paging.count import Count
from .paging.counting import count
from .paging.keyset import KeysetPage, keyset_page, with_rows

if TYPE_CHECKING:
    from django.core.paginator import Page

    BasePaginator = Paginator[Any]
else:
    BasePaginator = Paginator

__all__ = ["Count", "KeysetPage", "SortableIDPaginator", "keyset_page"]

_LAST_OFFSET = 2**63 - 1


class _LastPage(int):
    """The number that a paginator has for its last page, which may be another one."""


class SortableIDPaginator(BasePaginator):
    """A ``Paginator`` that does not count every row of a large table.

    ``count`` is a ``Count``: exact up to ``exact_up_to`` rows. Above that it is the estimate of
    PostgreSQL, MariaDB or MySQL, or a minimum where they have none, and on SQLite. Then the last
    page is not known: ``page()`` also returns pages after ``num_pages`` if they have rows, and
    raises ``EmptyPage`` for pages before it if they have none. Whether a page is the last one is
    always right. It makes the count exact, and so do ``page(num_pages)`` and a page without rows,
    which count all rows.
    """

    exact_up_to: int = 10_000
    """The number of rows up to which the count is exact."""

    @cached_property
    def count(self) -> Count:
        """The number of rows."""
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
            if self.count.is_exact or not 1 <= int(number) <= _LAST_OFFSET // self.per_page - 1:
                raise
            return int(number)

    def get_page(self, number: Any) -> Page[Any]:
        try:
            return super().get_page(number)
        except EmptyPage:
            return self.page(self.num_pages)

    def page(self, number: Any) -> Page[Any]:
        if isinstance(number, _LastPage) and not self.count.is_exact:
            number = self._count_all().num_pages
        if self.count.is_exact:
            return super().page(number)
        number = self.validate_number(number)
        every: QuerySet[Any] = self.object_list.all()  # type: ignore[attr-defined]
        bottom = (number - 1) * self.per_page
        most = self.per_page + self.orphans
        found = list(every[bottom : bottom + most + 1])
        if not found:
            return self._count_all().page(number)
        if len(found) <= most:
            self._set_count(Count(bottom + len(found)))
        else:
            found = found[: self.per_page]
            self._expect(bottom + most + 1)
        rows = with_rows(every[bottom : bottom + len(found)], found)
        page: Page[Any] = self._get_page(rows, number, self)  # type: ignore[attr-defined]
        return page

    def _count_all(self) -> Self:
        self._set_count(Count(self.object_list.count()))  # type: ignore[attr-defined]
        return self

    def _expect(self, rows: int) -> None:
        """There are at least so many rows."""
        if self.count < rows:
            self._set_count(Count(rows, "minimum"))

    def _set_count(self, known: Count) -> None:
        self.__dict__["count"] = known
        self.__dict__.pop("num_pages", None)
