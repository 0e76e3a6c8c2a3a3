"""How a run is stopped, paused and slowed down from outside."""

import ctypes
import os
import shlex
import signal
import sys
from functools import partial
from io import StringIO
from threading import Timer

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.db import connection

from django_sortable_ids.backfill import owner, run
from django_sortable_ids.backfill import pace as module
from django_sortable_ids.backfill.pace import (
    FEWEST,
    MOST,
    BatchSize,
    Control,
    Limits,
    Pace,
    Progress,
    Stopped,
    signals,
)
from django_sortable_ids.errors import Interrupted
from django_sortable_ids.models import BackfillRun
from tests.patience import LOG_SECONDS
from tests.schemes.test_processes import child_says, needs_fork
from tests.support import elsewhere, on_statement, raising

from .command import called, printed
from .support import (
    SECOND,
    START,
    build,
    count_filled,
    fill,
    insert_orders,
    is_strict,
    rows,
    saved_run,
)

NAME = "testapp.Order.uuid7"
ARGUMENTS = (NAME, "--created-from=created_at", "--batch-size=2")
HOW_TO_CONTINUE = (
    "Stopped; committed batches are kept. Continue with: manage.py backfill_ids "
    "testapp.Order.uuid7 --created-from created_at --batch-size=2"
)

database = pytest.mark.usefixtures("transactional_db")


# Signals


@database
def test_sigterm_ends_it_behind_the_batch():
    insert_orders([START] * 8)

    def end():
        if len(updates) == 2:
            signal.raise_signal(signal.SIGTERM)

    with on_statement("^UPDATE .*testapp_order", end) as updates:
        _, error = called(*ARGUMENTS)
    assert (str(error), error.returncode) == (HOW_TO_CONTINUE, 128 + signal.SIGTERM)
    assert saved_run("uuid7").rows_filled == count_filled("uuid7") == 4
    assert saved_run("uuid7").token == ""
    assert saved_run("uuid7").last_error == ""


def test_the_second_signal_ends_it_at_once():
    control, kinds = Control(), (signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in kinds]
    with signals(control):
        os.kill(os.getpid(), signal.SIGTERM)
        assert [signal.getsignal(number) for number in kinds] == [signal.SIG_DFL] * 2
        with pytest.raises(Stopped):
            control.raise_if_stopped()
    assert [signal.getsignal(number) for number in kinds] == before
    with signals():
        with pytest.raises(Stopped):
            signal.raise_signal(signal.SIGTERM)
        assert [signal.getsignal(number) for number in kinds] == [signal.SIG_DFL] * 2
    assert [signal.getsignal(number) for number in kinds] == before


@needs_fork
def test_a_signal_that_is_handled_in_c_stays_so():
    """As of uWSGI. Python reads the handlers when it starts."""

    def end() -> str:
        libc = ctypes.CDLL(None)
        libc.signal(signal.SIGTERM, ctypes.cast(libc.abs, ctypes.c_void_p))
        del sys.modules["_signal"]
        __import__("_signal")
        with signals(Control()):
            return str(signal.getsignal(signal.SIGTERM))

    assert child_says(end) == "None"


# Pauses


@database
def test_it_rests_while_the_file_exists_and_gives_signs_of_life(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "heartbeats", partial(owner.heartbeats, seconds=0.02))
    pause, said, beats = tmp_path / "pause", [], set()
    pause.touch()
    insert_orders([START] * 10)

    class Watched(Control):
        def pause(self, seconds):
            beats.add(saved_run("uuid7").heartbeat)
            assert count_filled("uuid7") == 0 or not pause.exists()
            if len(beats) > 2:
                pause.unlink(missing_ok=True)
            super().pause(0.05)

    limits = Limits(pause_file=pause)
    assert run.execute(build("uuid7", 2), limits=limits, control=Watched(said.append)).filled == 10
    assert said == [f"paused: {pause} exists", "resumed"]
    assert is_strict("uuid7")


@database
def test_a_lag_of_what_is_no_replica():
    with pytest.raises(CommandError, match="the database 'default' is no replica: name one with"):
        call_command(
            "backfill_ids",
            NAME,
            *("--created-from=created_at", "--max-replica-lag=1", "--replica=default"),
        )
    assert not BackfillRun.objects.exists()


class Hand(Control):
    """Pauses that take the time of a clock in the hand of the test."""

    now = 0.0

    def __init__(self):
        self.said = []
        super().__init__(self.said.append)

    def pause(self, seconds):
        self.now += max(0, seconds)

    def clock(self):
        return self.now


def test_rows_per_second():
    hand = Hand()
    pace = Pace(Limits(max_rows_per_second=100), hand, clock=hand.clock)
    for _ in range(10):
        pace.rest(50)
        hand.now += 0.1
    assert hand.now == pytest.approx(5.1)
    # What was slower than it might be is not made up for.
    hand.now = 1000
    for _ in range(10):
        pace.rest(100)
    assert hand.now == pytest.approx(1009)


