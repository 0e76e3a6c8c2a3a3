"""Other packages: each module makes one of them use ids as its own kinds of values do.

A module is imported, and its ``register()`` called once, when the project imports its package.
"""

import inspect
import warnings
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..deferred import when_imported

if TYPE_CHECKING:
    from ..fields import SortableIDField

_PACKAGES = (
    "drf_writable_nested.mixins",
    "graphene_django",
    "guardian.shortcuts",
    "model_bakery.generators",
    "ninja.orm",
    "rest_framework_json_api.renderers",
    "rest_framework_nested.relations",
    "strawberry_django",
    "taggit.managers",
    "tree_queries.compiler",
)
"""What is imported of each package by whoever uses it; the module here has the package's name."""


def register() -> None:
    """Make packages use ids when they are imported; called once, when the app is ready."""
    for module in _PACKAGES:
        when_imported(module, partial(_register, module.partition(".")[0]))


def register_before_admin() -> None:
    """The same for what reads the models in ``admin.py``; called once, before any app is ready."""
    when_imported("import_export.resources", partial(_register, "import_export"))


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
