"""``backfill_ids`` in each of its modes: which arguments go together, how much it says."""

import json
import re
import shlex
import signal
import subprocess
from datetime import UTC, date, datetime
from io import StringIO

import pytest
from django.core.management import call_command, get_commands, load_command_class

from tests.support import ROOT, on_statement, raising

from .command import called, printed
from .shop.models import BillLine
from .support import START, fill, insert, insert_orders, rows

NAME = "testapp.Order.uuid7"
CREATED = "--created-from=created_at"


# Which arguments go together

CONTRADICTIONS = [
    ["--status", "--verify"],
    ["--status", "--dry-run"],
    ["--dry-run", "--verify"],
    ["--status", "--write-migration"],
    ["--dry-run", "--write-migration"],
]


@pytest.mark.django_db
@pytest.mark.parametrize("modes", CONTRADICTIONS, ids=" ".join)
def test_two_modes_exclude_each_other(modes):
    """Of Python's call, too; what the command line refuses is in the transcripts."""
    text, error = called(NAME, **{mode[2:].replace("-", "_"): True for mode in modes})
    assert text == ""
    assert re.search("can't be combined: choose one", str(error))
    assert all(mode in str(error) for mode in modes)


CHOOSE = "invalid choice: {!r}"
WRONG_VALUES = {
    ("primary_key", "to"): ("SortableAutoField", CHOOSE),
    ("on_null",): ("ship", CHOOSE),
    ("created_at",): ("yesterday", CHOOSE),
    ("database",): ("nope", CHOOSE),
    ("batch_size",): (0, "'{}': expected a whole number of rows from 1 to 100,000"),
    ("max_rows_per_second",): (100_001, "'{}': expected a whole number of rows from 1 to 100,000"),
    ("sleep",): (-1, "'{}': expected a number of seconds, 0 or more"),
    ("allow_edited_times",): ("many", "{!r}: expected a percentage from 0 to 100"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("names", WRONG_VALUES)
def test_a_value_that_no_command_line_can_have(names):
    value, expected = WRONG_VALUES[names]
    error = called(NAME, **dict.fromkeys(names, True) | {names[-1]: value})[1]
    assert error.returncode == 2
    option = names[-1].replace("_", "-")
    assert str(error).startswith(f"argument --{option}: {expected.format(value)}")


@pytest.mark.django_db
def test_values_of_python_are_read_as_on_a_command_line(tmp_path):
    insert(BillLine, [{"id": 1, "amount": 0}, {"id": 9, "amount": 0}])
    period = {"start": date(2015, 1, 1), "end": datetime(2024, 6, 30, tzinfo=UTC)}
    pace = {"batch_size": "1", "target_time": "0.5", "pause_file": str(tmp_path / "none")}
    text, error = called("shop.BillLine.public_id", created_from="pk", **period, **pace)
    assert (error, "2 rows filled." in text) == (None, True)


def test_help_says_what_each_argument_is_and_its_examples_are_commands(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command = load_command_class(get_commands()["backfill_ids"], "backfill_ids")
    parser = command.create_parser("manage.py", "backfill_ids")
    assert [action.dest for action in parser._actions if not action.help] == []
    assert max(map(len, parser.format_help().splitlines())) <= 80
    examples = parser.format_help().partition("examples:\n")[2].partition("\nexit codes:")[0]
    commands = re.findall(r"^ +manage\.py backfill_ids(.*)$", examples.replace("\\\n", ""), re.M)
    assert len(commands) >= 8
    used = set()
    for command in commands:
        used |= {
            name
            for name, value in vars(parser.parse_args(shlex.split(command))).items()
            if value != parser.get_default(name)
        }
    wanted = "target created_from convert_from dry_run status write_migration"
    assert used >= {*wanted.split()}


# How much it says


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [[], ["--status"], [NAME, CREATED, "--dry-run"], [NAME, CREATED], [NAME, "--verify"]],
    ids=["report", "status", "plan", "run", "verify"],
)
def test_verbosity_0_says_only_what_is_wrong(arguments, capfd):
    insert_orders([START] * 3)
    fill("uuid7")
    rows("uuid7").update(uuid7=None)
    if "--verify" in arguments:
        fill("uuid7")
    assert printed(*arguments, verbosity=0) == ""
    if "--verify" in arguments:
        rows("uuid7").update(uuid7=None)
        text, error = called(*arguments, verbosity=0)
        assert (text, error.returncode) == ("", 1)
        assert str(error).startswith(f"{NAME}: 3 rows without an id. ")
    assert capfd.readouterr() == ("", "")


# ``--json``: one document for each mode, and for errors; whole ones are in ``test_output``


def document(*arguments, **options):
    text, error = called(*arguments, "--json", **options)
    found = json.loads(text)
    assert found["exit_code"] == (error.returncode if error else 0)
    assert found["error"] == (str(error) if error else None)
    return found


@pytest.mark.django_db
def test_a_run_with_nothing_to_fill_gave_no_sign_of_life():
    assert document(NAME, CREATED)["rows_filled"] == 0
    (run,) = document("--status")["runs"]
    assert (run["state"], run["seconds_since_last_sign"]) == ("finished", None)


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
