"""System checks: what would go wrong later, without an error where it happens.

``manage.py check`` looks at the models, ``check --deploy`` at worker numbers too, and
``check --database default`` and ``migrate`` at the columns and the server.
"""

from django.core.checks import Tags
from django.core.checks import register as register_check

from . import databases, definitions, masks

TAG = "sortable_ids"


def register() -> None:
    """Have Django run them; called once, when the app is ready."""
    register_check(definitions.check_definitions, TAG, Tags.models)
    register_check(masks.check_masks, TAG, Tags.models)
    register_check(masks.check_views, TAG, Tags.urls)
    register_check(definitions.check_workers, TAG, deploy=True)
    register_check(databases.check_databases, TAG, Tags.database)
