"""Other packages: each module makes one of them use ids as its own kinds of values do.

A module is imported only if the project uses its package.
"""

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..deferred import when_imported

if TYPE_CHECKING:
    from ..fields import SortableIDField

_AT_START = ("graphene_django", "guardian", "ninja", "strawberry_django", "taggit")
"""Apps that ``register`` is for; the module here has the same name."""
_BEFORE_ADMIN = ("import_export",)
"""Apps whose classes read the models when they are defined, in ``admin.py``."""
_WHEN_IMPORTED = (
    "drf_writable_nested.mixins",
    "model_bakery.generators",
    "rest_framework_json_api.renderers",
    "rest_framework_nested.relations",
    "tree_queries.compiler",
)
"""The modules to adapt of packages that need not be apps."""


def register(is_installed: Callable[[str], bool]) -> None:
    """Make the installed packages use ids; called once, when the app is ready."""
    for package in filter(is_installed, _AT_START):
        _register(package)
    for module in _WHEN_IMPORTED:
        when_imported(module, partial(_register, module.partition(".")[0]))


def register_before_admin(is_installed: Callable[[str], bool]) -> None:
    """The same for those that must know earlier; called once, before any app is ready."""
    for package in filter(is_installed, _BEFORE_ADMIN):
        _register(package)


def _register(package: str) -> None:
    try:
        import_module(f"{__name__}.{package}").register()
    except (AttributeError, ImportError) as error:
        warnings.warn(
            f"django_sortable_ids doesn't know this release of {package}, which may show other "
            f"texts of ids, or fail to find them: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


def shown(field: "SortableIDField | None", value: Any) -> Any:
    """The public text of a value of that field; the value itself without a field.

    Asynchronous resolvers of GraphQL return an awaitable, and so does this function then.
    """
    if field is None:
        return value
    return _awaited(field, value) if inspect.isawaitable(value) else field.public_text.shown(value)


async def _awaited(field: "SortableIDField", value: Any) -> Any:
    return field.public_text.shown(await value)
