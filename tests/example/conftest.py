from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import data
from .support import Demo, Visitor

if TYPE_CHECKING:
    from .browsing import Browser


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests in a browser are collected if they are run: to import Selenium takes a while."""
    with_selenium = ("test_accessibility.py", "test_browser.py")
    skipped = "not browser" in config.option.markexpr
    return True if skipped and collection_path.name in with_selenium else None


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
def browser(tmp_path: Path) -> "Iterator[Browser]":
    from .browsing import opened

    with opened(tmp_path) as browser:
        yield browser
