"""Random draws are the same in each run of a test, in its processes too."""

import os
import subprocess
import sys

from tests.random_sources import Source

DRAW = [sys.executable, "-c", "import os, uuid; print(os.urandom(9), uuid.uuid4())"]


def drawn():
    return subprocess.run(DRAW, capture_output=True, text=True, check=True).stdout


def forked():
    read, write = os.pipe()
    if not (child := os.fork()):
        os.write(write, os.urandom(9))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        return file.read()


def test_processes_draw_the_same_in_each_run_and_not_what_others_draw():
    runs = []
    for _ in range(2):
        os.urandom.start("a test")
        runs.append([drawn(), drawn(), forked(), forked(), os.urandom(9)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == len(runs[0])
    assert isinstance(os.urandom, Source)
