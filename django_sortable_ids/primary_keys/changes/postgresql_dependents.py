"""What depends on a column whose type PostgreSQL changes: views are dropped and created again, and
other objects are refused, or tried on tables without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db import DatabaseError, InternalError, OperationalError, transaction

from ...db import row, rows, tables
from ...db.errors import is_denied
from ...errors import BackfillError
from ...schema.table_definition import SQLITE, dependents, split
from .change import Table

_VIEWS = """
WITH RECURSIVE depending (oid, depth) AS (
    SELECT ev_class, 1 FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
    WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
        AND refobjid = to_regclass(%s) AND ev_class <> refobjid
    UNION
    SELECT ev_class, depth + 1 FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
    JOIN depending ON refobjid = depending.oid
    WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
        AND ev_class <> refobjid
)
SELECT c.oid, MAX(depth) FROM depending JOIN pg_class c USING (oid)
WHERE relkind IN ('v', 'm') GROUP BY c.oid
"""
_VIEW = """
SELECT oid::regclass::text, CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END,
    COALESCE(' WITH (' || array_to_string(reloptions, ', ') || ')', ''),
    rtrim(pg_get_viewdef(oid), ';'), CASE WHEN relispopulated THEN '' ELSE ' WITH NO DATA' END
FROM pg_class WHERE oid = %s
"""
_PARTS = """
WITH v AS (
    SELECT *, oid::regclass::text AS name,
        CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END AS kind
    FROM pg_class WHERE oid = %(view)s
), a AS (SELECT * FROM pg_attribute WHERE attrelid = %(view)s), given AS (
    SELECT 'REVOKE ALL' AS what, ' FROM ' AS way, grantee, '' AS more
    FROM pg_default_acl CROSS JOIN aclexplode(defaclacl) WHERE defaclobjtype = 'r'
    UNION SELECT concat('GRANT ', privilege_type, ' (' || quote_ident(attname) || ')'), ' TO ',
        grantee, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM (
        SELECT relacl AS acl, NULL AS attname FROM v UNION ALL SELECT attacl, attname FROM a
    ) s CROSS JOIN aclexplode(acl)
)
SELECT 1 AS place, format('ALTER %%s %%s OWNER TO %%I', kind, name, pg_get_userbyid(relowner))
FROM v
UNION ALL SELECT CASE what WHEN 'REVOKE ALL' THEN 2 ELSE 3 END, concat(what, ' ON ', name, way,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END, more)
FROM v CROSS JOIN given WHERE grantee <> relowner
UNION ALL SELECT 4, format('COMMENT ON %%s %%s IS %%L', CASE objsubid WHEN 0 THEN kind
    ELSE 'COLUMN' END, concat_ws('.', name, quote_ident(attname)), description)
FROM v JOIN pg_description ON (classoid, objoid) = ('pg_class'::regclass, v.oid)
LEFT JOIN a ON attnum = NULLIF(objsubid, 0)
UNION ALL SELECT 4, format('ALTER VIEW %%s ALTER %%I SET DEFAULT %%s', name, attname,
    pg_get_expr(adbin, adrelid))
FROM v JOIN pg_attrdef ON adrelid = v.oid JOIN a ON attnum = adnum
UNION ALL SELECT 4, pg_get_ruledef(oid) FROM pg_rewrite
WHERE ev_class = %(view)s AND rulename <> '_RETURN'
UNION ALL SELECT 4, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %(view)s
UNION ALL SELECT 4, pg_get_triggerdef(oid) FROM pg_trigger
WHERE tgrelid = %(view)s AND NOT tgisinternal ORDER BY 1
"""
"""The statements after its CREATE, without what default privileges give to a new view."""


class View(NamedTuple):
    name: str
    kind: str
    """``VIEW`` or ``MATERIALIZED VIEW``."""
    query: str
    statements: tuple[str, ...]
    """What creates it again, with all that belongs to it."""


def views_of(connection: Any, quoted: Iterable[str]) -> list[View]:
    """The views of tables, and those of these views, in the order in which they can be created."""
    depths: dict[int, int] = {}
    for table in quoted:
        for oid, depth in rows(connection, _VIEWS, [table]):
            depths[oid] = max(depth, depths.get(oid, 0))
    views = []
    for oid in sorted(depths, key=lambda oid: (depths[oid], oid)):
        name, kind, options, query, data = row(connection, _VIEW, [oid])
        parts = (sql for _, sql in rows(connection, _PARTS, {"view": oid}))
        statements = f"CREATE {kind} {name}{options} AS {query}{data}", *parts
        views.append(View(name, kind, query, statements))
    return views


def create(views: Iterable[View], execute: Callable[[str], None]) -> None:
    """Raises ``BackfillError`` for a view that compares a key with something of its old type."""
    for view in views:
        for statement in view.statements:
            try:
                execute(statement)
            except DatabaseError as error:
                raise BackfillError(f"No key was moved: {_misfit(view, error)}") from error


def _misfit(view: View, error: Exception) -> str:
    return (
        f"{view.name} can't be created again: {str(error).splitlines()[0]}. Drop it, migrate, and "
        f"create one that fits the new keys"
    )


_TABLE = """
SELECT relkind = 'p', relispartition, (SELECT COUNT(*) FROM pg_inherits WHERE inhparent = oid)
FROM pg_class WHERE oid = to_regclass(%s)
"""
_DEPENDENTS = """
SELECT DISTINCT pg_describe_object(classid, objid, 0)
FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
LEFT JOIN pg_rewrite ON classid = 'pg_rewrite'::regclass AND pg_rewrite.oid = objid
LEFT JOIN pg_class ON pg_class.oid = ev_class
WHERE refclassid = 'pg_class'::regclass AND refobjid = to_regclass(%s) AND attname = ANY (%s)
    AND classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass,
        'pg_proc'::regclass, 'pg_publication_rel'::regclass)
    AND deptype = 'n' AND COALESCE(relkind, 'r') NOT IN ('v', 'm')
