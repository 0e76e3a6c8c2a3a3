"""What is registered, and what the documentation says of it."""

import re
import tomllib
from pathlib import Path

import guardian.shortcuts
import pytest

from django_sortable_ids import apps

ROOT = Path(__file__).parents[2]


def test_an_unknown_release_is_a_warning_and_not_the_end(monkeypatch):
    before = guardian.shortcuts.filter_perms_queryset_by_objects
    monkeypatch.delattr(guardian.shortcuts, "_handle_pk_field")
    with pytest.warns(RuntimeWarning, match="this release of guardian"):
        apps._adapt_packages({"guardian.shortcuts": apps._PACKAGES["guardian.shortcuts"]})
    assert guardian.shortcuts.filter_perms_queryset_by_objects is before


def test_the_table_has_the_packages_that_are_tested():
    page = (ROOT / "docs/reference/other-packages.md").read_text()
    table = page.split("<!-- packages -->")[1].split("<!-- /packages -->")[0]
    documented = set(re.findall(r"^\| ([a-z0-9-]+) \| [0-9.]+ \|", table, re.MULTILINE))
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    tested = {re.match("[a-z0-9-]+", each)[0] for name in groups for each in groups[name]}
    assert documented == tested | {"pydantic"}
