"""mypy and pyright on the files beside this one, and what their types are at runtime."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def run(*command):
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True
    )


def marked(checker):
    """The lines that are errors for this type checker: ``# error``, or ``# error: mypy``."""
    mark = re.compile(rf"# error(: {checker})?$")
    lines = enumerate((HERE / "wrong.py").read_text().splitlines(), 1)
    return {("wrong.py", number) for number, line in lines if mark.search(line)}


def files(*names):
    return [str((HERE / name).relative_to(ROOT)) for name in names]


@pytest.mark.types
def test_mypy():
    config = files("mypy.ini")[0]
    checked = files("right.py", "with_plugin.py", "wrong.py")
    done = run("mypy", "--config-file", config, "--no-pretty", *checked)
    assert done.returncode == 1, done.stdout + done.stderr
    errors = re.findall(r"^(.+?):(\d+): error: ", done.stdout, re.MULTILINE)
    found = {(os.path.relpath(ROOT / path, HERE), int(line)) for path, line in errors}
    assert found == marked("mypy"), done.stdout


@pytest.mark.types
def test_pyright():
    checked = files("models.py", "right.py", "wrong.py")
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, *checked)
    assert done.returncode == 1, done.stdout + done.stderr
    found = {
        (os.path.relpath(each["file"], HERE), each["range"]["start"]["line"] + 1)
        for each in json.loads(done.stdout)["generalDiagnostics"]
    }
    assert found == marked("pyright"), done.stdout