ORDER BY 1
"""
"""Views are left out: they are dropped and created again."""
_OF_VIEW = """
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid)
FROM pg_class v JOIN pg_type t ON t.oid = v.reltype JOIN pg_depend d ON refobjid IN (
    v.oid, t.oid, typarray) AND refclassid IN ('pg_class'::regclass, 'pg_type'::regclass)
LEFT JOIN pg_rewrite r ON classid = 'pg_rewrite'::regclass AND r.oid = objid
LEFT JOIN pg_class c ON c.oid = ev_class
WHERE v.oid = to_regclass(%s) AND deptype = 'n' AND COALESCE(c.relkind, 'r') NOT IN ('v', 'm')
ORDER BY 1
"""
_EXPRESSIONS = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = to_regclass(%(table)s) AND contype = 'c'
UNION ALL
SELECT indexrelid::regclass::text, concat_ws(' ', pg_get_expr(indpred, indrelid), pg_get_expr(
    indexprs, indrelid)) FROM pg_index WHERE indrelid = to_regclass(%(table)s)
UNION ALL
SELECT attname::text, pg_get_expr(adbin, adrelid)
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = to_regclass(%(table)s) AND attgenerated <> ''
"""
_OF_ROW_TYPE = """
WITH RECURSIVE used (oid) AS (
    SELECT reltype FROM pg_class WHERE oid = to_regclass(%s)
    UNION
    SELECT p.oid FROM used JOIN (
        SELECT oid, typelem AS part FROM pg_type UNION ALL SELECT oid, typbasetype FROM pg_type
        UNION ALL SELECT t.oid, atttypid FROM pg_type t JOIN pg_attribute ON attrelid = typrelid
        WHERE NOT attisdropped) p ON part = used.oid
)
SELECT attrelid::regclass::text, attname::text FROM used
JOIN pg_attribute ON atttypid = used.oid JOIN pg_class ON pg_class.oid = attrelid
WHERE relkind IN ('r', 'p') AND NOT attisdropped ORDER BY 1, 2
"""
"""The columns of tables that contain whole rows: also in arrays, domains and other rows."""
_NUMBERED_BY = """
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_attribute
JOIN pg_depend d ON d.refobjid = pg_get_serial_sequence(%(table)s, attname)::regclass
WHERE attrelid = to_regclass(%(table)s) AND attname = %(key)s AND attidentity <> ''
    AND d.deptype = 'n' ORDER BY 1
"""
"""What else uses the sequence of an identity, which no column can keep."""
_OWNER = """
SELECT relowner::regrole::text FROM pg_class
WHERE oid = to_regclass(%s) AND NOT pg_has_role(relowner, 'USAGE')
"""
"""Another role, of which the user is no member."""
_DEFAULTS = """
SELECT attname::text, pg_get_expr(adbin, adrelid)
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = to_regclass(%(table)s) AND attgenerated = '' AND attname = ANY (%(columns)s)
    AND (attname <> %(key)s OR pg_get_serial_sequence(%(table)s, attname) IS NULL)
"""


