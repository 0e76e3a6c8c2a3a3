"""Random rows of every kind of reference are moved there and back; and ``migrate`` is killed at
random instants of such moves, or its server is. ``python -m tests.key_moves`` does both more often.
"""

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.servers import UNAVAILABLE
from tests.support import ROOT

EXAMPLES = os.environ.get("KEY_MOVES_EXAMPLES", "1")
"""Each takes a second or two, on servers several: .ci/long tries more."""
KILLS = os.environ.get("KEY_MOVES_KILLS", "1")
SEED = os.environ.get("KEY_MOVES_SEED", "16")
SERVER = pytest.param(
    "--kill-server",
    marks=pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server to kill"),
)


def key_moves(*arguments):
    """What it prints, in a process with a project and a database of its own."""
    command = [sys.executable, "-m", "tests.key_moves", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode == UNAVAILABLE:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_random_rows_are_the_same_after_moves_there_and_back():
    assert f"{EXAMPLES} graphs moved" in key_moves("rows", "--runs", EXAMPLES)


@pytest.mark.parametrize("options", [pytest.param("", id="client"), SERVER])
def test_killed_moves_are_completed_or_undone(options):
    """The output names the seed."""
    printed = key_moves("kills", f"--runs={KILLS}", f"--seed={SEED}", *options.split())
    assert f"{KILLS} kills of " in printed
