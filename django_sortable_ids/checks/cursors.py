"""Masked ids in the cursors of DRF's own pagination, as far as a view's class shows them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..fields import SortableIDField
from ..fields.of_model import id_at


def field_in_cursors(view: Any) -> SortableIDField | None:
    """The masked id that DRF's own cursors show in a view's list; None if they show none."""
    pagination = sys.modules.get("rest_framework.pagination")
    paginator = getattr(view, "pagination_class", None)
    model = _model_of(view)
    if pagination is None or not isinstance(paginator, type) or model is None:
        return None
    from ..rest_framework import SortableIDCursorPagination

    if not issubclass(paginator, pagination.CursorPagination) or issubclass(
        paginator, SortableIDCursorPagination
    ):
        return None
    for name in _orderings(view, paginator, model):
        field = id_at(model, name.lstrip("-"))
        if field is not None and field.masked:
            return field
    return None


def _model_of(view: Any) -> Any:
    """The model of the queryset, or, if a method returns the queryset, of the serializer."""
    queryset = getattr(view, "queryset", None)
    if queryset is not None:
        return getattr(queryset, "model", None)
    return getattr(_meta_of(view), "model", None)


def _meta_of(view: Any) -> Any:
    return getattr(getattr(view, "serializer_class", None), "Meta", None)


def _orderings(view: Any, paginator: Any, model: Any) -> Iterator[str]:
    """Columns that the cursors may contain: DRF uses the first column of an ordering."""
    backends = getattr(view, "filter_backends", None) or ()
    sorting = [each for each in backends if hasattr(each, "get_ordering")][:1]
    defaults = [getattr(view, "ordering", None) for _ in sorting]
    yield from _first(next(filter(None, defaults), None) or getattr(paginator, "ordering", None))
    for backend in sorting:
        allowed = getattr(view, "ordering_fields", getattr(backend, "ordering_fields", None))
        yield from _names(_serialized(view) if allowed is None else allowed, model)


def _first(ordering: Any) -> Iterable[str]:
    return [ordering] if isinstance(ordering, str) else list(ordering or ())[:1]


def _serialized(view: Any) -> Any:
    """The columns of the serializer: a request may order by these, unless the view restricts it."""
    meta = _meta_of(view)
    return getattr(meta, "fields", None) or ("__all__" if hasattr(meta, "exclude") else ())


def _names(allowed: Any, model: Any) -> Iterable[str]:
    if isinstance(allowed, str):
        return [field.name for field in model._meta.fields]
    return [each if isinstance(each, str) else each[0] for each in allowed]
