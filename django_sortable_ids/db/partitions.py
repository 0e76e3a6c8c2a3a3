"""Partitioned tables: each unique index must contain all columns of the partition key."""

from __future__ import annotations

import re
from typing import Any

from django.db import models

from . import tables
from .queries import rows

_POSTGRESQL_KEY = """
    SELECT DISTINCT attname
    FROM pg_partition_tree(to_regclass(%s))
    JOIN pg_partitioned_table ON partrelid = relid
    CROSS JOIN unnest(partattrs::smallint[]) AS number
    LEFT JOIN pg_attribute ON attrelid = relid AND attnum = number
"""
_POSTGRESQL_LEAVES = """
    SELECT nspname, relname
    FROM pg_partition_tree(to_regclass(%s)) AS part
    JOIN pg_class ON pg_class.oid = part.relid
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE isleaf AND level > 0 ORDER BY 1, 2
"""
_MYSQL_KEY = """
    SELECT DISTINCT partition_method, partition_expression, subpartition_expression
    FROM information_schema.partitions
    WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
        AND partition_method IS NOT NULL AND partition_method <> 'SYSTEM_TIME'
"""
"""SYSTEM_TIME partitions are left out: MariaDB adds their column to every unique index itself."""


def key_columns(connection: Any, table: str) -> list[str | None]:
    """The columns by which the table is partitioned. None stands for an expression of PostgreSQL,
    which can't be part of a unique index."""
    match connection.vendor:
        case "postgresql":
            quoted = connection.ops.quote_name(table)
            return [name for (name,) in rows(connection, _POSTGRESQL_KEY, [quoted])]
        case "mysql":
            return _on_mysql(connection, table)
    return []


def leaves(connection: Any, table: str) -> list[str]:
    """The leaf partitions of a PostgreSQL table, as names for ``db_table``."""
    if connection.vendor != "postgresql":
        return []
    quote = connection.ops.quote_name
    return [
        f"{quote(schema)}.{quote(name)}"
        for schema, name in rows(connection, _POSTGRESQL_LEAVES, [quote(table)])
    ]


def why_not_unique(connection: Any, field: models.Field[Any, Any]) -> str | None:
    """Why the column can't be unique by itself, and what to do; None if it can."""
    meta = field.model._meta
    fold = tables.folded
    own = fold(connection, str(field.column))
    others = [
        each
        for each in key_columns(connection, meta.db_table)
        if each is None or fold(connection, each) != own
    ]
    if not others:
        return None
    names = {fold(connection, str(each.column)): each.name for each in meta.local_concrete_fields}
    known = [names.get(fold(connection, each), each) for each in others if each is not None]
    expressions = ["an expression"] if None in others else []
    reason = (
        f"{meta.db_table} is partitioned by {', '.join(known + expressions)}, "
        f"and a unique index must contain the whole partition key: {field.name} can't be unique by "
        f"itself"
    )
    if None in others:
        return f"{reason}. Use ConstrainSortableID without unique=True, for NOT NULL alone"
    fields = [field.name, *known]
    return (
        f"{reason}. Add UniqueConstraint(fields={fields}) to the model. For NOT NULL, use "
        f"ConstrainSortableID without unique=True, which --write-migration writes after that"
    )


def _on_mysql(connection: Any, table: str) -> list[str | None]:
    columns: dict[str | None, None] = {}
    for method, *expressions in rows(connection, _MYSQL_KEY, tables.split(connection, table)):
        if method.endswith("KEY") and not expressions[0]:
            key = tables.constraints(connection, table)["PRIMARY"]["columns"]
            columns |= dict.fromkeys(key)
        for expression in expressions:
            names = re.findall(r"`((?:[^`]|``)+)`", expression or "")
            columns |= dict.fromkeys(name.replace("``", "`") for name in names)
    return list(columns)
