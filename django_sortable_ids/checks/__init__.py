"""System checks: they report what would otherwise go wrong later, without an error.

``manage.py check`` checks the models, ``check --deploy`` also the worker numbers, and
``check --database default`` and ``migrate`` the columns and the server.
"""

from django.core.checks import Tags
from django.core.checks import register as register_check

from . import databases, definitions, masks, packages, url_patterns

TAG = "sortable_ids"


def register() -> None:
    """Register the checks with Django; called once, when the app is ready."""
    register_check(definitions.check_definitions, TAG, Tags.models)
    register_check(masks.check_masks, TAG, Tags.models)
    register_check(masks.check_views, TAG, Tags.urls)
    register_check(packages.check_packages, TAG, Tags.urls)
    register_check(url_patterns.check_url_patterns, TAG, Tags.urls)
    register_check(definitions.check_workers, TAG, deploy=True)
    register_check(databases.check_databases, TAG, Tags.database)