def test_replicas_are_waited_for():
    hand, why = Hand(), ["the replica lags by 5 s", "the replica lags by 3 s", ""]
    Pace(Limits(why_wait=lambda: why.pop(0)), hand, clock=hand.clock).rest(1)
    assert why == []
    assert hand.said == ["paused: the replica lags by 5 s", "resumed"]


# Sizes


def follow(size, rate, batches=20):
    """The size, after so many batches at that many rows per second."""
    for _ in range(batches):
        size.took(size.rows, size.rows / rate)
    return size.rows


def test_the_size_follows_the_target_time():
    size = BatchSize(5000, Limits(target_time=0.5))
    assert follow(size, 20_000) == pytest.approx(10_000, rel=0.01)
    assert follow(size, 4_000) == pytest.approx(2_000, rel=0.01)
    assert follow(size, 10) == FEWEST
    assert follow(size, 10**9) == MOST
    for _ in range(50):
        size.took(1, 1)  # the last rows of a step
    assert size.rows == MOST


def test_a_size_without_a_target_stays_and_is_at_most_the_rows_of_a_second():
    assert follow(BatchSize(5000, Limits()), 10**9) == 5000
    assert BatchSize(5000, Limits(max_rows_per_second=100)).rows == 100


def test_it_is_halved_by_conflicts_and_grows_back():
    size = BatchSize(10, Limits())
    sizes = []
    for _ in range(5):
        size.halve()
        sizes.append(size.rows)
    assert sizes == [5, 2, 1, 1, 1]
    for _ in range(4):
        sizes.append(size.rows)
        size.took(size.rows, 1)
    assert sizes[5:] == [1, 2, 4, 8]
    assert size.rows == 10
    again = BatchSize(5000, Limits(target_time=0.5))
    again.halve()
    again.took(2500, 1)
    assert follow(again, 10**9, batches=1) == 10_000


# A second terminal


def shown():
    return printed("--status").splitlines()


@pytest.mark.django_db
def test_status_of_a_run(monkeypatch):
    monkeypatch.setattr(owner, "now_ms", lambda: 1_800_000_000_000)
    assert shown() == ["no backfill of any column has started in the database 'default'"]
    insert_orders([START + i * SECOND for i in range(10)])
    seen = []

    def look_and_stop(_):
        seen.append(shown())
        if len(seen) == 2:
            raise ZeroDivisionError("out of\norder")  # as errors of PostgreSQL

    planned = build("uuid7", 3)
    with pytest.raises(ZeroDivisionError):
        run.execute(planned, look_and_stop)
    first, second = seen[1]
    by = saved_run("uuid7").owner
    assert first.startswith(f"testapp.Order.uuid7: running, {by}, last heartbeat 0.")
    assert second.startswith("  60 %  6/10 rows  ")
    assert second.endswith(" left  batches of 3")
    stopped = shown()
    assert stopped[0].startswith(f"testapp.Order.uuid7: stopped, {by}, last heartbeat 0.")
    assert stopped[1:] == [
        "  60 %  6/10 rows  batches of 3",
        "  last error: out of order",
        "  continue with: manage.py backfill_ids testapp.Order.uuid7",
    ]
    BackfillRun.objects.update(token="theirs", heartbeat=owner.now_ms() - 90_000)
    assert shown()[0].endswith(f" stopped, {by}, last heartbeat 90.0 s ago")
    fill("uuid7")
    assert shown()[0].startswith("testapp.Order.uuid7: finished at ")
    assert shown()[1:] == ["  10 rows"]


# What is said where a run was stopped: how to continue, and how far it is

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
    assert isinstance(error, Interrupted)  # which a caller of call_command may catch
    assert (error.returncode, saved_run("uuid7").last_error) == (130, "")
    before, again = str(error).split("Continue with: ")
    assert before == "Stopped; committed batches are kept. "
    words = shlex.split(again)
    assert words[:5] == ["manage.py", "backfill_ids", NAME, "--created-from", "created_at"]
    assert set(words[5:]) == {*options[:8], "--database=default", "--verbosity=2", "--no-color"}
    assert "40 rows filled." in printed(*words[2:], "--batch-size=100", "--sleep=0")


