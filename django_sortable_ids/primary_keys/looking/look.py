"""Looks everywhere."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ..changes import Change
from . import settings, templates, urls, values
from .code import Code
from .files import python_files, template_files
from .finding import ADVICE, Finding
from .names import Names
from .rules.sql import Statements


def look(connection: Any, change: Change) -> list[Finding]:
    """The findings for a planned change, by kind and place. Reads source files and a few rows of
    each table, and writes nothing."""
    names = Names([each.label for each in change.keys])
    kinds = {each.label: each.after.scheme.value_type for each in change.keys}
    without_number = Names([label for label, kind in kinds.items() if kind is not int])
    code = Code(names, without_number, UUID in kinds.values(), Statements(change))
    files = python_files(names)
    found = [
        *urls.found(without_number, files),
        *(each for file in files for each in code.found(file)),
        *(each for file in template_files(names) for each in templates.found(file, without_number)),
        *settings.found(names, files),
        *values.found(connection, change, names),
    ]
    order = list(ADVICE)
    return sorted(set(found), key=lambda each: (order.index(each.kind), each))
