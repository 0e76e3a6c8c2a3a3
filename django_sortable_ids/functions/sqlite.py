"""A function that SQLite has from version 3.41, for those before."""

from typing import Any

from django.db.backends.signals import connection_created


def register() -> None:
    """Add it to every connection to come; called once, when the app is ready."""
    connection_created.connect(_add_unhex, dispatch_uid="django_sortable_ids.functions.sqlite")


def _add_unhex(sender: Any, connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite" and connection.Database.sqlite_version_info < (3, 41):
        connection.connection.create_function("unhex", 1, _unhex, deterministic=True)


def _unhex(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)
