"""Killed again and again while others write; ``python -m tests.crashes`` does it 100 times."""

import subprocess
import sys

import pytest
from django.db import connection

from tests.crashes.crash import crash, not_unique
from tests.servers import UNAVAILABLE
from tests.support import ROOT


@pytest.mark.usefixtures("transactional_db")
def test_killed_under_live_writers():
    found = crash("uuid7", "test uuid7", most_kills=2, writers=2)
    assert found.problems == []
    assert found.kills > 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the others have one way")
@pytest.mark.usefixtures("transactional_db")
def test_killed_while_neighbours_are_written_apart():
    with not_unique("uuid7"):
        found = crash("uuid7", "test apart", most_kills=2, writers=2)
    assert found.problems == []
    assert found.kills > 0


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server to kill")
def test_the_server_is_killed_under_live_writers():
    """One that is started for it; the backfill and the writers go on when it is there again."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.crashes", "--runs=1", "--most-kills=2", "--kill-server"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if run.returncode == UNAVAILABLE:
        pytest.skip(run.stdout)
    assert run.returncode == 0, run.stdout
    assert "1 runs with 2 kills" in run.stdout
