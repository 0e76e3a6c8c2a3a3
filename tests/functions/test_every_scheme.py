"""No scheme is in the catalogue without columns that SQL is tested with, and without its docs.

That each has published ids and a row of the backfill's oracle is seen in ``tests/schemes`` and
``tests/oracle``.
"""

import re
from pathlib import Path

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.schemes import all_schemes
from tests.capabilities import PAGE, label, options

from .columns import COLUMNS

FIELDS = (Path(__file__).parents[2] / "docs" / "reference" / "fields.md").read_text()


def test_sql_is_tested_with_columns_of_every_scheme():
    in_columns = {field.scheme for field in (*COLUMNS, LexicalSequenceField())}
    lacking = {scheme.name for scheme in all_schemes() if scheme not in in_columns}
    assert lacking == set()


def test_every_column_is_in_the_table_of_engines():
    lines = PAGE.read_text().splitlines()
    lists = dict(each[3:].split("`: ", 1) for each in lines if each.startswith("- `"))
    rows = {each.split("` | ")[0] for each in lines}
    for field in COLUMNS:
        of_field = lists.get(type(field).__name__, "").split(", `")
        listed = {each.removesuffix("`") for each in of_field}
        shown = options(label(field)).strip("`")
        assert shown in listed or f"| `{label(field)}" in rows, label(field)


def test_the_page_of_fields_says_how_to_get_every_scheme():
    """Its field and, where it is one of several, the option that chooses it."""
    chosen = {field.scheme: field for field in (*COLUMNS, LexicalSequenceField())}
    for scheme in all_schemes():
        field = chosen[scheme]
        words = [type(field).__name__, *map(str, field._options.values())]
        missing = [word for word in words if not re.search(rf"\b{word}\b", FIELDS)]
        assert missing == [], scheme.name