@pytest.mark.django_db
def test_an_interrupt_after_the_rows_are_filled():
    insert_orders([START, None])
    skipped = 'COUNT.* FROM .testapp_order. WHERE .*"?`?uuid7.* IS NULL AND .*created_at.* IS NULL'

    def interrupt():
        if count_filled("uuid7"):
            raise KeyboardInterrupt

    with on_statement(skipped, interrupt):
        error = called(NAME, CREATED, "--on-null=skip")[1]
    assert str(error).startswith("Stopped; committed batches are kept. Continue with: ")


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", [[NAME, "--dry-run", CREATED], ["--status"], []])
def test_an_interrupt_before_anything_is_written(arguments):
    with on_statement("", raising(KeyboardInterrupt())):
        error = called(*arguments)[1]
    words = " ".join(["backfill_ids", *arguments])
    assert str(error) == f"Stopped; nothing was written. Continue with: manage.py {words}"
    assert error.returncode == 130


@pytest.mark.parametrize("arguments", [[NAME, CREATED], ["--status", "--json"]])
def test_nobody_reads_what_it_prints(command, tmp_path, arguments):
    insert_orders([START] * 3)
    read, write = os.pipe()
    os.close(read)
    told = tmp_path / "errors"
    with told.open("w") as errors, os.fdopen(write, "w") as stdout:
        ended = command(*arguments, stdout=stdout, stderr=errors)
    assert (ended.code, told.read_text()) == (141, "")


@pytest.mark.django_db
@pytest.mark.skipif(
    "connection.vendor != 'mysql'", reason="its driver, which fetches a result later"
)
def test_sigterm_while_the_server_answers():
    insert_orders([START] * 3)

    def slowly(run, sql, params, many, context):
        if "SELECT" in sql and "testapp_order" in sql:
            Timer(0.1, os.kill, [os.getpid(), signal.SIGTERM]).start()
            return run("SELECT SLEEP(0.5)", None, many, context)
        return run(sql, params, many, context)

    with connection.execute_wrapper(slowly):
        error = called(NAME, "--dry-run", CREATED)[1]
    assert (str(error)[:8], error.returncode) == ("Stopped;", 143)


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


# Progress: a bar on a terminal, plain lines in a log, by a clock in the hand of the test


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Output(StringIO):
    encoding = "utf-8"

    def __init__(self, terminal=False):
        super().__init__()
        self.isatty = lambda: terminal


def progress(total, terminal=False):
    clock, output = Clock(), Output(terminal)
    return Progress(OutputWrapper(output), total, clock), clock, output


@pytest.mark.parametrize(
    ("done", "total", "seconds", "line"),
    [
        (0, 100, 0, "  0 %  0/100 rows  0/s  ? left"),
        (0, 100, 5, "  0 %  0/100 rows  0/s  ? left"),
        (50, 100, 5, " 50 %  50/100 rows  10/s  0:05 left"),
        (151_000, 336_776, 2.9, " 44 %  151,000/336,776 rows  52,069/s  0:04 left"),
        (1, 3601, 1, "  0 %  1/3,601 rows  1/s  1:00:00 left"),
        (999, 1000, 999, " 99 %  999/1,000 rows  1/s  0:01 left"),
        (100, 100, 4, "100 %  100/100 rows  25/s  in 0:04"),
        (120, 100, 4, "100 %  120/100 rows  30/s  in 0:04"),
        (50_000_000, 50_000_000, 7325, "100 %  50,000,000/50,000,000 rows  6,826/s  in 2:02:05"),
        (0, 0, 0, "100 %  0/0 rows  0/s  in 0:00"),
    ],
)
def test_the_line(done, total, seconds, line):
    shown, clock, _ = progress(total)
    clock.now = seconds
    shown.add(done)
    assert shown.line() == line


def test_a_log_gets_a_line_every_ten_seconds_and_one_at_the_end(monkeypatch):
    monkeypatch.setattr(module, "LOG_SECONDS", LOG_SECONDS)
    shown, clock, output = progress(100)
    with shown:
        for _ in range(25):
            clock.now += 1
            shown.add(2)
    assert output.getvalue().splitlines() == [
        " 20 %  20/100 rows  2/s  0:40 left",
        " 40 %  40/100 rows  2/s  0:30 left",
        " 50 %  50/100 rows  2/s  0:25 left",
    ]


def test_a_terminal_gets_five_bars_a_second(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown, clock, output = progress(10, terminal=True)
    with shown:
        for _ in range(10):
            clock.now += 0.125
            shown.add(1)
    frames = output.getvalue().split("\r")[1:]
    assert len(frames) == 6
    assert frames[0].rstrip() == "#" * 8 + "-" * 32 + "  20 %  2/10 rows  8/s  0:01 left"
    assert frames[-1] == f"{'#' * 40 + ' 100 %  10/10 rows  8/s  in 0:01':79}\n"


def test_what_stops_the_work_still_shows_how_far_it_is():
    shown, clock, output = progress(100)
    shown.add(30)
    clock.now = 4
    with pytest.raises(ZeroDivisionError), shown:
        _ = 1 / 0
    assert output.getvalue() == " 30 %  30/100 rows  8/s  0:09 left\n"
