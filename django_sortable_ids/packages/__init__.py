"""Other packages: each module makes one of them use ids as its own kinds of values do.

A module is imported only if the project has its package among ``INSTALLED_APPS``.
"""

from collections.abc import Callable, Iterable
from importlib import import_module

_AT_START = ("graphene_django", "guardian", "ninja", "strawberry_django")
"""Apps that ``register`` is for; the module here has the same name."""
_BEFORE_ADMIN = ("import_export",)
"""Apps whose classes read the models when they are defined, in ``admin.py``."""


def register(is_installed: Callable[[str], bool]) -> None:
    """Make the installed packages use ids; called once, when the app is ready."""
    _register(_AT_START, is_installed)


def register_before_admin(is_installed: Callable[[str], bool]) -> None:
    """The same for those that must know earlier; called once, before any app is ready."""
    _register(_BEFORE_ADMIN, is_installed)


def _register(apps: Iterable[str], is_installed: Callable[[str], bool]) -> None:
    for app in filter(is_installed, apps):
        import_module(f"{__name__}.{app}").register()
