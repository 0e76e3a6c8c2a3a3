"""The floor plan of docs/reasons/architecture.md: rooms without circles, few layers, files of one
thing."""

import ast
import re
import subprocess
from collections import Counter, defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path

import django_sortable_ids

ROOT = Path(django_sortable_ids.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if "migrations" not in path.parts
}
TYPES_ONLY = "TYPE_CHECKING"
MOST_LINES = 29_932
MOST_FILES = 157
"""The package doesn't grow: who deletes lowers these bounds, who raises them says why."""


def imports(module):
    """The modules of the package that it imports, in functions too, but not for types only."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found, waiting = set(), [ast.parse(path.read_text())]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.If) and TYPES_ONLY in ast.unparse(node.test):
                continue
            waiting.append(node)
            if isinstance(node, ast.ImportFrom) and node.level:
                start = ".".join(package[: len(package) - node.level + 1])
                whole = f"{start}.{node.module}" if node.module else start
                names = [f"{whole}.{alias.name}" for alias in node.names]
                found.update(name if name in MODULES else whole for name in names)
    return found - {module}


@cache
def graph():
    """What each module imports; every process of xdist collects this file, and one needs it."""
    return {module: imports(module) for module in MODULES}


def room(module):
    """The folder; the core is one room, and each module at the root is one."""
    parts = module.split(".")[1:]
    if parts[:1] == ["schemes"]:
        return "schemes"
    is_folder = MODULES[module].name == "__init__.py"
    return ".".join(parts if is_folder or len(parts) == 1 else parts[:-1])


def circle(graph):
    """Names that lead back to the first one, or nothing."""
    done = set()

    def follow(name, way):
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        done.add(name)
        return next(filter(None, (follow(each, [*way, name]) for each in graph[name])), [])

    return next(filter(None, (follow(name, []) for name in sorted(graph))), [])


def test_no_module_imports_itself_through_others():
    assert circle(graph()) == []


def test_arrows_between_rooms_go_down():
    rooms = defaultdict(set)
    for module, imported in graph().items():
        rooms[room(module)] |= {room(each) for each in imported} - {room(module)}
    assert circle(defaultdict(set, rooms)) == []


def test_a_backfill_knows_no_moves():
    """Moves use backfills; what shows both is above them."""
    backfills = (imports(each) for each in MODULES if ".backfill." in each)
    assert not [each for found in backfills for each in found if ".primary_keys" in each]


def test_a_backfill_has_few_layers():
    start = "django_sortable_ids.backfill."

    @cache
    def layer(module):
        return 1 + max(
            (layer(each) for each in graph()[module] if each.startswith(start)), default=0
        )

    assert max(map(layer, (each for each in MODULES if each.startswith(start)))) <= 8


def test_folders_and_files_stay_small():
    folders = defaultdict(list)
    for path in MODULES.values():
        folders[path.parent].append(path)
        assert len(path.read_text().splitlines()) <= 400, path
    del folders[ROOT]  # the edges, which users import
    crowded = {folder.name: len(paths) for folder, paths in folders.items() if len(paths) > 13}
    assert not crowded, "twelve files, and what names the folder"


def test_the_documented_folders_import_only_those_below():
    page = (ROOT.parent / "docs/reasons/architecture.md").read_text()
    lines = page.partition("```text\n")[2].partition("```")[0].splitlines()
    places = {
        f"django_sortable_ids.{name.strip('/').replace('/', '.')}": number
        for number, line in enumerate(lines)
        for name in line[:26].split()
    }

    def place(module):
        """The line of a module; those that Django finds by name, and the root, have none."""
        while module and module not in places:
            module = module.rpartition(".")[0]
        return places.get(module)

    assert all(each in MODULES for each in places)
    folders = {".".join(each.split(".")[:2]) for each in MODULES if each.count(".") > 1}
    listed = {".".join(each.split(".")[:2]) for each in places}
    assert folders <= listed
    wrong = {
        (place(module), place(each))
        for module, imported in graph().items()
        for each in imported
        if place(module) is not None and place(each) is not None
        if place(each) < place(module)
    }
    assert not [(lines[up], lines[down]) for up, down in wrong]


def test_the_package_does_not_grow():
    files = [path.read_text().splitlines() for path in ROOT.rglob("*.py")]
    assert sum(map(len, files)) <= MOST_LINES
    assert len(files) <= MOST_FILES


def test_no_two_public_classes_have_one_name():
    names = "fields ids functions admin rest_framework filters operations old_ids schemes testing"
    modules = [import_module(f"django_sortable_ids.{name}") for name in names.split()]
    exported = (getattr(module, name) for module in modules for name in module.__all__)
    classes = {each for each in exported if isinstance(each, type)}
    assert [name for name, n in Counter(c.__name__ for c in classes).items() if n > 1] == []


def test_the_tests_that_ci_names_exist():
    root = ROOT.parent
    for program in (".ci/run", ".ci/long"):
        words = set(re.findall(r"(?<![\w.])tests/[\w{},*/.]+", (root / program).read_text()))
        command = ["bash", "-c", "ls -d " + " ".join(sorted(words))]
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert listed.stderr == "", program
