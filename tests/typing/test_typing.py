"""mypy and pyright on the files beside this one, and what their types are at runtime."""

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from django_sortable_ids import schemes
from django_sortable_ids.fields import SortableIntegerField, SortableTextField, SortableUUIDField
from tests.combinations import in_one_case
from tests.field_classes import CLASSES

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BASES = {str: SortableTextField, int: SortableIntegerField, uuid.UUID: SortableUUIDField}
CONCRETE = CLASSES


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


@in_one_case("field_class", CONCRETE)
def test_declared_type_is_that_of_the_scheme(field_class):
    value_type = schemes.get(field_class.scheme_name).value_type
    assert [each for each in BASES if issubclass(field_class, BASES[each])] == [value_type]
