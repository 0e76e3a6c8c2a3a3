"""What is said where a run was stopped: how to continue, and how far it is."""

import shlex
import signal

import pytest
from django.core.management import call_command

from django_sortable_ids.errors import Interrupted
from django_sortable_ids.models import BackfillRun
from tests.support import elsewhere, on_statement, raising

from .command import called, printed
from .support import START, fill, insert_orders, rows

NAME = "testapp.Order.uuid7"
CREATED = "--created-from=created_at"


@pytest.mark.django_db
def test_the_command_to_continue_has_every_option_and_is_quoted(tmp_path):
    insert_orders([START] * 40)
    pause = tmp_path / "a pause; rm $HOME"
    options = [
        "--batch-size=2",
        "--target-time=0.25",
        "--max-rows-per-second=1000",
        "--sleep=0.02",
        f"--pause-file={pause}",
        "--retry-time=7",
        "--on-null=skip",
        "--on-out-of-range=skip",
        "--database=default",
        "-v2",
        "--no-color",
    ]
    with on_statement("^UPDATE .*testapp_order", raising(KeyboardInterrupt())):
        error = called(NAME, CREATED, *options)[1]
    before, again = str(error).split("Continue with: ")
    assert before == "Stopped; committed batches are kept. "
    words = shlex.split(again)
    assert words[:5] == ["manage.py", "backfill_ids", NAME, "--created-from", "created_at"]
    assert set(words[5:]) == {*options[:8], "--database=default", "--verbosity=2", "--no-color"}
    assert "40 rows filled." in printed(*words[2:], "--batch-size=100", "--sleep=0")


@pytest.mark.django_db
def test_call_command_raises_what_its_caller_may_catch():
    insert_orders([START] * 3)
    with on_statement("^UPDATE .*testapp_order", raising(KeyboardInterrupt())):
        error = called(NAME, CREATED)[1]
    assert isinstance(error, Interrupted)
    assert error.returncode == 130


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", [[NAME, "--dry-run", CREATED], ["--status"], []])
def test_an_interrupt_before_anything_is_written(arguments):
    with on_statement("", raising(KeyboardInterrupt())):
        error = called(*arguments)[1]
    words = " ".join(["backfill_ids", *arguments])
    assert str(error) == f"Stopped; nothing was written. Continue with: manage.py {words}"
    assert error.returncode == 130


@pytest.mark.django_db
@pytest.mark.parametrize("option", ["--verify", "--dry-run"])
def test_sigterm_while_nothing_is_filled(option):
    insert_orders([START] * 3)
    fill("uuid7")
    rows("uuid7").filter(pk=rows("uuid7")[0].pk).update(uuid7=None)
    before = signal.getsignal(signal.SIGTERM)
    with on_statement("SELECT.*testapp_order", lambda: signal.raise_signal(signal.SIGTERM)):
        error = called(NAME, option, CREATED)[1]
    assert isinstance(error, Interrupted)
    assert str(error).startswith(
        f"Stopped; nothing was written. Continue with: manage.py backfill_ids {NAME} {option}"
    )
    assert error.returncode == 143
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.usefixtures("transactional_db")
def test_another_thread_than_the_main_one_may_fill():
    insert_orders([START] * 3)
    elsewhere(lambda: call_command("backfill_ids", NAME, CREATED, verbosity=0))
    assert not rows("uuid7").filter(uuid7=None).exists()


# How far it is


@pytest.mark.django_db
def test_a_resumed_run_counts_the_rows_of_the_run_before():
    insert_orders([START] * 10)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 6, lambda filled: 1 // 0)
    assert "  60 %  6/10 rows  " in printed("--status")
    lines = printed(NAME, CREATED).splitlines()
    assert any(line.startswith("100 %  10/10 rows  ") for line in lines), lines
    assert "4 rows filled." in lines
    assert "  10 rows" in printed("--status").splitlines()


@pytest.mark.django_db
def test_a_run_of_a_field_that_is_gone():
    insert_orders([START])
    fill("uuid7")
    BackfillRun.objects.update(target="testapp.Order.dropped")
    lines = printed("--status").splitlines()
    assert lines[2] == (
        "  the field no longer exists: delete the row of django_sortable_ids_backfillrun"
    )
