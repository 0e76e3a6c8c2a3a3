"""Other packages: functions that make each of them use ids as its own kinds of values.

A function has the name of its package. ``_PACKAGES`` of ``apps`` says which module of the package
it gets: it is called once, when the project imports that module.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..fields import SortableIDField


def replace(*replaced: tuple[Any, str, Callable[..., Any]]) -> None:
    """Replace functions of modules and methods of classes, each by one that gets the usual one as
    its first argument. All exist, or none is replaced; what is ours already stays."""
    usual = [getattr(owner, name) for owner, name, _ours in replaced]
    for (owner, name, ours), theirs in zip(replaced, usual, strict=True):
        if getattr(theirs, "replaced_by", None) is ours:
            continue
        is_classmethod = inspect.ismethod(theirs)
        call = _called_with(theirs.__func__ if is_classmethod else theirs, ours)
        setattr(owner, name, classmethod(call) if is_classmethod else call)


def _called_with(usual: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(usual)
    def call(*args: Any, **kwargs: Any) -> Any:
        return ours(usual, *args, **kwargs)

    call.replaced_by = ours  # type: ignore[attr-defined]
    return call


def shown(field: "SortableIDField | None", value: Any) -> Any:
    """The public text of a value of that field; the value itself without a field.

    Asynchronous resolvers of GraphQL return an awaitable, and so does this function then.
    """
    if field is None:
        return value
    return _awaited(field, value) if inspect.isawaitable(value) else field.shown(value)


async def _awaited(field: "SortableIDField", value: Any) -> Any:
    return field.shown(await value)
