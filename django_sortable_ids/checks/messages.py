"""The messages, one function each: what was found, its consequence, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.checks import CheckMessage, Error, Warning
from django.db import models

from ..fields import SortableIDField
from ..schema.automatic_keys import KEEP_DEFAULT

if TYPE_CHECKING:
    from ..migrating.unrecorded import Unrecorded

# Models


def shared_prefix(
    field: SortableIDField, prefix: str, others: list[SortableIDField]
) -> CheckMessage:
    named = ", ".join(map(str, others))
    return Error(
        f"The prefix {prefix!r} is also used by {named}: an id with it "
        f"does not identify its model.",
        hint="Give each field a different prefix.",
        obj=field,
        id="sortable_ids.E001",
    )


def generic_relation_finds_nothing(
    relation: Any, key: SortableIDField, object_id: models.Field[Any, Any], reason: str
) -> CheckMessage:
    column = str(object_id)
    if key.scheme.value_type is int:
        fix = f"Make {column} a BigIntegerField"
    elif reason.startswith("it holds"):
        fix = f"Make {column} longer"
    else:
        text = "char" if key.scheme.value_type is str else "char36"
        fix = (
            f"If {column} references such keys only, make it a {type(key).__name__} with the "
            f"arguments of the key; or store the key as text, with storage={text!r}"
        )
    return Error(
        f"{relation} joins {key} with a {type(object_id).__name__}: {reason}.",
        hint=f"{fix}.",
        obj=relation.model,
        id="sortable_ids.E002",
    )


def wrong_settings(reason: str) -> CheckMessage:
    return Error(
        f"The setting SORTABLE_IDS is invalid: {reason}.",
        hint="Correct it in the settings.",
        id="sortable_ids.E003",
    )


def not_unique(field: SortableIDField) -> CheckMessage:
    return Warning(
        "The id has no unique constraint: two rows may have the same id, and no index finds a row "
        "by its id.",
        hint="Fill the column by `manage.py backfill_ids`, which then says what to write here."
        if field.null
        else "Add unique=True, or a UniqueConstraint with other fields.",
        obj=field,
        id="sortable_ids.W001",
    )


def key_not_returned_by_bulk_create(field: SortableIDField) -> CheckMessage:
    return Warning(
        "The database generates this key (db_default). Before Django 6.1, bulk_create() returns "
        "instances without it.",
        hint="Leave out db_default, so that Python generates the key; or update Django.",
        obj=field,
        id="sortable_ids.W002",
    )


def no_worker_number(field: SortableIDField, workers: int) -> CheckMessage:
    return Warning(
        f"The ids contain a worker number, but SORTABLE_IDS['WORKER'] is not set. The number is "
        f"random: two processes generate the same id if, in the same tick, both pick the same "
        f"one of {workers:,} numbers.",
        hint=f"With SORTABLE_IDS = {{'WORKER': 'lease'}}, each process leases a number from the "
        f"database. Or give every process that generates ids its own number, from 0 to "
        f"{workers - 1}, in that setting or in the environment variable SORTABLE_IDS_WORKER.",
        obj=field,
        id="sortable_ids.W003",
    )


# Masked ids


def no_mask_key(field: SortableIDField, reason: str) -> CheckMessage:
    return Error(
        f"These ids can't be masked, so their public text can't be shown: {reason}.",
        hint="Add a key to the settings, SORTABLE_IDS = {'MASK_KEYS': [...]}, and keep it secret. "
        "Generate one with: python -c 'import secrets; print(secrets.token_hex(16))'",
        obj=field,
        id="sortable_ids.E011",
    )


def unmasked_password_reset(field: SortableIDField, view: Any) -> CheckMessage:
    return Error(
        f"The links of {view.view_class.__name__} contain the user's key in base64, which reveals "
        f"the time that the mask of {field} hides.",
        hint="Use PasswordResetView.as_view(form_class=SortableIDPasswordResetForm), from "
        "django_sortable_ids.auth.",
        obj=field,
        id="sortable_ids.E010",
    )


def masked_key_in_cookies(field: SortableIDField) -> CheckMessage:
    return Warning(
        "The session is a cookie that is signed but not encrypted. It contains the user's key, "
        "which reveals the time that the mask hides.",
        hint="Use another SESSION_ENGINE, such as django.contrib.sessions.backends.db.",
        obj=field,
        id="sortable_ids.W005",
    )


def unmasked_cursors(field: SortableIDField, view: type[Any]) -> CheckMessage:
    return Warning(
        f"The cursors of {view.__name__} contain the id in base64, which reveals the time that "
        f"the mask of {field} hides.",
        hint="Make pagination_class a subclass of SortableIDCursorPagination, from "
        "django_sortable_ids.rest_framework.",
        obj=view,
        id="sortable_ids.W006",
    )


# Admin


NAME_AN_ID = "Name the path of a sortable id with a time: 'id', or 'order__id' for a related row."
DERIVE = "Derive the class from SortableIDAdmin, of django_sortable_ids.admin."


def wrong_hierarchy(admin: type[Any], reason: str, hint: str = NAME_AN_ID) -> CheckMessage:
    return Error(
        f"created_at_hierarchy can't draw creation times: {reason}.",
        hint=hint,
        obj=admin,
        id="sortable_ids.E017",
    )


def wrong_filter(admin: type[Any], path: str) -> CheckMessage:
    return Error(
        f"CreatedAtFilter can't filter by {path!r}, which is no sortable id with a time.",
        hint=NAME_AN_ID,
        obj=admin,
        id="sortable_ids.E020",
    )


# URLs


def url_takes_only_numbers(
    field: SortableIDField, view: type[Any], parameter: str, url: str
) -> CheckMessage:
    return Warning(
        f"The URL '{url}' accepts only numbers as {parameter!r}, but {field} has ids such as "
        f"{field.scheme.format(field.scheme.example)}: no object can be reached.",
        hint=f"Accept any text: '<str:{parameter}>' in path(), '(?P<{parameter}>[^/]+)' in "
        f"re_path(), and in a viewset of DRF leave out lookup_value_regex and "
        f"lookup_value_converter. A malformed id is then 404.",
        obj=view,
        id="sortable_ids.W007",
    )


# Other packages


def package_not_installed(app: str, field: SortableIDField) -> CheckMessage:
    return Warning(
        f"{app} is used, but not in INSTALLED_APPS: it shows the values of ids, such as those of "
        f"{field}, and not their public texts.",
        hint=f'Add "{app}" to INSTALLED_APPS.',
        id="sortable_ids.W008",
    )


# Columns and servers


def key_not_returned(field: SortableIDField, server: str) -> CheckMessage:
    return Error(
        f"The database generates this key (db_default), but {server} has no RETURNING: after "
        f"save(), the instance has no key.",
        hint="Leave out db_default, so that Python generates the key.",
        obj=field,
        id="sortable_ids.E004",
    )


def refused_by_mariadb(field: SortableIDField) -> CheckMessage:
    return Error(
        f"MariaDB's type uuid rejects some ids of {field.scheme.title}, or does not sort them by "
        f"their time.",
        hint="Use storage='binary'.",
        obj=field,
        id="sortable_ids.E005",
    )


def missorted_by_mariadb(field: SortableIDField, version: str) -> CheckMessage:
    return Error(
        f"MariaDB {version} sorts its type uuid by the last bytes first: the order and ranges of "
        f"creation times are wrong (MDEV-29959).",
        hint="Update to MariaDB 10.9.8, 10.10.6, 10.11.5, 11.0.3 or later and rebuild the table "
        "(ALTER TABLE ... FORCE), or use storage='binary'.",
        obj=field,
        id="sortable_ids.E006",
    )


def sorted_by_collation(field: SortableIDField, collation: str | None) -> CheckMessage:
    named = f"collation {collation}" if collation else "collation, the database's default,"
    return Error(
        f"The column's {named} does not sort ids by their bytes: the order and ranges of creation "
        f"times are wrong, and ids that differ only in case may compare as equal.",
        hint="Alter the column to the collation C on PostgreSQL, ascii_bin on MariaDB and MySQL, "
        "BINARY on SQLite.",
        obj=field,
        id="sortable_ids.E007",
    )


def too_narrow(field: SortableIDField, found: str, needed: str) -> CheckMessage:
    return Error(
        f"The column holds {found}, but a {field.scheme.title} needs {needed}: the database "
        f"rejects ids, or, on MariaDB and MySQL without strict mode, truncates them.",
        hint="Widen the column, or set storage= to the storage that it has.",
        obj=field,
        id="sortable_ids.E008",
    )


def values_of_another_scheme(field: SortableIDField, found: str, advice: str) -> CheckMessage:
    if advice:
        fix = advice
    elif field.primary_key:
        fix = (
            f"To move the key, and what refers to it, run `manage.py backfill_ids "
            f"{field.model._meta.label} --primary-key`. If a migration has changed the field "
            f"already, undo and delete it first."
        )
    else:
        fix = (
            "Restore the field that generated them in the model, add a second field of the new "
            "scheme, fill it with `manage.py backfill_ids ... --convert-from`, and swap the two "
            "with SwapSortableID."
        )
    return Error(
        f"The column holds values of another scheme: {found}",
        hint=f"{fix} To read UUIDs of other versions, set accept_other_versions=True.",
        obj=field,
        id="sortable_ids.E009",
    )


def another_automatic_key(model: type[models.Model], reason: str) -> CheckMessage:
    return Error(
        f"{reason[0].upper()}{reason[1:]}: rows can't be inserted, or are lost.",
        hint=KEEP_DEFAULT,
        obj=model._meta.auto_created,
        id="sortable_ids.E019",
    )


def no_time_zones(alias: str) -> CheckMessage:
    return Warning(
        f"The server of the database {alias!r} has no time zone tables: functions of creation "
        f"times, such as TruncDay, return NULL or fail.",
        hint="Load them: mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql -u root mysql",
        id="sortable_ids.W004",
    )


def commits_may_be_lost(alias: str, value: int) -> CheckMessage:
    return Warning(
        f"The server of the database {alias!r} has innodb_flush_log_at_trx_commit={value}: a crash "
        f"may lose the commit of a leased worker number, which another process then gets, too.",
        hint="Set it to 1 on each server, or give the processes numbers by SORTABLE_IDS_WORKER.",
        id="sortable_ids.W010",
    )


def unrecorded(change: Unrecorded) -> CheckMessage:
    return Warning(
        f"In the database {change.using!r}, {change.found}.",
        hint=f"Complete it by `{change.command}`. Until then, stop the application.",
        id="sortable_ids.W009",
    )
