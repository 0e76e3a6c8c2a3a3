"""Random rows of every kind of reference are moved there and back; ``python -m tests.key_moves``
moves more of them."""

import os
import subprocess
import sys

from django.db import connection

from tests.support import ROOT

EXAMPLES = os.environ.get("KEY_MOVES_EXAMPLES", "2" if connection.vendor == "sqlite" else "1")
"""Each takes a second or two, on servers several: .ci/long tries more."""


def test_random_rows_are_the_same_after_moves_there_and_back():
    """In a process with a project and a database of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.key_moves", "rows", "--runs", EXAMPLES],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert f"{EXAMPLES} graphs moved" in done.stdout
