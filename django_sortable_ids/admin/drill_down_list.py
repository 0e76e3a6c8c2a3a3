"""Django's change list, within the place of the drill-down that the URL names."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.functional import cached_property

from ..histograms.columns import timed_column
from .drill_down import DrillDown, drill_down
from .places import Place, path_to

if TYPE_CHECKING:
    Base = ChangeList
else:
    Base = object


class Link(NamedTuple):
    """Where a bar or a step of the path leads to, and what is shown there."""

    url: str
    shown: Any


class DrillDownMixin(Base):
    """Filters the list by the place in the URL, as Django does for ``date_hierarchy``."""

    model_admin: Any
    rows_of_all_places: Any

    @property
    def place_name(self) -> str:
        """The name of the parameter in the URL."""
        return f"{self.model_admin.created_at_hierarchy}__created_at__within"

    @cached_property
    def chosen(self) -> list[Place]:
        """The place in the URL, after those that contain it; empty without one."""
        text = self.params.get(self.place_name)
        try:
            return path_to(text) if text else []
        except ValueError as error:
            raise IncorrectLookupParameters(error) from error

    def get_filters_params(self, params: Any = None) -> Any:
        found = super().get_filters_params(params)
        found.pop(self.place_name, None)
        return found

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        rows = super().get_queryset(request, exclude_parameters)
        if exclude_parameters is None:
            self.rows_of_all_places = rows
        if not self.chosen:
            return rows
        start, end = self.chosen[-1].span
        path = timed_column(self.model, self.model_admin.created_at_hierarchy).path
        within = {f"{path}__created_at__gte": start, f"{path}__created_at__lt": end}
        return rows.filter(**within)

    @cached_property
    def drill_down(self) -> DrillDown | None:
        """The level that the template draws."""
        column = timed_column(self.model, self.model_admin.created_at_hierarchy)
        seconds = self.model_admin.created_at_hierarchy_seconds
        return drill_down(self.rows_of_all_places, column, self.chosen, seconds)

    @property
    def path_links(self) -> list[Link]:
        """From all rows to the place that the bars show, whose link is empty."""
        if self.drill_down is None:
            return []
        links = [Link(self._url(step.place), step) for step in self.drill_down.path]
        return [*links[:-1], Link("", links[-1].shown)]

    @property
    def bar_links(self) -> list[Link]:
        """The bars; the link of one without rows is empty."""
        if self.drill_down is None:
            return []
        return [
            Link("" if bar.is_empty else self._url(bar.place), bar) for bar in self.drill_down.bars
        ]

    def _url(self, place: str | None) -> str:
        return self.get_query_string({self.place_name: place})


@cache
def with_drill_down(change_list: Any) -> type[ChangeList]:
    """That class with the drill-down; always the same one."""
    return type(change_list.__name__, (DrillDownMixin, change_list), {})
