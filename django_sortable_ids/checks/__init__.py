"""System checks: they report what would otherwise go wrong later, without an error.

``manage.py check`` checks the models, ``check --deploy`` also the worker numbers, and
``check --database default`` and ``migrate`` the columns and the server.
"""

from django.core.checks import Tags
from django.core.checks import register as register_check

from ..deferred import deferred

TAG = "sortable_ids"
_CHECKS = (
    ("definitions:check_definitions", Tags.models),
    ("definitions:check_masks", Tags.models),
    ("views:check_url_patterns", Tags.urls),
    ("views:check_views", Tags.urls),
    ("databases:check_databases", Tags.database),
)


def register() -> None:
    """Register the checks with Django; called once, when the app is ready."""
    for path, tag in _CHECKS:
        register_check(deferred(f"checks.{path}"), TAG, tag)
    register_check(deferred("checks.definitions:check_workers"), TAG, deploy=True)
