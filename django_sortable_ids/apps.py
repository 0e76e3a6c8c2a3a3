"""The app configuration: it registers the parts of the package by name, and imports few of them.

Start-up imports only the parts that the project uses.
"""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, partialmethod
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Tags
from django.core.checks import register as register_check
from django.core.signals import request_started
from django.db.backends.signals import connection_created
from django.db.models import Aggregate, Case, ExpressionWrapper, Func, Max, Min, Transform, Window
from django.db.models.expressions import Subquery
from django.db.models.functions import Cast, Coalesce, Collate, Greatest, Least, NullIf, json, text
from django.db.models.signals import pre_migrate
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLUpdateCompiler
from django.forms import ModelChoiceField
from django.utils.module_loading import import_string
from django.utils.translation import pgettext_lazy

_TAG = "sortable_ids"
_CHECKS = (
    ("checks.definitions:check_definitions", Tags.models),
    ("checks.definitions:check_masks", Tags.models),
    ("checks.views:check_views", Tags.urls),
    ("checks.databases:check_databases", Tags.database),
)
_PACKAGES = {
    "drf_writable_nested.mixins": "packages.rest:drf_writable_nested",
    "graphene_django": "packages.graphql:graphene_django",
    "guardian.shortcuts": "packages.orm:guardian",
    "model_bakery.generators": "packages.orm:model_bakery",
    "ninja.orm": "packages.pydantic:ninja",
    "rest_framework_json_api.renderers": "packages.rest:rest_framework_json_api",
    "rest_framework_nested.relations": "packages.rest:rest_framework_nested",
    "strawberry_django": "packages.graphql:strawberry_django",
    "taggit.managers": "packages.orm:taggit",
    "tree_queries.compiler": "packages.orm:tree_queries",
}
"""Modules of other packages that whoever uses these imports, and what makes each use ids."""
_READS_MODELS = {"import_export.resources": "packages.import_export:import_export"}
"""The same for what reads the models in ``admin.py``, before any app is ready."""


@cache
def deferred(path: str) -> Callable[..., Any]:
    """The function ``"module:name"`` of this package, imported at its first call. It is always the
    same one: Django calls ``ready()`` again when a test changes ``INSTALLED_APPS``."""
    module, _, name = path.partition(":")

    @cache
    def function() -> Any:
        return getattr(import_module(f"{__package__}.{module}"), name)

    def call(*args: Any, **kwargs: Any) -> Any:
        return function()(*args, **kwargs)

    call.__qualname__ = path
    return call


class SortableIDsConfig(AppConfig):
    name = "django_sortable_ids"
    verbose_name = pgettext_lazy("sortable ids", "Sortable ids")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        super().import_models()
        _adapt_packages(_READS_MODELS)

    def ready(self) -> None:
        for path, tag in _CHECKS:
            register_check(deferred(path), _TAG, tag)
        register_check(deferred("checks.definitions:check_workers"), _TAG, deploy=True)
        pre_migrate.connect(
            deferred("migrating.guard:check_migrations"), self, weak=False, dispatch_uid=self.name
        )
        connection_created.connect(_add_functions, dispatch_uid=self.name)
        when_imported("django_sortable_ids.fields", self._register_fields)
        with suppress(ImportError):
            # Otherwise the table of migrations may be the first that asks for it, and has its key.
            import_string(settings.DEFAULT_AUTO_FIELD)
        if self.apps and self.apps.is_installed("django.contrib.admin"):
            from django.contrib.admin import site

            from .admin import register_own_models

            # Not when the module is imported: the default site's own module may import it.
            register_own_models(site)
            register_check(deferred("admin.model_admin:check_admins"), _TAG, Tags.admin)
        when_imported("rest_framework.serializers", deferred("rest_framework.fields:register"))
        when_imported("drf_spectacular.openapi", deferred("rest_framework.views:hide_docstrings"))
        when_imported("django_filters", lambda: import_module("django_sortable_ids.filters"))
        _adapt_packages(_PACKAGES)

    def _register_fields(self) -> None:
        """What a project needs that has sortable ids."""
        import_module("django_sortable_ids.lookups")  # registers them
        request_started.connect(
            deferred("workers:before_request"), weak=False, dispatch_uid=self.name
        )
        _adapt_functions()
        models = self.apps.get_models(include_auto_created=True) if self.apps else []
        fields = (field for model in models for field in model._meta.local_fields)
        if any(getattr(field, "masked", False) for field in fields):
            deferred("forms:register")()


