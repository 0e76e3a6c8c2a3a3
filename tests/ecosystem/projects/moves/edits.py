"""Edits models as ``backfill_ids APPS --primary-key --json`` prints it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Any


def apply(edits: list[dict[str, Any]]) -> None:
    """Insert the lines of each edit, and the imports that it needs."""
    by_file = defaultdict(list)
    for each in edits:
        by_file[Path(each["file"])].append(each)
    for file, found in by_file.items():
        lines = file.read_text().splitlines()
        start = _first_import(file)
        for each in sorted(found, key=lambda each: -each["line"]):
            lines[each["line"] - 1 : each["line"] - 1] = each["text"]
        lines[start:start] = sorted({needed for each in found for needed in each["needs"]})
        file.write_text("\n".join([*lines, ""]))


def _first_import(file: Path) -> int:
    """The number of lines before it."""
    for each in ast.parse(file.read_text()).body:
        if isinstance(each, ast.Import | ast.ImportFrom) and _module(each) != "__future__":
            return each.lineno - 1
    return 0


def _module(found: ast.Import | ast.ImportFrom) -> str | None:
    return found.module if isinstance(found, ast.ImportFrom) else None
