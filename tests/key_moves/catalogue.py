"""What the catalogue of the database says about each table: columns, indexes, constraints, triggers
and sequences, in no order."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from django.db import connection

Catalogue = dict[str, dict[str, list[str]]]
SHOWN = 3
"""Differences of each table that are shown."""
QUERIES = {
    "postgresql": {
        "column": """
            SELECT table_name, column_name, udt_name, character_maximum_length, is_nullable,
                   column_default, is_identity, identity_generation, collation_name
            FROM information_schema.columns WHERE table_schema = 'public'""",
        "index": "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "constraint": """
            SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
        "sequence": """
            SELECT coalesce(d.refobjid::regclass::text, ''), s.seqrelid::regclass::text,
                   a.attname, s.seqtypid::regtype::text, s.seqstart, s.seqincrement, s.seqmax
            FROM pg_sequence s LEFT JOIN pg_depend d
                 ON d.objid = s.seqrelid AND d.deptype IN ('a', 'i')
            LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid""",
        "view": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    },
    "mysql": {
        "column": """
            SELECT table_name, column_name, column_type, is_nullable, column_default, extra,
                   collation_name, column_key
            FROM information_schema.columns WHERE table_schema = DATABASE()""",
        "index": """
            SELECT table_name, index_name, seq_in_index, column_name, non_unique, sub_part
            FROM information_schema.statistics WHERE table_schema = DATABASE()""",
        "constraint": """
            SELECT table_name, constraint_name, constraint_type
            FROM information_schema.table_constraints
            WHERE table_schema = DATABASE() AND constraint_type <> 'CHECK'""",
        "foreign key": """
            SELECT k.table_name, k.constraint_name, k.column_name, k.referenced_table_name,
                   k.referenced_column_name, r.update_rule, r.delete_rule
            FROM information_schema.key_column_usage k
            JOIN information_schema.referential_constraints r
                 ON r.constraint_schema = k.constraint_schema
                 AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name
            WHERE k.table_schema = DATABASE()""",
        "table": """
            SELECT table_name, table_type, engine, row_format, table_collation
            FROM information_schema.tables WHERE table_schema = DATABASE()""",
        "view": """
            SELECT table_name, view_definition FROM information_schema.views
            WHERE table_schema = DATABASE()""",
    },
    "sqlite": {
        "column": """
            SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk > 0, c.hidden
            FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table'""",
        "foreign key": """
            SELECT m.name, f."from", f."table", f."to", f.on_update, f.on_delete
            FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'""",
        "other": "SELECT tbl_name, type, name, sql FROM sqlite_master WHERE type <> 'table'",
    },
}
CHECKS = {
    "MariaDB": """
        SELECT table_name, IF(level = 'Column', '', constraint_name), check_clause
        FROM information_schema.check_constraints WHERE constraint_schema = DATABASE()""",
    "MySQL": """
        SELECT table_name, constraint_name, check_clause
        FROM information_schema.check_constraints JOIN information_schema.table_constraints
             USING (constraint_schema, constraint_name)
        WHERE constraint_schema = DATABASE()""",
}
"""The check of a column on MariaDB has the name that the column had first, which no definition of
the table shows."""


def catalogue(of: str = "") -> Catalogue:
    """What is known of each table that has this in its name, by kind."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    queries = dict(QUERIES[connection.vendor])
    if connection.vendor == "mysql":
        queries["check"] = CHECKS[connection.display_name]
    for kind, sql in queries.items():
        for table, *about in _rows(sql):
            found[table][kind].append(repr(about))
    if connection.vendor == "sqlite":
        for table, sql in _rows("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
            found[table]["definition"] = list(_parts(sql))
    return {
        table: {kind: sorted(each) for kind, each in kinds.items()}
        for table, kinds in sorted(found.items())
        if of in table
    }


def _rows(sql: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _parts(sql: str) -> Iterator[str]:
    """What a CREATE TABLE of SQLite has between its commas."""
    depth, part = 0, ""
    for token in re.findall(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|\s+|.", sql.split("(", 1)[-1]):
        depth += (token == "(") - (token == ")")
        if depth < 0 or (token == "," and not depth):
            yield " ".join(part.split())
            part = ""
        else:
            part += token
    yield " ".join(part.split())


def changes(wanted: Catalogue, found: Catalogue) -> Iterator[str]:
    """What the catalogue has and should not have, and the other way round."""
    for table in sorted({*wanted, *found}):
        kinds = wanted.get(table, {}), found.get(table, {})
        for kind in sorted({*kinds[0], *kinds[1]}):
            expected, actual = (Counter(each.get(kind, ())) for each in kinds)
            yield from (f"{table}: no {kind} {each}" for each in list(expected - actual)[:SHOWN])
            yield from (f"{table}: a {kind} {each}" for each in list(actual - expected)[:SHOWN])
