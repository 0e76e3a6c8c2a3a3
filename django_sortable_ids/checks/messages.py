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
        f"The prefix {field.public_text.lead!r} is that of {named} too: an id with it does not "
        f"say whose it is.",
        hint="Give each of them a prefix of its own.",
        obj=field,
        id="sortable_ids.E001",
    )


def generic_relation_finds_nothing(
    relation: Any, key: SortableIDField, object_id: models.Field[Any, Any]
) -> CheckMessage:
    if key.scheme.value_type is int:
        fix = f"Make {object_id.model._meta.label}.{object_id.name} a BigIntegerField"
    else:
        text = "char" if key.scheme.value_type is str else "char36"
        fix = (
            f"Make {object_id.model._meta.label}.{object_id.name} a {type(key).__name__} with the "
            f"arguments of the key, if it points to such keys only; or keep the key as text, with "
            f"storage={text!r}"
        )
    return Error(
        f"{relation.model._meta.label}.{relation.name} joins {_label(key)} with a "
        f"{type(object_id).__name__}, and the two columns keep an id differently: the database "
        f"finds no rows, or refuses to compare them.",
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


def no_time_zones(alias: str) -> CheckMessage:
    return Warning(
        f"The server of the database {alias!r} has no time-zone tables: functions of creation "
        f"times, such as TruncDay, give NULL or fail.",
        hint="Load them: mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql -u root mysql",
        id="sortable_ids.W004",
    )
