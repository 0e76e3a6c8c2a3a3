"""The size of the house, in figures that two commits can be compared by.

    python -m tests.figures

Lines, files, functions and imports of the package and of its tests; the calls and files on the
roads of a text to its column, of a row to its id, and of a foreign key that moves, on SQLite; and
what a start of Django costs with the app and without it.
"""

import ast
import io
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "django_sortable_ids"
STARTS = 11
START = """
import sys, time
from django.conf import settings
admin = ["admin", "auth", "contenttypes", "sessions", "messages"]
apps = [f"django.contrib.{{name}}" for name in admin] + {apps}
database = {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
settings.configure(INSTALLED_APPS=apps, DATABASES={{"default": database}})
import django
before = time.process_time()
django.setup()
print(time.process_time() - before, sum(m.startswith("django_sortable_ids") for m in sys.modules))
"""


def main() -> None:
    for title, folder in (("package", PACKAGE), ("tests", ROOT / "tests")):
        print(title)
        for name, value in size(folder).items():
            print(f"  {name:<34}{value:>9,}" if isinstance(value, int) else f"  {name:<34}{value}")
    print(f"roads{'calls':>31}{'files':>7}{'folders':>9}{'changes of file':>17}")
    for title, calls in roads().items():
        files = [file for file, _ in calls]
        changes = sum(one != two for one, two in pairwise(files))
        folders = {str(Path(file).parent) for file in files}
        print(f"  {title:<27}{len(calls):>7}{len(set(files)):>7}{len(folders):>9}{changes:>17}")
    print("start")
    for title, apps in (("of admin", []), ("of admin and REST", ["rest_framework"])):
        without, with_app, modules = start(apps)
        print(
            f"  {title:<20}{without:.0f} -> {with_app:.0f} ms of CPU time (medians of {STARTS}), "
            f"{modules} modules of the app"
        )


def size(folder: Path) -> dict[str, int | str]:
    """How much there is of everything in a folder."""
    texts = [path.read_text() for path in sorted(folder.rglob("*.py"))]
    lines = [line for text in texts for line in text.splitlines()]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = [(each.end_lineno or each.lineno) - each.lineno + 1 for each in functions]
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return {
        "lines": len(lines),
        "lines without blanks and comments": len(code),
        "files": len(texts),
        "functions": len(functions),
        ".. of one statement": sum(len(_statements(each)) == 1 for each in functions),
        "lines of imports": sum(
            (n.end_lineno or n.lineno) - n.lineno + 1
            for n in nodes
            if isinstance(n, ast.Import | ast.ImportFrom)
        ),
        "characters of a line, mean": f"{statistics.mean(map(len, code)):9.1f}",
        "lines of a function, mean": f"{statistics.mean(lengths):9.1f}",
    }


def _statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Its body without the docstring."""
    return [
        each
        for each in function.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]


def roads() -> dict[str, list[tuple[str, str]]]:
    """The functions of the package that each road enters, as (file, name), in order."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import override_settings

    call_command("migrate", verbosity=0, run_syncdb=True)
    from django_sortable_ids.ids import public_id
    from tests.migrations.conftest import Depot
    from tests.primary_keys import small
    from tests.testapp.models import Order

    order = Order.objects.create(name="one", created_at=datetime.now(UTC))
    Order.objects.update(uuid7=None)

    def fill() -> None:
        arguments = "testapp.Order.uuid7", "--created-from=created_at"
        call_command("backfill_ids", *arguments, stdout=io.StringIO())

    fill()
    Order.objects.update(uuid7=None)
    found = {"row to its id": traced(fill)}
    order.refresh_from_db()
    text = public_id(order, "uuid7")
    Order.objects.get(uuid7=text)
    found["text to its column"] = traced(lambda: Order.objects.get(uuid7=text))
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        depot = Depot(Path(folder))
        with override_settings(INSTALLED_APPS=["django_sortable_ids", "depot"]):
            small.create(depot)
            small.write_move(depot)
            found["foreign key that moves"] = traced(depot.migrate)
    return found


def traced(run: Callable[[], object]) -> list[tuple[str, str]]:
    """The calls into the package while a function runs once more, after a first time."""
    calls: list[tuple[str, str]] = []

    def note(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and str(PACKAGE) in code.co_filename:
            calls.append((code.co_filename.removeprefix(f"{PACKAGE}/"), code.co_qualname))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def start(apps: list[str]) -> tuple[float, float, int]:
    """CPU time (ms) of ``django.setup()`` without the app and with it, and the app's modules."""
    without, with_app, modules = [], [], 0
    for _ in range(STARTS):
        for installed, times in ((apps, without), ([*apps, "django_sortable_ids"], with_app)):
            command = [sys.executable, "-c", START.format(apps=installed)]
            output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            seconds, modules_now = output.stdout.split()
            times.append(float(seconds) * 1000)
            modules = max(modules, int(modules_now))
    return statistics.median(without), statistics.median(with_app), modules


if __name__ == "__main__":
    main()
