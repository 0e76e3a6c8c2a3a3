"""``--json``: one document for each mode, and for errors; whole ones are in ``test_output``."""

import json
import signal
import subprocess
from io import StringIO

import pytest
from django.core.management import call_command

from tests.support import ROOT, on_statement, raising

from .command import called
from .support import START, insert_orders

NAME = "testapp.Order.uuid7"
CREATED = "--created-from=created_at"


def document(*arguments, **options):
    text, error = called(*arguments, "--json", **options)
    found = json.loads(text)
    assert found["exit_code"] == (error.returncode if error else 0)
    assert found["error"] == (str(error) if error else None)
    return found


@pytest.mark.django_db
def test_json_counts_the_rows_that_a_policy_fills():
    insert_orders([None] * 3 + [START] * 2)
    found = document(NAME, CREATED, "--dry-run", "--on-null=now")
    assert found["rows_without_id"] == 5
    document(NAME, CREATED, "--on-null=now")
    found = document(NAME, "--verify")
    assert (found["of_rows_without_time"], found["of_another_time"]) == (3, 0)


def keys(value):
    """Of a document, and of all that is in it."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set()


@pytest.mark.django_db
def test_every_key_is_documented():
    insert_orders([START] * 3)
    documents = [
        document(*arguments)
        for arguments in (
            [NAME, CREATED, "--dry-run"],
            [NAME, CREATED],
            [NAME, "--verify"],
            ["--status"],
            [],
        )
    ]
    described = (ROOT / "docs" / "reference" / "json.md").read_text()
    assert {key for key in keys(documents) if f"`{key}`" not in described} == set()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        (["testapp.Order.nope"], "run"),
        (["testapp.Order.nope", "--verify"], "verify"),
        (["testapp.Order.nope", "--status"], "status"),
        (["testapp.Order.nope", CREATED, "--dry-run"], "plan"),
        (["--verify"], None),
    ],
)
def test_json_of_an_error(arguments, mode):
    found = document(*arguments)
    assert (found.get("mode"), found["exit_code"]) == (mode, 1 if mode else 2)


@pytest.mark.usefixtures("transactional_db")
def test_json_is_all_that_stdout_gets(command, tmp_path):
    insert_orders([START] * 40)
    path = tmp_path / "found.json"
    with path.open("w") as file:
        started = command(
            *(NAME, CREATED, "--batch-size=2", "--json"),
            stdout=file,
            stderr=subprocess.DEVNULL,
            stops_in=[2],
        )
        started.send_while_stopped(signal.SIGTERM)
        assert started.code == 143
    found = json.loads(path.read_text())
    assert (found["exit_code"], found["field"]) == (143, NAME)


@pytest.mark.django_db
def test_json_of_no_error_of_ours():
    out = StringIO()
    with on_statement("", raising(ZeroDivisionError("a bug"))), pytest.raises(ZeroDivisionError):
        call_command("backfill_ids", NAME, CREATED, "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["exit_code"], found["error"]) == (1, "a bug")
