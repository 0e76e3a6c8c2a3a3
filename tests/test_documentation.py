"""Everything that README.md and docs/ show is run as a reader sees it, each page in a new project.

A page is read from top to bottom, without its HTML comments. Its fenced blocks are steps:

- ``python`` that begins with ``# path.py`` is that file from now on; with ``# added to path.py`` it
  is the end of it, and so is every ``# settings.py``;
- other ``python`` is a snippet for ``manage.py shell``;
- ``sh`` are commands, each of which must succeed;
- ``text`` after either of them is all that it printed; a line ``...`` stands for omitted lines.
  Other ``text`` is a drawing;
- ``ini`` and ``yaml`` are files where they begin with ``# path``.

The project is that of the quickstart's first section. A page that links to this section starts
with its settings, any other shows its own. Steps between two files are commands of one process,
which has read the files as they are.
"""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import call_command

from django_sortable_ids import checks, conf, fields, schemes
from django_sortable_ids.fields import options
from django_sortable_ids.fields.storage import storage_names
from django_sortable_ids.management import arguments
from tests import documented_messages
from tests.backfill import own_project
from tests.benchmarks import graphs
from tests.combinations import in_one_case
from tests.field_classes import CLASSES
from tests.schemes import odds

ROOT = Path(__file__).parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}
RUN = ("python", "sh", "text", "ini", "yaml")
MANAGE = """
import importlib
import json
import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
for arguments in json.loads(sys.argv[1]):
    importlib.invalidate_caches()
    print(end="\\0", flush=True)
    execute_from_command_line(["manage.py", *arguments])
"""
"""A ``manage.py`` that runs several commands, with a NUL before the output of each."""
QUICKSTART = "docs/quickstart.md"
START = "quickstart.md#an-empty-project"
"""What a page links to if it starts from the project of the quickstart."""
IN_THE_PROJECT = ("python -m venv", "django-admin startproject", "python manage.py startapp")
"""Commands that have created the project before its pages are read."""
OWN_USERS = "AUTH_USER_MODEL"
"""What a page sets that can't start with the tables of Django's users."""
IN_OTHER_ENVIRONMENTS = {"django-ninja": "ninja"}
"""What `tox -e ecosystem` installs, and the module of it: elsewhere, these pages are not run."""
DIRECTIVES = ("{toctree}", "{eval-rst}", "{include}")
MOST_LINES_OF_THE_README = 130


class Block(NamedTuple):
    language: str
    text: str

    @property
    def path(self) -> tuple[bool, str] | None:
        """Whether it is added to a file, and which file it is."""
        found = re.match(r"# (added to )?(\S+\.(?:py|ini|yaml))\n", self.text)
        return (bool(found[1]) or found[2] == "settings.py", found[2]) if found else None


