"""What is registered by name when Django starts, and imported when it is needed.

A process that starts imports no backfill, admin page, serializer or lookup that it doesn't use.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def deferred(path: str) -> Callable[..., Any]:
    """The function ``"module:name"`` of this package, imported at its first call."""
    module, _, name = path.partition(":")

    @cache
    def function() -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), name)
        return found

    def call(*args: Any, **kwargs: Any) -> Any:
        return function()(*args, **kwargs)

    call.__qualname__ = path
    return call


def when_imported(module: str, function: Callable[[], Any]) -> None:
    """Call the function once after the module is imported; now if that has happened already."""
    if module in sys.modules:
        function()
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.waiting.setdefault(module, []).append(function)


class _Finder(MetaPathFinder):
    """Finds the modules that somebody waits for, as the other finders do."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[], Any]]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.waiting:
            return None
        others = (each for each in sys.meta_path if each is not self)
        found = (each.find_spec(fullname, path, target) for each in others)
        spec = next(filter(None, found), None)
        loader: Any = spec and spec.loader
        if loader is not None:
            execute = loader.exec_module

            def execute_and_call(module: ModuleType) -> None:
                execute(module)
                # A loader of an archive serves its other modules, too.
                for function in self.waiting.pop(module.__name__, ()):
                    function()

            loader.exec_module = execute_and_call
        return spec


_finder = _Finder()
