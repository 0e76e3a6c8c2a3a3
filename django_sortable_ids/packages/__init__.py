"""Other packages: each module makes one of them use ids as its own kinds of values do.

A module is imported only if the project uses its package.
"""

import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec

_AT_START = ("graphene_django", "guardian", "ninja", "strawberry_django", "taggit")
"""Apps that ``register`` is for; the module here has the same name."""
_BEFORE_ADMIN = ("import_export",)
"""Apps whose classes read the models when they are defined, in ``admin.py``."""
_FOR_TESTS = ("model_bakery",)
"""Packages that are no apps, and installed where tests run: imported in a millisecond."""
_FOR_REST = ("drf_writable_nested", "rest_framework_json_api")
"""Packages for Django REST framework that need not be apps, and need the content types."""


def register(is_installed: Callable[[str], bool]) -> None:
    """Make the installed packages use ids; called once, when the app is ready."""
    _register(filter(is_installed, _AT_START))
    _register(filter(find_spec, _FOR_TESTS))
    if is_installed("rest_framework") and is_installed("django.contrib.contenttypes"):
        _register(filter(find_spec, _FOR_REST))


def register_before_admin(is_installed: Callable[[str], bool]) -> None:
    """The same for those that must know earlier; called once, before any app is ready."""
    _register(filter(is_installed, _BEFORE_ADMIN))


def _register(packages: Iterable[str]) -> None:
    for package in packages:
        try:
            import_module(f"{__name__}.{package}").register()
        except (AttributeError, ImportError) as error:
            warnings.warn(
                f"django_sortable_ids doesn't know this release of {package}, which may show other "
                f"texts of ids, or fail to find them: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