def blocks(page: str) -> list[Block]:
    text = re.sub(r"<!--.*?-->", "", PAGES[page], flags=re.DOTALL)
    found = re.findall(r"^( *)```(\S*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    return [
        Block(language, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        for indent, language, text in found
    ]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an empty app, as the quickstart creates it, with the tables of other apps."""
    folder = tmp_path_factory.mktemp("template")
    call_command("startproject", "project", folder)
    (folder / "shop").mkdir()
    call_command("startapp", "shop", folder / "shop")
    (folder / "manage.py").write_text(MANAGE)
    with (folder / "project" / "settings.py").open("a") as file:
        # Nothing here must survive a power cut, and hundreds of commits wait for the disk.
        file.write('DATABASES["default"]["OPTIONS"] = {"init_command": "PRAGMA synchronous=OFF"}\n')
    _manage(folder, [["migrate", "-v0"]])
    return folder


def first_settings() -> str:
    return next(b.text for b in blocks(QUICKSTART) if b.path == (True, "settings.py"))


def _manage(folder: Path, commands: list[list[str]]) -> list[str]:
    """Run commands that must succeed; what each of them printed."""
    done = own_project.manage(folder, json.dumps(commands))
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
    return done.stdout.split("\0")[1:]


class Reader:
    """Does what a page says."""

    def __init__(self, folder: Path, page: str) -> None:
        self.folder = folder
        self.settings = folder / "project" / "settings.py"
        self.waiting: list[list[str]] = []
        self.printed: str | None = None
        """What the last step printed, until it is compared."""
        self.last = 0
        """How many of the commands that wait are of the last block."""
        if START in PAGES[page]:
            self._add(self.settings, first_settings())

    def do(self, block: Block) -> None:
        if block.language == "text":
            self._compare(block.text)
        elif block.path:
            self.run()
            self._write(*block.path, block.text)
        elif block.language == "python":
            self.waiting.append(["shell", "-v0", "-c", block.text])
            self.last, self.printed = 1, ""
        elif block.language == "sh":
            self.last, self.printed = 0, ""
            for line in block.text.splitlines():
                words = shlex.split(line, comments=True)
                if "pip install" in line or line.startswith(IN_THE_PROJECT):
                    continue  # see the tests of what is installed
                if words[:2] == ["python", "manage.py"] and "||" not in words:
                    self.waiting.append(words[2:])
                    self.last += 1
                else:
                    self.run()
                    self.printed += self._shell(line)
            if not self.printed and not self.waiting:
                self.printed = None  # such as `rm`

    def run(self) -> None:
        """Run the commands that wait."""
        if self.waiting:
            printed = _manage(self.folder, self.waiting)
            assert len(printed) == len(self.waiting)
            last = printed[len(printed) - self.last :]
            self.printed = (self.printed or "") + "".join(last)
            self.waiting, self.last = [], 0

    def _write(self, adds: bool, name: str, text: str) -> None:
        path = self.settings if name == "settings.py" else self.folder / name
        path.parent.mkdir(exist_ok=True)
        if adds:
            self._add(path, text)
        else:
            path.write_text(text)
        self.printed = None

    def _add(self, path: Path, text: str) -> None:
        with path.open("a") as file:
            file.write(f"\n{text}")

    def _shell(self, line: str) -> str:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST", "DJANGO"))
        }
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        environment["PYTHONPATH"] = str(ROOT)
        # As people have it.
        line = line.replace("python manage.py", "django-admin")
        environment |= {"DJANGO_SETTINGS_MODULE": "project.settings"}
        environment["PYTHONPATH"] += f":{self.folder}"
        # On a terminal, which a pipe is not, output and errors come in their order.
        environment["PYTHONUNBUFFERED"] = "1"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}"
        return done.stdout

    def _compare(self, expected: str) -> None:
        self.run()
        if self.printed is None:
            return
        # The size of the database depends on the versions of SQLite and Django, times on the load.
        printed, expected = (
            re.sub(r"\d+ kB", "N kB", re.sub(r"\b0:\d\d( to 0:\d\d)?", "0:00", text))
            for text in (self.printed.strip("\n"), expected)
        )
        pattern = "".join(
            r"(?:.*\n)*?" if line.strip() == "..." else f"{re.escape(line)}\n"
            for line in expected.splitlines()
        )
        found = re.fullmatch(pattern, f"{printed}\n")
        assert found, f"expected:\n{expected}\nprinted:\n{printed}"
        self.printed = None


@pytest.mark.parametrize(
    "page", [each for each in PAGES if {"python", "sh"} & {b.language for b in blocks(each)}]
)
def test_a_page_does_what_it_says(page: str, template: Path, tmp_path: Path) -> None:
    for package, module in IN_OTHER_ENVIRONMENTS.items():
        if f"pip install {package}\n" in PAGES[page]:
            pytest.importorskip(module)
    folder = tmp_path / "site"
    shutil.copytree(template, folder)
    if OWN_USERS in PAGES[page]:
        (folder / "db.sqlite3").unlink()
    reader = Reader(folder, page)
    for block in blocks(page):
        reader.do(block)
    reader.run()


@in_one_case("page", PAGES)
def test_no_block_is_left_out(page: str) -> None:
    fences = re.findall(r"^ *```(.*)$", PAGES[page], re.MULTILINE)
    assert {*fences[::2]} <= {
        *RUN,
        *(f for f in fences if f.split()[:1] and f.startswith(DIRECTIVES)),
    }
    assert not any(fences[1::2]), "a fence that doesn't end"


def sh_lines() -> Iterator[str]:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "sh":
                yield from block.text.splitlines()


def test_what_is_installed_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    others = {re.split(r"[\[<>=;]", each)[0] for extra in extras for each in extra}
    others |= {*IN_OTHER_ENVIRONMENTS}
    installed = [line for line in sh_lines() if "pip install" in line]
    assert len(installed) >= 5
    for line in installed:
        if {*line.removeprefix("pip install ").split()} <= others:
            continue
        name, in_brackets = r"([\w.-]+?)", r"(?:\[(\w+)\])?"
        pattern = rf"pip install (?:-e )?'?{name}{in_brackets}'?(?: |$)"
        what, extra = re.findall(pattern, line)[0]
        assert what in (project["name"], "."), line
        assert not extra or extra in project["optional-dependencies"], line


def test_the_commands_of_the_first_screen_install_what_they_run() -> None:
    demo, tests = (
        line
        for block in blocks("README.md")
        for line in block.text.splitlines()
        if block.language == "sh" and ".venv" in line
    )
    assert "'.[example]'" in demo
    assert (ROOT / "example_project" / "manage.py").exists()
    assert demo.endswith("example_project/manage.py demo")
    assert tests.endswith("pip install -e '.[test]' && .venv/bin/pytest")


def test_the_readme_is_short_and_leads_to_the_pages() -> None:
    text = PAGES["README.md"]
    assert len(text.splitlines()) <= MOST_LINES_OF_THE_README
    links = re.findall(r"\]\(([^)#]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"", text)
    local = [a or b for a, b in links if "://" not in (a or b)]
    assert len(local) > 20
    assert [each for each in local if not (ROOT / each).exists()] == []


def test_the_page_of_the_built_wheel_has_no_relative_link(tmp_path: Path) -> None:
    """PyPI shows it where no file of the repository is."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        (name,) = (each for each in file.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = file.read(name).decode()
    assert "\nDescription-Content-Type: text/markdown\n" in metadata
    page = metadata.split("\n\n", 1)[1]
    assert page.startswith(PAGES["README.md"].split("<picture>")[0])
    links = re.findall(r"\]\(([^)]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", page)
    assert [a or b for a, b in links if not (a or b).startswith("https://")] == []


def table_rows(page: str, name: str) -> list[list[str]]:
    table = PAGES[page].split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    return [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table.strip().splitlines()[2:]
    ]


FIELDS = table_rows("docs/reference/fields.md", "schemes")


def test_every_field_is_in_the_table() -> None:
    named = {field_class.__name__ for field_class in CLASSES}
    assert {row[0] for row in FIELDS} == named
    documented = re.findall(
        r"autoclass:: (?:\S+\.)?(\w+Field)\(", PAGES["docs/reference/fields.md"]
    )
    assert named <= {*documented}


def last_year(scheme: schemes.TimeScheme) -> int:
    """The last year of ids that their column holds: a bigint has 63 bits without its sign."""
    return scheme.latest.year


@in_one_case("row", FIELDS)
def test_the_table_of_schemes_is_true(row: list[str]) -> None:
    name, _, value_type, example, tick, until = row
    scheme = getattr(fields, name)().scheme
    assert value_type.removeprefix("uuid.") == scheme.value_type.__name__
    assert scheme.parse(example) == scheme.example
    if isinstance(scheme, schemes.TimeScheme):
        amount, unit = tick.split()
        nanoseconds = {"ns": 1, "ms": 1_000_000, "s": 1_000_000_000}[unit]
        assert float(amount) * nanoseconds == scheme.tick_ns
        assert until == str(last_year(scheme))
    else:
        assert (tick, until) == ("-", "-")


def lists_by_field(page: str, heading: str) -> dict[str, set[str]]:
    """What a table says of the fields in its first cells: the words in code of the second."""
    table = PAGES[page].split(f"\n| {heading} |")[1].split("\n\n")[0]
    found = {}
    for line in table.splitlines()[2:]:
        names, words = line.strip("|").split("|")
        for name in re.findall(r"`(\w+Field)`", names):
            found[name] = {*re.findall(r"`\"?(\w+)\"?`", words)}
    return found


def test_the_table_of_storages_is_true() -> None:
    listed = lists_by_field("docs/reference/fields.md", "Fields | `storage`")
    for name, *_ in FIELDS:
        names = {*storage_names(getattr(fields, name)().scheme)}
        assert listed.get(name, {"integer"}) == names, name


def test_the_list_of_encodings_is_true() -> None:
    listed = lists_by_field("docs/how-to/public-text.md", "Field | Encodings")
    listed["CombV13UUIDField"] |= listed["UUIDv7Field"]
    for name, *_ in FIELDS:
        scheme = getattr(fields, name)().scheme
        others = {*scheme.encodings} - {scheme.public_encoding or scheme.encodings[0]}
        assert listed.get(name, set()) == others, name


@in_one_case("row", table_rows("docs/how-to/public-text.md", "encodings"))
def test_the_table_of_encodings_is_true(row: list[str]) -> None:
    definition, shown, sorts = row
    field = eval(definition, vars(fields))
    scheme = field.scheme
    assert field.public_text.format(scheme.example) == shown
    # Of the same tick, and of ticks up to a life apart.
    start, below = datetime(2012, 1, 1, tzinfo=UTC), random.Random(1).randrange
    times = [
        start + timedelta(seconds=below(most)) for most in (1, 3600, 10**9) for _ in range(100)
    ]
    ids = sorted(scheme.generate(at) for at in times)
    texts = [field.public_text.format(each) for each in ids]
    by_bytes = texts == sorted(texts)
    in_any_case = [each.lower() for each in texts] == sorted(each.lower() for each in texts)
    expected = "in any case" if by_bytes and in_any_case else "byte by byte" if by_bytes else "no"
    assert sorts.startswith(expected)


def test_the_odds_of_a_collision_are_those_of_the_generators() -> None:
    page = "docs/reasons/collisions.md"
    table = PAGES[page].split("<!-- odds -->")[1].split("<!-- /odds -->")[0]
    by_values = odds.by_values().items()
    measured = [row[3] for row in table_rows(page, "odds")]
    assert table.strip().splitlines()[2:] == [
        odds.line(names, *numbers, found)
        for (numbers, names), found in zip(by_values, measured, strict=True)
    ]
    for (values, _), found in zip(odds.by_values(), measured, strict=True):
        how_often, _, pairs = found.partition(" in " if found.startswith("1") else " of ")
        if how_often == "1":
            assert int(pairs.replace(",", "")) == pytest.approx(values, rel=0.05)
        else:
            assert float(pairs) < values / 1000


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if "{eval-rst}" in text])
def test_a_page_says_in_which_module_its_docstrings_are(page: str) -> None:
    """In a clone, and on a forge, a reader sees directives only."""
    before = PAGES[page].partition("```{eval-rst}")[0]
    assert "docstrings" in before.splitlines()[-2]


