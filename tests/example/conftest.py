from collections.abc import Iterator
from pathlib import Path

import pytest

from . import data
from .browsing import Browser, opened
from .support import Demo, Visitor


@pytest.fixture(scope="session")
def csv_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data.write(tmp_path_factory.mktemp("data"))


@pytest.fixture
def demo(tmp_path: Path, csv_files: Path) -> Demo:
    """A demo that nobody has run yet."""
    return Demo(tmp_path / "flights.sqlite3", csv_files)


@pytest.fixture(scope="session")
def served_demo(tmp_path_factory: pytest.TempPathFactory, csv_files: Path) -> Demo:
    """The demo that ``host`` serves."""
    return Demo(tmp_path_factory.mktemp("served") / "flights.sqlite3", csv_files)


@pytest.fixture(scope="session")
def host(served_demo: Demo) -> Iterator[str]:
    with served_demo.served() as host:
        yield host


@pytest.fixture
def visitor(host: str) -> Visitor:
    return Visitor(host)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with opened(tmp_path) as browser:
        yield browser
