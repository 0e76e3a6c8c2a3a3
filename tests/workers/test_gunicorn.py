"""gunicorn with ``preload_app``: its workers are forks of a process that has made ids and leased a
worker number."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from itertools import chain

import pytest

from django_sortable_ids.models import WorkerLease
from tests.backfill.command import environment
from tests.marks import own_tables
from tests.patience import PATIENCE
from tests.support import ROOT

pytest.importorskip("gunicorn")
pytestmark = own_tables


@pytest.fixture
def server():
    """The port, and the process, of a gunicorn with two preloaded workers."""
    leasing = environment({"SORTABLE_IDS": {"WORKER": "lease", "WORKER_LEASE_SECONDS": 3600}})
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, number = listening.getsockname()[1], listening.fileno()
        patience = [f"--timeout={PATIENCE}", f"--graceful-timeout={PATIENCE}"]
        arguments = ["--preload", "--workers=2", f"--bind=fd://{number}", "--log-level=error"]
        command = [sys.executable, "-m", "gunicorn", *arguments, *patience]
        process = subprocess.Popen(
            [*command, "tests.workers.preloaded"],
            cwd=ROOT,
            env={**os.environ, **leasing},
            pass_fds=[number],
        )
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answers_of_both(port):
    """At least one of each worker.

    The worker that takes the first connection waits for its request, so that the other worker takes
    the second one.
    """
    with closing(connected(port)) as first, closing(connected(port)) as second:
        return [answer(each) for each in (second, first, second)]


def connected(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.connect()
    return connection


def answer(connection):
    connection.request("GET", "/")
    return json.load(connection.getresponse())


def test_every_worker_makes_ids_of_its_own_and_gives_its_number_back(server):
    port, process = server
    answers = answers_of_both(port)
    assert len({(each["process"], each["number"]) for each in answers}) == 2
    assert {each["number"] for each in answers} == {1, 2}
    for source, before in enumerate(answers[0]["before"]):
        made = [*before, *chain.from_iterable(each["made"][source] for each in answers)]
        assert len(set(made)) == len(made)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    kept = WorkerLease.objects.values_list("number", "token")
    assert sorted(kept) == [(0, ""), (1, ""), (2, "")]
