"""A virtual environment for each project, with its release, its tests and this package."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from .catalog import Project

ROOT = Path(__file__).parents[3]
WORK = Path(
    os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "django-sortable-ids/projects"
)
DJANGO = "django==5.2.*"
DRIVERS = ("psycopg[binary]>=3.2", "mysqlclient>=2.2")


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with those that every command here has."""
    parser.add_argument(
        "--database",
        default=os.environ.get("DATABASE_URL", ""),
        help="a URL; default: DATABASE_URL, or SQLite",
    )
    parser.add_argument(
        "--checkouts",
        type=Path,
        default=WORK / "checkouts",
        help="a folder with clones of the projects whose releases have no tests",
    )
    parser.add_argument("--reuse", action="store_true", help="read reports of earlier runs")
    parser.add_argument("--pytest", action="append", default=[], help="an argument of pytest: -n2")
    return parser.parse_args()


def python_of(project: Project) -> Path:
    """The interpreter of the project's environment, which is created if it is missing."""
    folder = WORK / f"{project.distribution}-{project.version}"
    python = folder / "bin/python"
    complete = folder / "complete"
    if not complete.exists() or complete.read_text() != str(ROOT):
        _run(sys.executable, "-m", "venv", "--clear", folder)
        requirements = (project.requirement, *project.requirements, DJANGO, *DRIVERS)
        _run(python, "-m", "pip", "install", "-q", *requirements)
        _run(python, "-m", "pip", "install", "-q", "--no-deps", "-e", ROOT)
        complete.write_text(str(ROOT))
    return python


def tests_of(project: Project, engine: str, checkouts: Path) -> Path:
    """A new folder with the tests of the release and the files of ``inside``."""
    folder = WORK / f"{project.name}-{project.version}-{engine}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(__file__).parent / "inside", folder)
    archive = _from_clone(project, checkouts) if project.tag else _from_pypi(project)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter=_only(project.files, depth=0 if project.tag else 1))
    return folder


def edit(project: Project, python: Path, folder: Path) -> None:
    """Copy the release to the folder of the tests, where Python imports it from, and edit it."""
    copy(project, python, folder)
    apply(project, folder)


def copy(project: Project, python: Path, folder: Path) -> None:
    """Copy the release to the folder of the tests."""
    packages = next((python.parent.parent / "lib").glob("python*")) / "site-packages"
    for name in {Path(each.file).parts[0] for each in project.edits}:
        shutil.copytree(packages / name, folder / name, ignore=shutil.ignore_patterns("static"))


def apply(project: Project, folder: Path) -> None:
    """Apply the edits of the project to the copy of its release."""
    for file, old, new in project.edits:
        text = (folder / file).read_text()
        if old not in text:
            sys.exit(f"{project.requirement} has no {old!r} in {file}.")
        (folder / file).write_text(text.replace(old, new))


def _only(files: tuple[str, ...], *, depth: int):
    """A filter of archives: these files and folders, which are ``depth`` folders deep."""

    def chosen(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        parts = Path(member.name).parts[depth:]
        if not parts or parts[0] not in files:
            return None
        return tarfile.data_filter(member.replace(name=str(Path(*parts))), path)

    return chosen


def _from_pypi(project: Project) -> Path:
    folder = WORK / "archives"
    pattern = f"{project.distribution.replace('-', '_')}-{project.version}.tar.gz"
    if not list(folder.glob(pattern)):
        release = f"{project.distribution}=={project.version}"
        options = ("--no-deps", "--no-binary", project.distribution, "-d", folder)
        _run(sys.executable, "-m", "pip", "download", "-q", *options, release)
    return next(folder.glob(pattern))


def _from_clone(project: Project, checkouts: Path) -> Path:
    clone = checkouts / project.distribution
    if not clone.exists():
        sys.exit(
            f"{project.distribution} has no tests in its release on PyPI, and {clone} has no clone "
            f"of its sources. Run: git clone {project.repository} {clone}"
        )
    archive = WORK / "archives" / f"{project.name}-{project.version}.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    _run("git", "-C", clone, "archive", "-o", archive, project.tag, *project.files)
    return archive


def _run(*command: object) -> None:
    subprocess.run([str(each) for each in command], check=True)
