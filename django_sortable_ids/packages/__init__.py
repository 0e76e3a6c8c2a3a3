"""Other packages: each module makes one of them use ids as its own kinds of values do.

A module is imported only if the project has its package among ``INSTALLED_APPS``.
"""

from collections.abc import Callable
from importlib import import_module

_MODULES = {
    "guardian": "guardian",
    "ninja": "ninja",
}
"""The module here for the name of an app."""


def register(is_installed: Callable[[str], bool]) -> None:
    """Make the installed packages use ids; called once, when the app is ready."""
    for app, module in _MODULES.items():
        if is_installed(app):
            import_module(f"{__name__}.{module}").register()
