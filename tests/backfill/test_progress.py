"""Progress: a bar on a terminal, plain lines in a log."""

from io import StringIO

import pytest

from django_sortable_ids.backfill import pace as module
from django_sortable_ids.backfill.pace import Progress
from tests.patience import LOG_SECONDS

# By a clock in the hand of the test


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Output(StringIO):
    """As Django's ``OutputWrapper``."""

    encoding = "utf-8"

    def __init__(self, terminal=False):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    def write(self, msg, *, ending=None):
        ending = "\n" if ending is None else ending
        super().write(msg if msg.endswith(ending) and ending else msg + ending)


def progress(total, terminal=False):
    clock, output = Clock(), Output(terminal)
    return Progress(output, total, clock), clock, output


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
    assert frames[0].rstrip() == "█" * 8 + "░" * 32 + "  20 %  2/10 rows  8/s  0:01 left"
    assert frames[-1] == f"{'█' * 40 + ' 100 %  10/10 rows  8/s  in 0:01':79}\n"


@pytest.mark.parametrize("columns", [30, 60, 80, 100, 200])
def test_a_bar_covers_the_one_before_it_and_leaves_the_last_column(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    shown, clock, output = progress(4_000_000, terminal=True)
    with shown:
        for rows in (1, 400_000, 3_599_999):
            clock.now += 2000
            shown.add(rows)
    lengths = {len(frame.rstrip("\n")) for frame in output.getvalue().split("\r")[1:]}
    assert lengths == {columns - 1}


def test_a_terminal_that_has_no_blocks_gets_other_signs(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(Output, "encoding", "latin-1")
    shown, clock, output = progress(4, terminal=True)
    with shown:
        clock.now = 2
        shown.add(1)
    assert output.getvalue().split("\r")[1].startswith("#" * 10 + "-" * 30 + "  25 %")


def test_what_stops_the_work_still_shows_how_far_it_is():
    shown, clock, output = progress(100)
    shown.add(30)
    clock.now = 4
    with pytest.raises(ZeroDivisionError), shown:
        _ = 1 / 0
    assert output.getvalue() == " 30 %  30/100 rows  8/s  0:09 left\n"