def problems(connection: Any, quoted: str, table: Table) -> Iterator[str]:
    """What a move can't keep. ``quoted`` is the table as SQL spells it."""
    is_partitioned, is_partition, children = row(connection, _TABLE, [quoted])
    if is_partitioned or is_partition or children:
        yield f"{table.name} is partitioned or has children: add a second field, not another key"
    for other, column in rows(connection, _OF_ROW_TYPE, [quoted]):
        yield (
            f"{other}.{column} contains rows of {table.name}, whose type changes: make it jsonb, "
            f"or drop it, and run this again"
        )
    for (name,) in rows(connection, _DEPENDENTS, [quoted, table.names]):
        yield f"{name} depends on a column that changes: drop it, migrate, and create it again"
    for view in views_of(connection, [quoted]):
        for (owner,) in rows(connection, _OWNER, [view.name]):
            yield (
                f"{view.name}, which a move drops and creates again, belongs to {owner}: migrate "
                f"as a member of that role, or drop it, migrate, and create it again"
            )
        for (name,) in rows(connection, _OF_VIEW, [view.name]):
            yield (
                f"{name} depends on {view.name}, which a move drops and creates again: drop it, "
                f"migrate, and create it again"
            )
    keys = {column.name.lower(): column.key for column in table.changed}
    for name, expression in rows(connection, _EXPRESSIONS, {"table": quoted}):
        for used in sorted({*dependents(split(expression.replace("::text", ""), SQLITE), keys)}):
            yield (
                f"{name} of {table.name} depends on {used}, whose values change: remove it, "
                f"migrate, and add it again"
            )
    has_default = table.key and table.key.before.has_db_default()
    parameters = {
        "table": quoted,
        "key": table.key.name if table.key else "",
        "columns": [it.name for it in (table.columns if has_default else table.changed)],
    }
    for (user,) in rows(connection, _NUMBERED_BY, parameters):
        yield (
            f"the sequence of {table.name}.{parameters['key']}, which the move drops, is used by "
            f"{user}, too: give that another sequence, and run this again"
        )
    for name, default in rows(connection, _DEFAULTS, parameters):
        yield (
            f"{table.name}.{name} has the default {default}, which is no new key: drop it, or make "
            f"its sequence OWNED BY the column, and run this again"
        )


PATTERN_INDEXES = """
SELECT DISTINCT i.indexrelid::regclass::text
FROM pg_index i CROSS JOIN unnest(i.indclass::oid[]) AS class
JOIN pg_opclass ON pg_opclass.oid = class
JOIN pg_attribute ON attrelid = i.indrelid AND attnum = ANY (i.indkey::smallint[])
WHERE i.indrelid = to_regclass(%s) AND attname = %s AND opcname LIKE '%%pattern_ops'
    AND i.indnatts = 1
"""
_LIKE = "INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING INDEXES INCLUDING STATISTICS"
_EVERY_SCHEMA = """
SELECT set_config('search_path', concat_ws(', ', NULLIF(current_setting('search_path'), ''),
    string_agg(quote_ident(nspname), ', ')), true)
FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
"""


def rehearse(connection: Any, types: Mapping[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Errors of a dry run. ``types`` are the changed columns of each table and their new types."""
    errors: list[str] = []
    names = list(map(connection.ops.quote_name, types))
    views = views_of(connection, names)
    with transaction.atomic(connection.alias):
        # Without a schema, the names in a query are those of the temporary tables and views.
        row(connection, _EVERY_SCHEMA)
        queries = views_of(connection, names)
        for table, columns in types.items():
            if error := _failure(connection, _copied(connection, table, columns)):
                reason = f"{table} can't be changed: {str(error).splitlines()[0]}"
                errors.append(f"{reason}. Drop what prevents it, migrate, and create it again")
        for view, tried in zip(views, queries, strict=True):
            sql = f"CREATE TEMPORARY VIEW {tried.name} AS {tried.query}"
            if "." in tried.name:
                errors.append(
                    f"{view.name} can't be tried, because another relation has its name: drop it, "
                    f"migrate, and create it again"
                )
            elif error := _failure(connection, [sql]):
                errors.append(_misfit(view, error))
        transaction.set_rollback(True, connection.alias)
    yield from errors


def _copied(connection: Any, table: str, types: list[tuple[str, str]]) -> Iterator[str]:
    quote = connection.ops.quote_name
    name = quote(tables.split(connection, table)[1])
    yield f"CREATE TEMPORARY TABLE {name} (LIKE {quote(table)} {_LIKE})"
    # As before the real change: new types may not have such indexes.
    for column, _ in types:
        for (index,) in rows(connection, PATTERN_INDEXES, [f"pg_temp.{name}", column]):
            yield f"DROP INDEX {index}"
    changes = (f"ALTER {quote(column)} TYPE {kind} USING NULL" for column, kind in types)
    yield f"ALTER TABLE pg_temp.{name} {', '.join(changes)}"


def _failure(connection: Any, statements: Iterable[str]) -> DatabaseError | None:
    try:
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
    except DatabaseError as error:
        if isinstance(error, InternalError | OperationalError) or is_denied(error):
            raise  # It is not about the statements.
        return error
    return None
