"""What every test may ask for: a model for each kind of key."""

import contextlib
import gc
import os
import re
import signal
import sys
from pathlib import Path

import hypothesis
import pytest
from django.db import connection

from tests import capabilities
from tests.random_sources import Source
from tests.testapp.models import (
    KEYS,
    STORED_KEYS,
    MaskedKey,
    MaskedPart,
    SequenceKey,
    UUIDv7AutoKey,
)

pytest_plugins = ["django_sortable_ids.testing"]

# Whether the machine is fast enough, or luck is on its side, is no question of these tests.
hypothesis.settings.register_profile(
    "django_sortable_ids",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("django_sortable_ids")


_LONGEST = re.compile(r"kill|outage|replica|random|process|each_statement|move_keys")
"""In the names of tests that take seconds."""


def _name(model):
    return model.__name__.removesuffix("Key")


# To look for cycles as often as by default takes a twentieth of the time of the tests.
gc.set_threshold(20_000, 20, 20)


@pytest.fixture(params=KEYS, ids=_name)
def key(request):
    """A model whose primary key is of one scheme."""
    return request.param


@pytest.fixture(params=(*STORED_KEYS, UUIDv7AutoKey), ids=_name)
def stored_key(request):
    """As ``key``, and again with the columns that other packages make."""
    return request.param


@pytest.fixture(params=[model for model in KEYS if model is not SequenceKey], ids=_name)
def time_key(request):
    """As ``key``, but for the sequence, whose ids carry no time."""
    return request.param


@pytest.fixture
def part(db):
    """A row with a masked id, and with relations to two others."""
    whole, other = MaskedKey.objects.create(name="whole"), MaskedPart.objects.create(name="other")
    return MaskedPart.objects.create(name="part", whole=whole, other=other)


def pytest_addoption(parser):
    parser.addoption("--capabilities", metavar="FOLDER", type=Path, help=capabilities.__doc__)


def pytest_configure(config):
    # The processes of xdist report to the one that has no workerinput.
    folder = config.getoption("--capabilities")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(capabilities.Recorder(folder))


_SOURCE = Source(os.environ.get("RANDOM_SOURCE", "1"))
_SOURCE.install()


def pytest_runtest_setup(item):
    _SOURCE.start(item.nodeid)


def _children():
    """The processes that this one has started and that still are there, where Linux says so."""
    found = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            found |= {int(pid) for pid in file.read_text().split()}
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """What a test has started doesn't outlive it, when it fails or takes too long."""
    before = _children()
    try:
        return (yield)
    except BaseException:
        for pid in _children() - before:
            os.kill(pid, signal.SIGKILL)
        raise


def pytest_collection_finish():
    """Modules and tests stay to the end: no collection looks at them again. From Python 3.14 on,
    Hypothesis looks for the references to its sources among the objects that a collection sees."""
    if sys.version_info < (3, 14):
        gc.freeze()


def pytest_collection_modifyitems(items):
    """Keep one case of a test that is for another engine: it is reported as skipped, once and not
    a hundred times. On a server, keep what it may change."""
    kept = {}
    for item in items:
        if connection.vendor != "sqlite" and not _may_differ(item):
            continue
        reasons = tuple(_reasons_to_skip(item))
        name = item.nodeid.partition("[")[0] if reasons else item.nodeid
        kept.setdefault((name, reasons), item)
    # The longest first: at the end, no process works on one while the other has nothing to do.
    items[:] = sorted(kept.values(), key=lambda item: not _LONGEST.search(item.nodeid))


def _may_differ(item):
    """Whether a test uses the database, or its module asks which one it is."""
    uses = item.get_closest_marker("django_db") or {"db", "transactional_db"} & {*item.fixturenames}
    asks = hasattr(item.module, "connection") or any(item.iter_markers("skipif"))
    return bool(uses or asks)


def _reasons_to_skip(item):
    for mark in item.iter_markers("skipif"):
        (condition,) = mark.args
        if eval(condition, item.obj.__globals__) if isinstance(condition, str) else condition:
            yield mark.kwargs["reason"]


@pytest.fixture
def shows(record_property):
    """Note that the test, if it passes, shows a capability of a column, or that it is refused."""

    def note(capability, field, has=True):
        record_property(
            "capability",
            {
                "engine": capabilities.engine(),
                "column": capabilities.label(field),
                "capability": capability,
                "has": has,
            },
        )

    return note
