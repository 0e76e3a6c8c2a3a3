"""gunicorn with ``preload_app``: its workers are forks of one process that has made ids."""

import json
import os
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path

import pytest

from tests.patience import PATIENCE

pytest.importorskip("gunicorn")

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def gunicorn(application, environment=os.environ):
    """The port, and the process, of a gunicorn with two preloaded workers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, number = listening.getsockname()[1], listening.fileno()
        patience = [f"--timeout={PATIENCE}", f"--graceful-timeout={PATIENCE}"]
        arguments = ["--preload", "--workers=2", f"--bind=fd://{number}", "--log-level=error"]
        command = [sys.executable, "-m", "gunicorn", *arguments, *patience, application]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[number])
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture
def server():
    with gunicorn("tests.schemes.preloaded") as (port, _):
        yield port


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


def test_preloaded_workers_make_ids_of_their_own(server):
    answers = answers_of_both(server)
    assert len({each["process"] for each in answers}) == 2
    for number, before in enumerate(answers[0]["before"]):
        made = [*before, *chain.from_iterable(each["made"][number] for each in answers)]
        assert len(set(made)) == len(made)
