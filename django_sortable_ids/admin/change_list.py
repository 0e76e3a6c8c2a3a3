"""The admin's list of a large table: a capped count, pages after an id, and the drill-down."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from ..histograms.counting import timed_column
from ..pagination import id_order, keyset_page
from ..schemes import InvalidID
from .drill_down import CalendarPeriod, DrillDown, drill_down, path_to

AFTER_VAR = "_after"
BEFORE_VAR = "_before"


class SortableIDChangeList(ChangeList):
    """A ``ChangeList`` with links to the next and the previous page where rows are in the order of
    a unique id. They carry the id of a row, so no page costs more than the first one, and rows
    that are inserted or deleted move no other row to another page.

    With ``created_at_hierarchy``, the list is filtered by the period in the URL, as Django does for
    ``date_hierarchy``.
    """

    model_admin: Any
    page_links: dict[str, str] | None = None
    """The query strings of the pages ``first``, ``previous``, ``next`` and ``last``, if there are
    such; ``count`` is how many rows there are, where Django's text of the number doesn't say that
    it is inexact."""
    rows_of_all_times: QuerySet[Any]

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        # Nothing else that is chosen in the list keeps the page.
        return super().get_query_string(new_params, [AFTER_VAR, BEFORE_VAR, *(remove or [])])

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: Any = None
    ) -> QuerySet[Any, Any]:
        for name in (AFTER_VAR, BEFORE_VAR):
            self.params.pop(name, None)
            self.filter_params.pop(name, None)
        rows = super().get_queryset(request, exclude_parameters)
        if exclude_parameters is None:
            self.rows_of_all_times = rows
        if not self.chosen:
            return rows
        start, end = self.chosen[-1].span
        path = self._hierarchy.path
        return rows.filter(**{f"{path}__created_at__gte": start, f"{path}__created_at__lt": end})

    def get_filters_params(self, params: Any = None) -> Any:
        filters = super().get_filters_params(params)
        filters.pop(self._period_name, None)
        return filters

    @cached_property
    def _hierarchy(self) -> Any:
        path = self.model_admin.created_at_hierarchy
        return path and timed_column(self.model, path)

    @property
    def _period_name(self) -> Any:
        return self._hierarchy and f"{self._hierarchy.path}__created_at__within"

    @cached_property
    def chosen(self) -> list[CalendarPeriod]:
        """The period in the URL, after those that contain it; empty without one."""
        text = self.params.get(self._period_name)
        try:
            return path_to(text) if text else []
        except ValueError as error:
            raise IncorrectLookupParameters(error) from error

    @cached_property
    def drill_down(self) -> DrillDown | None:
        if not self._hierarchy:
            return None
        return drill_down(
            self.rows_of_all_times,
            self._hierarchy,
            self.chosen,
            self.model_admin.created_at_hierarchy_seconds,
            lambda period: self.get_query_string({self._period_name: period}),
        )

    def get_results(self, request: HttpRequest) -> None:
        usual: Any = super().get_results
        if usual.__func__ is not ChangeList.get_results:  # a class that makes the pages by itself
            usual(request)
            return
        paginator: Any = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)
        self.paginator = paginator
        is_exact = getattr(paginator.count, "is_exact", True)
        self.can_show_all = is_exact and paginator.count <= self.list_max_show_all
        self.multi_page = paginator.count > self.list_per_page
        if self.multi_page and not (self.show_all and self.can_show_all):
            self.result_list = self._page(request)
        else:
            self.result_list = self.queryset.all()
        self.result_count = paginator.count
        self.show_full_result_count = self.model_admin.show_full_result_count
        self.full_result_count = self.result_count if self.show_full_result_count else None
        is_part = self.queryset.query.where != self.root_queryset.query.where
        if self.show_full_result_count and is_part:
            rows = self.root_queryset.order_by("pk")
            whole: Any = self.model_admin.get_paginator(request, rows, self.list_per_page)
            self.full_result_count = whole.count
        self.show_admin_actions = not self.show_full_result_count or bool(self.full_result_count)

    def _page(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows of the page. Also sets ``page_num`` and, in the order of an id, the links."""
        order = id_order(self.queryset)
        cursors = request.GET.keys() & {AFTER_VAR, BEFORE_VAR}
        if order is None or not cursors:
            numbered = self.paginator.get_page(self.page_num)
            self.page_num = numbered.number
            rows: QuerySet[Any] = numbered.object_list
            if order is not None and rows:
                self._link(
                    order.text(rows[0]) if numbered.has_previous() else None,
                    order.text(list(rows)[-1]) if numbered.has_next() else None,
                )
            return rows
        try:
            page = keyset_page(
                self.queryset,
                self.list_per_page,
                after=request.GET.get(AFTER_VAR),
                before=request.GET.get(BEFORE_VAR),
                order=order,
            )
        except InvalidID as error:
            raise IncorrectLookupParameters(error) from error
        # Rows may have been inserted or deleted since that page had this number.
        self.page_num = min(max(self.page_num, 1), self.paginator.num_pages)
        self._link(page.previous, page.next)
        return page.rows

    def _link(self, previous: str | None, following: str | None) -> None:
        """Set the links: the ids that the neighbours end before and begin after."""
        page, last, count = self.page_num, self.paginator.num_pages, self.paginator.count
        is_obvious = getattr(count, "is_exact", True) or str(count) == count.text
        links = self.page_links = {"count": "" if is_obvious else count.text}
        if previous is not None:
            of_previous = {BEFORE_VAR: previous, PAGE_VAR: max(page - 1, 1)}
            links["first"] = self.get_query_string()
            links["previous"] = self.get_query_string(of_previous)
        if following is not None:
            of_next = {AFTER_VAR: following, PAGE_VAR: page + 1}
            links["next"] = self.get_query_string(of_next)
            links["last"] = self.get_query_string({BEFORE_VAR: "", PAGE_VAR: last})


@cache
def with_ids(change_list: Any) -> type[ChangeList]:
    """That class with pages after an id and the drill-down; always the same one."""
    if change_list is ChangeList:
        return SortableIDChangeList
    return type(change_list.__name__, (SortableIDChangeList, change_list), {})