# Other packages, and what is only registered once they are imported


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
        # Python passes over an old finder that lacks it.
        finders = (getattr(hook, "find_spec", None) for hook in sys.meta_path if hook is not self)
        specs = (find(fullname, path, target) for find in finders if find)
        spec = next(filter(None, specs), None)
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


def _adapt_packages(packages: Mapping[str, str]) -> None:
    for module, path in packages.items():
        when_imported(module, partial(_adapt_package, module, path))


def _adapt_package(module: str, path: str) -> None:
    try:
        deferred(path)(sys.modules[module])
    except (AttributeError, ImportError) as error:
        warnings.warn(
            f"django_sortable_ids doesn't know this release of {module.partition('.')[0]}, which "
            f"may show other texts of ids, or fail to find them: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


# Django's expressions


@cache
def _adapt_functions() -> None:
    """Let Django's functions see the text of an id; once, however often ``ready()`` is called.

    A method ``as_<vendor>`` is how Django's documentation adapts expressions to a database.
    """
    aggregate_sql: Any = deferred("functions.created_at:as_postgresql")
    Min.as_postgresql = Max.as_postgresql = aggregate_sql  # type: ignore[attr-defined]
    window_sql: Any = deferred("functions.created_at:window_as_postgresql")
    Window.as_postgresql = window_sql  # type: ignore[attr-defined]
    of_any = (Cast, Coalesce, Greatest, Least, NullIf, Case, ExpressionWrapper, Aggregate)
    defined = [*vars(text).values(), *vars(json).values(), Collate]
    functions = {cls for cls in defined if isinstance(cls, type) and issubclass(cls, Func)}
    kinds = [(cls, "text") for cls in functions - {Func, Transform, *of_any}]
    kinds += [(cls, "any") for cls in (*of_any, *Aggregate.__subclasses__())]
    subquery_sql = deferred("functions.expressions:subquery_as_vendor")
    of_query: Any = Query.output_field
    of_query = partial(deferred("functions.expressions:field_of_query"), of_query.fget)
    Query.output_field = property(of_query)  # type: ignore[method-assign,assignment]
    for name in ("as_sqlite", "as_postgresql", "as_mysql"):
        setattr(Subquery, name, subquery_sql)
        setattr(Query, name, subquery_sql)
        for function, kind in [*kinds, (Func, "unknown")]:
            usual = getattr(function, name, lambda it, *args, **extra: it.as_sql(*args, **extra))
            ours = partialmethod(deferred("functions.expressions:as_vendor"), usual, kind)
            setattr(function, name, ours)
    of_choices: Any = partialmethod(deferred("forms:prepare_value"), ModelChoiceField.prepare_value)
    ModelChoiceField.prepare_value = of_choices  # type: ignore[method-assign]
    update_sql: Any = partialmethod(_update_as_sql, SQLUpdateCompiler.as_sql)
    SQLUpdateCompiler.as_sql = update_sql  # type: ignore[method-assign]


def _update_as_sql(compiler: Any, usual: Any) -> Any:
    if any(hasattr(value, "as_sql") for _, _, value in compiler.query.values):
        return deferred("functions.expressions:update_as_vendor")(compiler, usual)
    return usual(compiler)


def _add_functions(sender: Any, connection: Any, **_: Any) -> None:
    """Add functions to connections to SQLite. ``unhex()`` is built in from SQLite 3.41."""
    if connection.vendor != "sqlite":
        return
    create = connection.connection.create_function
    digits_of_hex = deferred("functions.texts:digits_of_hex")
    create("sortable_id_digits", 4, digits_of_hex, deterministic=True)
    if connection.Database.sqlite_version_info < (3, 41):
        create("unhex", 1, lambda x: x if x is None else bytes.fromhex(x), deterministic=True)
