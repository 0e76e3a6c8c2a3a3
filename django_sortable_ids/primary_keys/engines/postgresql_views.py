"""Views that read a column whose type changes: PostgreSQL refuses the change while they exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.db import DatabaseError

from ...db.queries import rows
from ...errors import BackfillError

_VIEWS = """
WITH RECURSIVE depending (oid, depth) AS (
    SELECT ev_class, 1 FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
    JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
    WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
        AND refobjid = to_regclass(%s) AND attname = ANY (%s) AND ev_class <> refobjid
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
SELECT c.oid::regclass::text, relkind = 'm', pg_get_viewdef(c.oid),
    array_to_string(reloptions, ', '), quote_ident(rolname),
    quote_literal(obj_description(c.oid, 'pg_class')), relispopulated
FROM pg_class c JOIN pg_roles ON pg_roles.oid = relowner WHERE c.oid = %s
"""
_GRANTS = """
SELECT privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(rolname) END,
    is_grantable
FROM pg_class CROSS JOIN aclexplode(relacl) LEFT JOIN pg_roles ON pg_roles.oid = grantee
WHERE pg_class.oid = %s AND grantee <> relowner
"""
_PARTS = """
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %(view)s
UNION ALL
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %(view)s AND NOT tgisinternal
"""


class View(NamedTuple):
    name: str
    kind: str
    """``VIEW`` or ``MATERIALIZED VIEW``."""
    query: str
    statements: tuple[str, ...]
    """What creates it again, with its owner, rights, comment, indexes and triggers."""


def views_of(connection: Any, tables: Iterable[tuple[str, list[str]]]) -> list[View]:
    """The views of these columns of tables, and the views of these views; in the order in which
    they can be created."""
    depths: dict[int, int] = {}
    for table, columns in tables:
        for oid, depth in rows(connection, _VIEWS, [table, columns]):
            depths[oid] = max(depth, depths.get(oid, 0))
    return [_view(connection, oid) for oid in sorted(depths, key=lambda each: (depths[each], each))]


def drop(views: Iterable[View], execute: Callable[[str], None]) -> None:
    for view in reversed(list(views)):
        execute(f"DROP {view.kind} {view.name}")


def create(views: Iterable[View], execute: Callable[[str], None]) -> None:
    """Raises ``BackfillError`` for a view that compares a key with something of its old type."""
    for view in views:
        for statement in view.statements:
            try:
                execute(statement)
            except DatabaseError as error:
                raise BackfillError(f"No key was moved: {misfit(view, error)}") from error


def misfit(view: View, error: Exception) -> str:
    """Why a move fails, and what to do."""
    text = str(error).splitlines()[0]
    return (
        f"{view.name} can't be created again: {text}. Drop it, migrate, and create one that fits "
        f"the new keys"
    )


def _view(connection: Any, oid: int) -> View:
    [(name, is_materialized, query, options, owner, comment, is_filled)] = rows(
        connection, _VIEW, [oid]
    )
    kind = "MATERIALIZED VIEW" if is_materialized else "VIEW"
    settings = f" WITH ({options})" if options else ""
    data = "" if not is_materialized or is_filled else " WITH NO DATA"
    definition = query.rstrip().removesuffix(";")
    statements = [
        f"CREATE {kind} {name}{settings} AS {definition}{data}",
        f"ALTER {kind} {name} OWNER TO {owner}",
        *([f"COMMENT ON {kind} {name} IS {comment}"] if comment else []),
        *_grants(connection, oid, name),
        *(sql for (sql,) in rows(connection, _PARTS, {"view": oid})),
    ]
    return View(name, kind, definition, tuple(statements))


def _grants(connection: Any, oid: int, name: str) -> Iterator[str]:
    for right, role, is_grantable in rows(connection, _GRANTS, [oid]):
        option = " WITH GRANT OPTION" if is_grantable else ""
        yield f"GRANT {right} ON {name} TO {role}{option}"
