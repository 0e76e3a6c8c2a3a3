"""gunicorn with ``preload_app``: its workers are forks of one process that has made ids."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("gunicorn")

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def gunicorn(application, environment=os.environ):
    """The address, and the process, of a gunicorn with two preloaded workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*free.getsockname())
    arguments = ["--preload", "--workers=2", "--bind", address, "--log-level=error"]
    command = [sys.executable, "-m", "gunicorn", *arguments, application]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    yield f"http://{address}/", process
    process.terminate()
    process.wait(20)


@pytest.fixture
def server():
    with gunicorn("tests.schemes.preloaded") as (address, _):
        yield address


def answer(url):
    deadline = time.monotonic() + 20
    while True:
        try:
            with urlopen(url, timeout=20) as response:
                return json.load(response)
        except (ConnectionError, URLError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_preloaded_workers_make_ids_of_their_own(server):
    answers = []
    while len({each["process"] for each in answers}) < 2 and len(answers) < 100:
        answers.append(answer(server))
    assert len({each["process"] for each in answers}) == 2
    for number, before in enumerate(answers[0]["before"]):
        made = [*before, *chain.from_iterable(each["made"][number] for each in answers)]
        assert len(set(made)) == len(made)
