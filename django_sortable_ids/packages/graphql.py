"""What the two packages of GraphQL have in common."""

import inspect
from typing import Any

from ..fields import SortableIDField


def shown(field: SortableIDField | None, value: Any) -> Any:
    """The public text of a value of that field; the value itself without a field.

    Asynchronous resolvers return an awaitable instead of a value, and so does this function then.
    """
    if field is None:
        return value
    return _awaited(field, value) if inspect.isawaitable(value) else field.public_text.shown(value)


async def _awaited(field: SortableIDField, value: Any) -> Any:
    return field.public_text.shown(await value)
