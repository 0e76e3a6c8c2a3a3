"""A backfill through one node, which is killed, while others write through all of them."""

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from tests.backfill.command import Command
from tests.backfill.conftest import command  # noqa: F401
from tests.crashes.crash import MOMENTS, Outcome, Writer, arguments, check, insert_rows, stop
from tests.patience import PATIENCE, wait_until

from .nodes import Node

pytestmark = pytest.mark.galera

SIZE = 10
MIDDLE = MOMENTS // 2 // SIZE
"""The size of a batch, and in which one the node is killed."""


@pytest.fixture
def through(command) -> Callable[..., Command]:  # noqa: F811
    """Starts ``backfill_ids`` on a node."""

    def start(node: Node, *options: str, **more: Any) -> Command:
        return command(*arguments("uuid7"), *options, env={"DATABASE_URL": node.url}, **more)

    return start


@pytest.fixture
def names(transactional_db, nodes) -> list[str]:
    return insert_rows(random.Random(0), len(nodes))


@pytest.fixture
def writers(names, nodes) -> Iterator[list[Writer]]:
    with ExitStack() as stack:
        writers = [Writer("uuid7", n, f"{n}", node.url) for n, node in enumerate(nodes)]
        for each in writers:
            stack.callback(each.close)
        yield writers


def under_a_backfill(through, node: Node, *options: str) -> Command:
    """One whose node is killed in the middle of a batch; it is stopped then."""
    running = through(node, f"--batch-size={SIZE}", *options, stops_in=[MIDDLE])
    running.wait_until_stopped()
    node.kill()
    return running


def ended(running: Command) -> str:
    output = running.output()
    assert running.code == 0, output
    return output


def check_every_node(nodes: list[Node], through) -> None:
    wait_until(lambda: all(node.takes_part() for node in nodes), "all nodes take part")
    table = f"{connection.settings_dict['NAME']}.testapp_order"
    read = "SET wsrep_sync_wait = 1", f"SELECT id, name, created_at, uuid7 FROM {table} ORDER BY id"
    one, two, three = (node.ask(*read) for node in nodes)
    assert one == two == three
    # The writers edit times of rows that have their ids, and insert rows of past times.
    verifying = [through(node, "--verify", "--allow-edited-times=25") for node in nodes]
    for each in verifying:
        assert "strictly in order" in ended(each)


def test_another_node_goes_on(nodes, names, writers, through):
    """With the killed node, its machine has gone, and the backfill too."""
    victim = nodes[1]
    lost = under_a_backfill(through, victim)
    lost.process.send_signal(signal.SIGKILL)
    assert lost.code == -signal.SIGKILL
    assert "continues after " in ended(through(nodes[2]))
    victim.start()
    wait_until(victim.takes_part, "the killed node takes part again")
    found, expected = Outcome(), stop(writers, names)
    ended(through(victim))
    check("uuid7", expected, found)
    assert found.problems == []
    check_every_node(nodes, through)


def test_it_goes_on_when_its_node_is_there_again(nodes, names, writers, through):
    victim = nodes[1]
    running = under_a_backfill(through, victim, f"--retry-time={PATIENCE}")
    running.send_while_stopped()
    victim.start()
    output = ended(running)
    assert "the connection is lost, trying again: " in output
    assert "connected again" in output
    found, expected = Outcome(), stop(writers, names)
    ended(through(nodes[0]))
    check("uuid7", expected, found)
    assert found.problems == []
    check_every_node(nodes, through)
