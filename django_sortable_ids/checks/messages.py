"""The messages, a function each: what was found, what comes of it, what to do."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, Warning
from django.db import models

from ..fields import SortableIDField


def _label(field: SortableIDField) -> str:
    return f"{field.model._meta.label}.{field.name}"


# Of the models


def shared_prefix(field: SortableIDField, others: list[SortableIDField]) -> CheckMessage:
    named = ", ".join(map(_label, others))
    return Error(
        f"The prefix {field.public_text.full_prefix!r} is that of {named} too: an id with it does "
        f"not say whose it is.",
        hint="Give each of them a prefix of its own.",
        obj=field,
        id="sortable_ids.E001",
    )


def generic_relation_finds_nothing(
    relation: Any, key: SortableIDField, object_id: models.Field[Any, Any], reason: str
) -> CheckMessage:
    column = f"{object_id.model._meta.label}.{object_id.name}"
    if key.scheme.value_type is int:
        fix = f"Make {column} a BigIntegerField"
    elif reason.startswith("it holds"):
        fix = f"Make {column} longer"
    else:
        text = "char" if key.scheme.value_type is str else "char36"
        fix = (
            f"Make {column} a {type(key).__name__} with the arguments of the key, if it points to "
            f"such keys only; or keep the key as text, with storage={text!r}"
        )
    return Error(
        f"{relation.model._meta.label}.{relation.name} joins {_label(key)} with a "
        f"{type(object_id).__name__}: {reason}.",
        hint=f"{fix}.",
        obj=relation.model,
        id="sortable_ids.E002",
    )


def wrong_settings(reason: str) -> CheckMessage:
    return Error(
        f"SORTABLE_IDS can't be used: {reason}.",
        hint="Correct it in the settings.",
        id="sortable_ids.E003",
    )


def not_unique(field: SortableIDField) -> CheckMessage:
    return Warning(
        "Nothing keeps two rows from having the same id, and no index finds a row by it.",
        hint="Add unique=True; on a table with rows, once backfill_ids has filled the column.",
        obj=field,
        id="sortable_ids.W001",
    )


def key_not_returned_by_bulk_create(field: SortableIDField) -> CheckMessage:
    return Warning(
        "The database makes this key (db_default), and bulk_create() returns instances without "
        "it before Django 6.1.",
        hint="Leave out db_default, so that Python makes the key; or update Django.",
        obj=field,
        id="sortable_ids.W002",
    )


def no_worker_number(field: SortableIDField, workers: int) -> CheckMessage:
    return Warning(
        f"The ids have a place for a worker number, and SORTABLE_IDS['WORKER'] is not set: it is "
        f"filled at random, and two processes make the same id when they meet in one tick and one "
        f"of {workers:,} numbers.",
        hint=f"SORTABLE_IDS = {{'WORKER': 'lease'}} has each process lease a number from the "
        f"database. Or give every one that makes ids a number of its own, from 0 to {workers - 1}, "
        f"there or in the environment variable SORTABLE_IDS_WORKER.",
        obj=field,
        id="sortable_ids.W003",
    )


# Of masked ids


def no_mask_key(field: SortableIDField, reason: str) -> CheckMessage:
    return Error(
        f"The time of these ids can't be masked, and their public text can't be shown: {reason}.",
        hint="Put a key into the settings, SORTABLE_IDS = {'MASK_KEYS': [...]}, and keep it "
        "secret. Make one with: python -c 'import secrets; print(secrets.token_hex(16))'",
        obj=field,
        id="sortable_ids.E011",
    )


def bare_password_reset(field: SortableIDField, view: Any) -> CheckMessage:
    return Error(
        f"The links of {view.view_class.__name__} have the key of the user in base64, which shows "
        f"the time that the mask of {_label(field)} hides.",
        hint="Use PasswordResetView.as_view(form_class=SortableIDPasswordResetForm), from "
        "django_sortable_ids.auth.",
        obj=field,
        id="sortable_ids.E010",
    )


def masked_key_in_cookies(field: SortableIDField) -> CheckMessage:
    return Warning(
        "The session is a signed cookie, which everybody can read: it has the key of the user, "
        "with the time that the mask hides.",
        hint="Use another SESSION_ENGINE, such as django.contrib.sessions.backends.db.",
        obj=field,
        id="sortable_ids.W005",
    )


def bare_cursors(field: SortableIDField, view: type[Any]) -> CheckMessage:
    return Warning(
        f"The cursors of {view.__name__} have the id in base64, which shows the time that the "
        f"mask of {_label(field)} hides.",
        hint="Let pagination_class inherit SortableIDCursorPagination, from "
        "django_sortable_ids.rest_framework.",
        obj=view,
        id="sortable_ids.W006",
    )


# Of the columns and the servers


def key_not_returned(field: SortableIDField, server: str) -> CheckMessage:
    return Error(
        f"The database makes this key (db_default), and {server} has no RETURNING to tell it: "
        f"save() leaves the instance without its key.",
        hint="Leave out db_default, so that Python makes the key.",
        obj=field,
        id="sortable_ids.E004",
    )


def refused_by_mariadb(field: SortableIDField) -> CheckMessage:
    return Error(
        f"MariaDB's type uuid refuses part of the ids of {field.scheme.title}, or sorts them by "
        f"other bits than their time.",
        hint="Use storage='binary'.",
        obj=field,
        id="sortable_ids.E005",
    )


def missorted_by_mariadb(field: SortableIDField, version: str) -> CheckMessage:
    return Error(
        f"MariaDB {version} sorts its type uuid by the last bytes first, so that neither order nor "
        f"ranges of creation times are right (MDEV-29959).",
        hint="Update to MariaDB 10.9.8, 10.10.6, 10.11.5, 11.0.3 or later and rebuild the table "
        "(ALTER TABLE ... FORCE), or use storage='binary'.",
        obj=field,
        id="sortable_ids.E006",
    )


def sorted_by_collation(field: SortableIDField, collation: str | None) -> CheckMessage:
    named = f"collation {collation}" if collation else "collation, the database's default,"
    return Error(
        f"The column's {named} sorts ids otherwise than by their bytes: neither order nor ranges "
        f"of creation times are right, and ids that differ in case may be taken for equal.",
        hint="Alter the column to the collation C on PostgreSQL, ascii_bin on MariaDB and MySQL, "
        "BINARY on SQLite.",
        obj=field,
        id="sortable_ids.E007",
    )


def too_narrow(field: SortableIDField, found: str, needed: str) -> CheckMessage:
    return Error(
        f"The column holds {found}, and a {field.scheme.title} needs {needed}: it is refused, or "
        f"cut by a MariaDB or MySQL outside strict mode.",
        hint="Widen the column, or choose the storage= that it has.",
        obj=field,
        id="sortable_ids.E008",
    )


def values_of_another_scheme(field: SortableIDField, found: str) -> CheckMessage:
    return Error(
        f"The column holds values of another scheme: {found}",
        hint="Write the field that made them back into the model, add a second one of the new "
        "scheme, fill it with `manage.py backfill_ids ... --convert-from`, and let the two change "
        "places by SwapSortableID. UUIDs of other versions are read with "
        "accept_other_versions=True.",
        obj=field,
        id="sortable_ids.E009",
    )


def no_time_zones(alias: str) -> CheckMessage:
    return Warning(
        f"The server of the database {alias!r} has no time-zone tables: functions of creation "
        f"times, such as TruncDay, give NULL or fail.",
        hint="Load them: mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql -u root mysql",
        id="sortable_ids.W004",
    )
