"""What each column can do on each engine: noted by the tests that prove it.

``pytest --capabilities FOLDER`` writes down what passed, a file for each engine, and
``python -m tests.capabilities FOLDER`` makes the table of docs/reference/engines.md of these files.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from django.db import connection

CAPABILITIES = {"keeps": "K", "finds": "F", "reads": "R", "makes": "M"}
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "engines.md"
MARKS = ("<!-- capabilities -->\n", "<!-- /capabilities -->")


def label(field: Any) -> str:
    """A field as code, with what shapes its column."""
    options = {**field.scheme_arguments, **({"storage": field.storage} if field.storage else {})}
    arguments = ", ".join(
        f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}"
        for key, value in options.items()
    )
    return f"{type(field).__name__}({arguments})"


def options(label: str) -> str:
    """What stands for the column in the list of its field."""
    arguments = label.partition("(")[2].removesuffix(")")
    return f"`{arguments}`" if arguments else "without options"


def engine() -> str:
    """The database under test: "PostgreSQL 15"."""
    if connection.vendor == "sqlite":
        return "SQLite"
    is_mariadb = connection.vendor == "mysql" and connection.mysql_is_mariadb
    name = "MariaDB" if is_mariadb else connection.display_name
    version = connection.get_database_version()[: 2 if is_mariadb else 1]
    return f"{name} {'.'.join(map(str, version))}"


class Recorder:
    """A plugin that collects what passed tests have noted, from all processes of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[str, dict[str, dict[str, bool]]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" or not report.passed:
            return
        for key, note in report.user_properties:
            if key == "capability":
                of_engine = self.found.setdefault(note["engine"], {})
                of_engine.setdefault(note["column"], {})[note["capability"]] = note["has"]

    def pytest_sessionfinish(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, found in self.found.items():
            file = self.folder / f"{name.replace(' ', '-')}.json"
            file.write_text(json.dumps({"engine": name, "columns": found}))


def table(folder: Path) -> Iterator[str]:
    """The lines of the page: a list of the columns that can do everything everywhere, and a table
    of the others with an engine in each column of it."""
    results = [json.loads(file.read_text()) for file in folder.glob("*.json")]
    results.sort(key=lambda result: (result["engine"] != "SQLite", result["engine"]))
    engines = [result["engine"] for result in results]
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for result in results:
        for column, found in result["columns"].items():
            cells[column][result["engine"]] = " ".join(
                letter if found[name] else "-"
                for name, letter in CAPABILITIES.items()
                if name in found
            )
    whole = " ".join(CAPABILITIES.values())
    others = [each for each in cells if {cells[each].get(name) for name in engines} != {whole}]
    for name, columns in groupby(sorted({*cells} - {*others}), lambda each: each.partition("(")[0]):
        yield f"- `{name}`: {', '.join(map(options, columns))}"
    yield from ("", f"| | {' | '.join(engines)} |", "|---" * (len(engines) + 1) + "|")
    for column in sorted(others):
        yield f"| `{column}` | {' | '.join(cells[column].get(name, '') for name in engines)} |"


def main(folder: Path) -> None:
    before, rest = PAGE.read_text().split(MARKS[0])
    _, after = rest.split(MARKS[1])
    lines = "".join(f"{line}\n" for line in table(folder))
    PAGE.write_text(before + MARKS[0] + lines + MARKS[1] + after)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
