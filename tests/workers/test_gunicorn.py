"""gunicorn with ``preload_app``, where the process that its workers are forked from has a lease."""

import os
import signal
from itertools import chain

import pytest

from django_sortable_ids.models import WorkerLease
from tests.backfill.command import environment
from tests.marks import own_tables
from tests.patience import PATIENCE
from tests.schemes.test_gunicorn import answers_of_both, gunicorn

pytest.importorskip("gunicorn")
pytestmark = own_tables


@pytest.fixture
def server():
    leasing = environment({"SORTABLE_IDS": {"WORKER": "lease", "WORKER_LEASE_SECONDS": 3600}})
    with gunicorn("tests.workers.preloaded", {**os.environ, **leasing}) as running:
        yield running


def test_every_worker_has_its_own_number_and_gives_it_back(server):
    port, process = server
    answers = answers_of_both(port)
    assert len({(each["process"], each["number"]) for each in answers}) == 2
    assert {each["number"] for each in answers} == {1, 2}
    made = [*answers[0]["before"], *chain.from_iterable(each["made"] for each in answers)]
    assert len(set(made)) == len(made)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    kept = WorkerLease.objects.values_list("number", "token")
    assert sorted(kept) == [(0, ""), (1, ""), (2, "")]
