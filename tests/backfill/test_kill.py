"""The command, killed in the middle of a batch, continues when it is started again."""

import signal

import pytest

from .command import printed
from .support import (
    MILLISECOND,
    START,
    TIMED,
    insert_orders,
    is_strict,
    label,
    rows,
    saved_run,
    times_are_right,
)

ROWS = 900
BATCH = 4


def arguments(name):
    return f"testapp.Order.{name}", "--created-from=created_at", f"--batch-size={BATCH}"


@pytest.mark.parametrize("name", ["uuid7", "snowflake", "number"])
def test_killed_again_and_again_it_ends_with_every_row_in_order(name, command):
    insert_orders([START + i // 70 * MILLISECOND for i in range(ROWS)])
    for batch in (2, 57):
        killed = command(*arguments(name), stops_in=[batch])
        killed.send_while_stopped(signal.SIGKILL)
        assert killed.code == -signal.SIGKILL
        done = ROWS - rows(name).filter(**{name: None}).count()
        assert 0 < done < ROWS
        assert saved_run(name).rows_filled == done

    output = printed(*arguments(name))
    assert f"continues after the {done:,} rows that were filled before" in output
    assert f"{ROWS - done:,} rows filled." in output
    assert is_strict(name)
    assert name not in TIMED or times_are_right(name)
    assert saved_run(name).rows_filled == ROWS
    assert saved_run(name).finished_at is not None

    assert "strictly in order" in printed(label(name), "--verify")


def test_interrupted_from_the_keyboard_it_says_how_to_go_on(command):
    insert_orders([START] * ROWS)
    stopped = command(*arguments("ulid"), stops_in=[2])
    stopped.send_while_stopped(signal.SIGINT)
    assert stopped.output().splitlines()[-1] == (
        "Stopped; committed batches are kept. Continue with: "
        f"manage.py backfill_ids testapp.Order.ulid --created-from created_at --batch-size={BATCH}"
    )
    assert stopped.code == 130
    assert saved_run("ulid").rows_filled == rows("ulid").exclude(ulid=None).count() < ROWS
