"""Two processes on one column: one of them stops, and nothing is lost."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from django.db import connection

from django_sortable_ids.backfill import owner, run
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.models import BackfillRun
from tests.crashes.crash import crash, not_unique
from tests.servers import UNAVAILABLE
from tests.support import ROOT, elsewhere, refusal_of

from .command import called, printed
from .support import SECOND, START, build, fill, find, insert_orders, is_strict, saved_run

pytestmark = pytest.mark.usefixtures("transactional_db")

SELF = f"{socket.gethostname()} pid {os.getpid()}"
UUID7 = ("testapp.Order.uuid7", "--created-from=created_at", "--batch-size=2")


def refusal(label, by=SELF):
    return (
        rf"{label} is being filled by {re.escape(by)}, whose last heartbeat is \d+ s old\. Only "
        r"one process may fill it: this one stops, and has written nothing\. SIGTERM ends the "
        r"other one after its batch; if it has died, start again 60 s after its last heartbeat"
    )


def assert_right(name, count):
    assert is_strict(name)
    assert saved_run(name).rows_filled == count
    assert saved_run(name).finished_at is not None


@pytest.fixture
def no_time_passes(monkeypatch):
    """Between the signs of life, which are told in seconds."""
    monkeypatch.setattr(owner, "now_ms", lambda: 1_800_000_000_000)


def move_owner(seconds_ago):
    """To another machine, from where it gave its last sign so long ago."""
    heartbeat = owner.now_ms() - 1000 * seconds_ago
    BackfillRun.objects.update(owner="web-9 pid 7", heartbeat=heartbeat)


@pytest.mark.parametrize("name", ["uuid7", "number"])
def test_who_comes_second_with_a_plan_from_before_is_refused(name):
    insert_orders([START] * 20)
    late = build(name, 7)

    def come(filled):
        with pytest.raises(BackfillError) as caught:
            elsewhere(lambda: run.execute(late))
        assert re.fullmatch(refusal(f"testapp.Order.{name}"), str(caught.value))

    assert fill(name, 5, come).filled == 20
    assert_right(name, 20)


@pytest.mark.parametrize("ends", [True, False])
def test_a_plan_from_before_the_last_run_continued_is_refused(ends):
    insert_orders([START] * 6)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 2, lambda filled: 1 // 0)
    late = build("uuid7")
    if ends:
        fill("uuid7")
    else:
        with pytest.raises(ZeroDivisionError):
            fill("uuid7", 2, lambda filled: 1 // 0)
    with pytest.raises(BackfillError, match="since the plan was made: nothing was written"):
        run.execute(late)
    fill("uuid7")
    assert_right("uuid7", 6)


def test_a_run_whose_row_is_deleted_stops():
    insert_orders([START] * 6)
    with pytest.raises(BackfillError, match="was deleted while it was used"):
        fill("uuid7", 2, lambda filled: elsewhere(BackfillRun.objects.all().delete))


# An owner on another machine


def stop_and_move_owner(seconds_ago):
    insert_orders([START + i * SECOND for i in range(6)])
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 2, lambda filled: 1 // 0)
    move_owner(seconds_ago)
    BackfillRun.objects.update(token="theirs")


def test_an_owner_on_another_machine_is_waited_for(no_time_passes):
    stop_and_move_owner(seconds_ago=20)
    assert re.fullmatch(
        refusal("testapp.Order.uuid7", "web-9 pid 7"),
        refusal_of(owner.refuse_if_taken, find("uuid7")),
    )
    with pytest.raises(BackfillError, match=r"by web-9 pid 7"):
        fill("uuid7")
    assert saved_run("uuid7").token == "theirs"


@pytest.mark.parametrize("seconds_ago", [61, -61])
def test_a_silent_owner_on_another_machine_loses_the_run(seconds_ago):
    """Also one whose clock was ahead."""
    stop_and_move_owner(seconds_ago)
    assert fill("uuid7").filled == 4
    assert saved_run("uuid7").owner == SELF
    assert_right("uuid7", 6)


def test_an_owner_that_gives_a_sign_while_another_takes_the_run_keeps_it(monkeypatch):
    stop_and_move_owner(seconds_ago=61)
    refuse = owner.refuse_if_taken

    def refuse_and_let_it_give_a_sign(*arguments):
        refuse(*arguments)
        elsewhere(lambda: BackfillRun.objects.update(heartbeat=owner.now_ms()))

    monkeypatch.setattr(owner, "refuse_if_taken", refuse_and_let_it_give_a_sign)
    with pytest.raises(BackfillError, match=r"by web-9 pid 7"):
        fill("uuid7")
    assert saved_run("uuid7").token == "theirs"


@pytest.mark.skipif(os.name != "posix", reason="asks for the process")
def test_a_process_with_the_number_of_the_owner_takes_the_run():
    """As in a container that was killed and starts again."""
    stop_and_move_owner(seconds_ago=0)
    BackfillRun.objects.update(owner=SELF)
    assert fill("uuid7").filled == 4
    assert_right("uuid7", 6)


# Processes


def is_taken():
    return BackfillRun.objects.exclude(token="").exists()


def test_a_second_command_is_refused_and_the_first_goes_on(command, tmp_path):
    pause = tmp_path / "pause"
    pause.touch()
    insert_orders([START] * 40)
    first = command(*UUID7, f"--pause-file={pause}")
    first.wait_until(is_taken)
    _, error = called(*UUID7)
    by = f"{socket.gethostname()} pid {first.process.pid}"
    assert re.fullmatch(refusal("testapp.Order.uuid7", by), str(error))
    assert error.returncode == 1
    pause.unlink()
    assert "40 rows filled." in first.output()
    assert first.code == 0
    assert_right("uuid7", 40)


def test_a_command_that_lost_the_run_while_it_was_stopped_writes_nothing_more(command, tmp_path):
    insert_orders([START] * 60)
    pause = tmp_path / "pause"
    stopped = command(*UUID7, f"--pause-file={pause}", stops_in=[2])
    stopped.wait_until_stopped()
    pause.touch()
    stopped.send_while_stopped()
    # As long as it is paused, it holds no lock.
    stopped.wait_for(f"paused: {pause} exists")
    stopped.process.send_signal(signal.SIGSTOP)
    stopped.wait_until_stopped()
    move_owner(61)
    printed(*UUID7)
    before = saved_run("uuid7")
    insert_orders([START + SECOND] * 10)
    pause.unlink()
    stopped.process.send_signal(signal.SIGCONT)
    last = stopped.output().splitlines()[-1]
    assert last.endswith(
        f"testapp.Order.uuid7: it was taken over by {SELF}: this process sent no heartbeat for "
        f"60 s, or its container has the host name of another one. It stops, and has written "
        f"nothing since"
    )
    assert before.last_error == ""
    assert stopped.code == 1
    assert saved_run("uuid7").batches == before.batches
    assert saved_run("uuid7").finished_at == before.finished_at
    assert build("uuid7").missing == 10


# Killed again and again while others write; ``python -m tests.crashes`` does it 100 times


def test_killed_under_live_writers():
    found = crash("uuid7", "test uuid7", most_kills=2, writers=2)
    assert found.problems == []
    assert found.kills > 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the others have one way")
def test_killed_while_neighbours_are_written_apart():
    with not_unique("uuid7"):
        found = crash("uuid7", "test apart", most_kills=2, writers=2)
    assert found.problems == []
    assert found.kills > 0


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server to kill")
def test_the_server_is_killed_under_live_writers():
    """One that is started for it; the backfill and the writers continue when it is there again."""
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
