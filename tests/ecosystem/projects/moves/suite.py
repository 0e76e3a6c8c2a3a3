"""The tests of a project whose keys were moved, with all migrations."""

from __future__ import annotations

from collections.abc import Sequence

from ..environment import WORK, apply
from ..suite import Results, execute, read
from .checkout import Checkout


def results(checkout: Checkout, arguments: Sequence[str]) -> Results:
    """Of the tests in the edited sources, to which the project's own edits are applied: those for
    keys that are no numbers. ``arguments`` are those of pytest."""
    project = checkout.sample.project
    apply(project, checkout.folder)
    report = WORK / "reports" / f"{checkout.name}.xml"
    report.unlink(missing_ok=True)
    arguments = ("--ds=move_settings", "-p", "move_fixtures", *arguments)
    execute(project, checkout.folder, checkout.environment, report, arguments)
    return read(report)
