"""The cluster, with a database that has the tables of ``tests.cluster``."""

import os
import subprocess
import sys

import pytest

from tests.migrations.conftest import depot  # noqa: F401
from tests.patience import wait_until
from tests.support import ROOT

from .nodes import Node
from .writers import environment


@pytest.fixture(scope="session")
def cluster() -> list[Node]:
    assert "GALERA_NODES" in os.environ, "run it with: .ci/engine galera10.11 pytest -n 0 -m galera"
    nodes = [Node(number) for number in (1, 2, 3)]
    nodes[0].ask("CREATE DATABASE sortable_ids")
    subprocess.run(
        [sys.executable, "-m", "django", "migrate", "--run-syncdb", "--verbosity=0"],
        cwd=ROOT,
        env=environment(nodes[0]),
        check=True,
    )
    return nodes


@pytest.fixture
def nodes(cluster: list[Node]) -> list[Node]:
    """All of them take part, whatever a test before this one did."""
    wait_until(lambda: all(node.takes_part() for node in cluster), "all nodes take part")
    return cluster
