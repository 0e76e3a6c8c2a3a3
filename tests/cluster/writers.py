"""Processes that write, and what they said."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

from tests.patience import PATIENCE
from tests.support import ROOT

from .nodes import Node

Row = tuple[str, int, str]
"""Id, snowflake, number."""


def environment(node: Node) -> dict[str, str]:
    return {
        **os.environ,
        "DATABASE_URL": node.url,
        "DJANGO_SETTINGS_MODULE": "tests.cluster.settings",
        "PYTHONPATH": str(ROOT),
    }


class Writer:
    """A process of ``tests.cluster.writing``, whose output is a file."""

    def __init__(self, model: str, nodes: list[Node], log: Path) -> None:
        self.nodes = nodes
        self.log = log
        with log.open("w") as output, log.with_suffix(".errors").open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.cluster.writing", model, *(n.url for n in nodes)],
                cwd=ROOT,
                env=environment(nodes[0]),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
            )

    def events(self) -> list[tuple[str, list[Row]]]:
        # The last line may not be complete yet.
        lines = self.log.read_text().split("\n")[:-1]
        return [(event, [tuple(row) for row in rows]) for event, rows in map(json.loads, lines)]

    def counts(self) -> Counter[str]:
        return Counter(event for event, _ in self.events())

    def committed(self) -> int:
        """How many of its transactions."""
        assert self.process.poll() is None, f"a writer ended too soon:\n{self.errors()}"
        return self.counts()["committed"]

    def errors(self) -> str:
        return self.log.with_suffix(".errors").read_text()

    def written(self) -> list[Row]:
        """The rows that it knows to be in the database, in its own order."""
        kept = (rows for event, rows in self.events() if event in ("committed", "found"))
        return list(chain.from_iterable(kept))

    def stop(self) -> int:
        """Its exit status."""
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
