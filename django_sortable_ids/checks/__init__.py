"""System checks: they report what would otherwise go wrong later, without an error.

``manage.py check`` checks models, URLs and admins, ``check --deploy`` also the worker numbers, and
``check --database default`` and ``migrate`` the columns and the server. These are the messages by
their number: what was found, its consequence, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Warning

from ..errors import see


def message(number: str, obj: Any = None, **given: Any) -> CheckMessage:
    """The message with that number, an error for E and a warning for W; ``given`` fills it."""
    found, hint = TEXTS[number]
    level = Error if number.startswith("E") else Warning
    hint = f"{hint.format(**given)} {see(number)}"
    return level(found.format(**given), hint=hint, obj=obj, id=f"sortable_ids.{number}")


TEXTS: Mapping[str, tuple[str, str]] = {
    # Models and settings
    "E001": (
        "The prefix {prefix!r} is also used by {others}: an id with it does not identify its "
        "model.",
        "Give each field a different prefix.",
    ),
    "E002": (
        "{relation} joins {key} with {column}, a {kind} that holds such ids in another form, or "
        "not all of them: the database finds no rows, finds rows of other ids, or refuses to "
        "compare the columns.",
        "{fix}.",
    ),
    "E003": (
        "The configuration is invalid: {reason}.",
        "Correct it in the settings or the environment.",
    ),
    "W001": (
        "The id has no unique constraint: two rows may have the same id, and no index finds a row "
        "by its id.",
        "{fix}",
    ),
    "W002": (
        "The database generates this key (db_default). Before Django 6.1, bulk_create() returns "
        "instances without it.",
        "Leave out db_default, so that Python generates the key; or update Django.",
    ),
    "W003": (
        "The ids contain a worker number, but SORTABLE_IDS['WORKER'] is not set. The number is "
        "random: two processes generate the same id if, in the same tick, both pick the same one "
        "of {workers:,} numbers.",
        "With SORTABLE_IDS = {{'WORKER': 'lease'}}, each process leases a number from the "
        "database. Or give every process that generates ids its own number, from 0 to {last}, in "
        "that setting or in the environment variable SORTABLE_IDS_WORKER.",
    ),
    # Masked ids
    "E010": (
        "The links of {view} contain the user's key in base64, which reveals the time that the "
        "mask of {field} hides.",
        "Use PasswordResetView.as_view(form_class=SortableIDPasswordResetForm), from "
        "django_sortable_ids.auth.",
    ),
    "E011": (
        "These ids can't be masked, so their public text can't be shown: {reason}.",
        "Keep the keys secret: whoever has one reads the times.",
    ),
    "W005": (
        "The session is a cookie that is signed but not encrypted. It contains the user's key, "
        "which reveals the time that the mask hides.",
        "Use another SESSION_ENGINE, such as django.contrib.sessions.backends.db.",
    ),
    "W006": (
        "The cursors of {view} contain the column of its order in base64: if that is {field}, they "
        "reveal the time that its mask hides.",
        "Make pagination_class a subclass of SortableIDCursorPagination, from "
        "django_sortable_ids.rest_framework.",
    ),
    # Admin and URLs
    "E017": ("{option} can't show creation times: {reason}.", "{fix}"),
    "E020": ("{reason}.", "Until then, the URL of each object is an error."),
    "W007": (
        "The URL '{url}' accepts only numbers as {parameter!r}, but {field} has ids such as "
        "{example}: no object can be reached.",
        "Accept its ids: '<str:{parameter}>' in path(), '(?P<{parameter}>{pattern})' in re_path(); "
        "in a viewset of DRF leave out lookup_value_regex and lookup_value_converter. A malformed "
        "id is then 404.",
    ),
    # Columns and servers
    "E004": (
        "The database generates this key (db_default), but {server} has no RETURNING: after "
        "save(), the instance has no key.",
        "Leave out db_default, so that Python generates the key.",
    ),
    "E005": (
        "MariaDB's type uuid rejects some ids of {title}, or does not sort them by their time.",
        "Use storage='binary'.",
    ),
    "E006": (
        "MariaDB {version} sorts its type uuid by the last bytes first: the order and ranges of "
        "creation times are wrong (MDEV-29959).",
        "Update to MariaDB 10.9.8, 10.10.6, 10.11.5, 11.0.3 or later and rebuild the table (ALTER "
        "TABLE ... FORCE), or use storage='binary'.",
    ),
    "E007": (
        "The column's {collation} does not sort ids by their bytes: the order and ranges of "
        "creation times are wrong, and ids that differ only in case may compare as equal.",
        "Alter the column to the collation C on PostgreSQL, ascii_bin on MariaDB and MySQL, BINARY "
        "on SQLite.",
    ),
    "E008": (
        "The column holds {found}, but {title} needs {needed}: the database rejects ids, or, on "
        "MariaDB and MySQL without strict mode, truncates them.",
        "Widen the column, set storage= to the storage that it has, or move a key of another type "
        "by `manage.py backfill_ids --primary-key`.",
    ),
    "E009": ("The column holds values of another scheme: {found}", "{fix}"),
    "E019": ("{reason}: rows can't be inserted, or are lost.", "{fix}"),
    "E021": (
        "The key was moved in the database, and the model has the one from before: rows, or those "
        "that refer to them, are not found, and none can be inserted.",
        "Restore the migration of the move, and the models after it. To undo the move, run "
        "`manage.py migrate {app}` with the name of the migration before it, and then take the "
        "earlier code.",
    ),
    "W004": (
        "The server of the database {alias!r} has no time zone tables: functions of creation "
        "times, such as TruncDay, return NULL or fail.",
        "Load them: mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql -u root mysql",
    ),
    "W009": (
        "In the database {alias!r}, {found}.",
        "Complete it by `{command}`. Until then, stop the application.",
    ),
    "W010": (
        "The server of the database {alias!r} has innodb_flush_log_at_trx_commit={value}: a crash "
        "may lose the commit of a leased worker number, which another process then gets, too.",
        "Set it to 1 on each server, or give the processes numbers by SORTABLE_IDS_WORKER.",
    ),
    "W011": (
        "Ids of the column have a time before 2000 or after now, so they sort before or after all "
        "others. {found}.",
        "{fix}",
    ),
}