def test_the_page_of_errors_has_every_message() -> None:
    """``python -m tests.documented_messages`` writes it again."""
    text = documented_messages.PAGE.read_text()
    expected = documented_messages.page(text)
    assert [*unified_diff(text.splitlines(), expected.splitlines(), lineterm="", n=0)] == []
    source = "".join(Path(each.__file__).read_text() for each in (checks, options))
    assert {*re.findall(r"\b[EW]\d{3}\b", source)} <= {*re.findall(r"`([EW]\d{3})`", text)}


@in_one_case("name", graphs.GRAPHS)
def test_the_graphs_are_those_of_the_tables(name: str) -> None:
    """``python -m tests.benchmarks.graphs`` draws them again."""
    found = graphs.drawn(graphs.GRAPHS[name]())
    assert (graphs.DOCS / f"graph-{name}.svg").read_text() == found


def test_every_setting_is_in_the_table() -> None:
    rows = re.findall(
        r"^\| `([A-Z_]+)` \| `(.+?)` \|", PAGES["docs/reference/settings.md"], re.MULTILINE
    )
    defaults = {key: default for key, (default, _, _) in conf.KEYS.items()}
    assert {key: eval(default) or None for key, default in rows} == {
        key: default or None for key, default in defaults.items()
    }


def test_every_option_is_in_the_table() -> None:
    parser = ArgumentParser()
    arguments.add(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    table = PAGES["docs/reference/backfill-ids.md"]
    table = table.split("<!-- options -->")[1].split("<!-- /options -->")[0]
    first_cells = "".join(line.split("|")[1] for line in table.strip().splitlines()[2:])
    assert {*re.findall(r"--[a-z-]+", first_cells)} == options - {"-h", "--help"}


def test_the_numbers_of_workers_are_true() -> None:
    text = re.sub(r"\s+", " ", PAGES["docs/how-to/worker-numbers.md"])
    found = re.search(
        r"([\d,]+) for `SnowflakeField` and `TSIDField`, ([\d,]+) for `Sonyflake", text
    )
    assert found
    shown = [int(each.replace(",", "")) for each in (found[1], found[1], found[2])]
    of = (fields.SnowflakeField, fields.TSIDField, fields.SonyflakeField)
    assert shown == [each().scheme.layout.workers for each in of]
