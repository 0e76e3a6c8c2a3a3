"""Six processes write through three nodes, of which one is killed and comes back.

Nothing is repeated, nothing is lost that was acknowledged, and each process keeps its order.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.patience import wait_until

from .nodes import Node
from .writers import Row, Writer

pytestmark = pytest.mark.galera

COMMITS = 20
"""How many transactions each process must commit before, while and after a node is away."""


@pytest.fixture
def writers(nodes, tmp_path, request) -> Iterator[list[Writer]]:
    """Two for each node: one waits for its own node, the other continues with the next one."""
    writers: list[Writer] = []
    try:
        for number, node in enumerate(nodes):
            for known in ([node], nodes[number:] + nodes[:number]):
                log = tmp_path / f"{len(writers)}"
                writers.append(Writer(request.param, known, log))
        yield writers
    finally:
        for writer in writers:
            writer.close()


def wait_for_commits(writers: list[Writer], what: str) -> None:
    """Until each of them has committed another ``COMMITS`` transactions."""
    goals = [(writer, writer.committed() + COMMITS) for writer in writers]
    wait_until(lambda: all(writer.committed() >= goal for writer, goal in goals), what)


def write_while_a_node_is_away(nodes, writers: list[Writer], victim: Node, has_data: bool) -> None:
    wait_for_commits(writers, "transactions while all nodes are there")
    victim.kill()
    able = [writer for writer in writers if writer.nodes != [victim]]
    wait_for_commits(able, "transactions without the killed node")
    if not has_data:
        victim.forget()
    victim.start()
    wait_until(victim.takes_part, "the killed node takes part again")
    wait_for_commits(writers, "transactions after the return of the killed node")
    codes = [writer.stop() for writer in writers]
    assert codes == [0] * 6, "\n".join(writer.errors() for writer in writers)


def rows_of(nodes: list[Node], model: str) -> list[Row]:
    """The rows, in the order of their ids, which are the same on all nodes."""
    wait_until(lambda: all(node.takes_part() for node in nodes), "all nodes take part")
    # With wsrep_sync_wait, each answers after all that any of them has committed.
    read = "SET wsrep_sync_wait = 1", f"SELECT * FROM sortable_ids.cluster_{model} ORDER BY id"
    tables = [node.ask(*read) for node in nodes]
    assert tables[0] == tables[1] == tables[2]
    assert len({node.status("last_committed") for node in nodes}) == 1
    return tables[0]


def assert_nothing_is_repeated_or_lost(writers: list[Writer], rows: list[Row]) -> None:
    written = [row for writer in writers for row in writer.written()]
    for column in zip(*written, strict=True):
        assert not [value for value, count in Counter(column).items() if count > 1]
    assert sorted(written) == rows
    for writer in writers:
        for column in zip(*writer.written(), strict=True):
            assert list(column) == sorted(column), "its order"
    leased = [{worker_of(snowflake) for _, snowflake, _ in writer.written()} for writer in writers]
    assert [len(numbers) for numbers in leased] == [1] * 6
    assert len(set.union(*leased)) == 6


def worker_of(snowflake: int) -> int:
    return snowflake >> 12 & 0x3FF


def conflicts(nodes: list[Node]) -> int:
    """How many transactions were refused because another node's came first."""
    refused = ("local_cert_failures", "local_bf_aborts")
    return sum(int(node.status(name)) for node in nodes for name in refused)


@pytest.mark.parametrize("writers", ["order"], indirect=True)
def test_a_node_that_is_killed_and_gets_what_it_missed(nodes, writers):
    write_while_a_node_is_away(nodes, writers, victim=nodes[1], has_data=True)
    rows = rows_of(nodes, "order")
    assert_nothing_is_repeated_or_lost(writers, rows)
    assert conflicts(nodes) > 0


@pytest.mark.parametrize("writers", ["receipt"], indirect=True)
def test_a_node_that_is_killed_and_gets_all_data_anew(nodes, writers):
    write_while_a_node_is_away(nodes, writers, victim=nodes[2], has_data=False)
    rows = rows_of(nodes, "receipt")
    assert_nothing_is_repeated_or_lost(writers, rows)
    assert sorted(int(number) for _, _, number in rows) == list(range(len(rows))), "no gaps"
    assert sum(writer.counts()["conflict"] for writer in writers) > 0
