"""``migrate`` is killed at random instants of a move, or its server is; ``python -m tests.key_moves
kills`` does it more often."""

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.servers import UNAVAILABLE
from tests.support import ROOT

KILLS = os.environ.get("KEY_MOVES_KILLS", "3")
SEED = os.environ.get("KEY_MOVES_SEED", "16")
SERVER = pytest.param(
    "--kill-server",
    marks=pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server to kill"),
)


@pytest.mark.parametrize("options", [pytest.param("", id="client"), SERVER])
def test_killed_moves_are_completed_or_undone(options):
    """In a process with a project and a database of its own; its output names the seed."""
    command = [
        sys.executable,
        "-m",
        "tests.key_moves",
        "kills",
        f"--runs={KILLS}",
        f"--seed={SEED}",
    ]
    done = subprocess.run(
        [*command, *options.split()],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode == UNAVAILABLE:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout
    assert f"{KILLS} kills of " in done.stdout
