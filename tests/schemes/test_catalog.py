"""The table of schemes, and that it needs the standard library only."""

import copy
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from django_sortable_ids import schemes
from django_sortable_ids.schemes import TimeScheme, all_schemes, get
from tests.combinations import in_one_case

from .support import SCHEMES, from_unix_ns

NAMES = [scheme.name for scheme in all_schemes()]
WITHOUT_OPTIONS = [
    *("uuid1", "uuid6", "uuid7", "comb13", "comb4", "ulid", "timeflake", "scru128", "pushid"),
    *("cuid", "xid", "objectid"),
]


def test_all_schemes():
    assert len(set(NAMES)) == len(NAMES)
    assert all(get(scheme.name) is scheme for scheme in all_schemes())


@in_one_case("name", WITHOUT_OPTIONS)
def test_a_single_row_has_no_options(name):
    with pytest.raises(TypeError, match=f"scheme '{name}' takes no options; remove layout"):
        get(name, layout="3+6")


@in_one_case(
    ("name", "options", "message"),
    [
        ("snowflake", {"time_bits": 63}, "together 63"),
        ("snowflake", {"time_bits": 0}, "together 63"),
        ("snowflake", {"time_bits": 50, "worker_bits": 14}, "time_bits=50, worker_bits=14"),
        ("snowflake", {"worker_bits": -1}, "worker_bits=-1"),
        ("tsid", {"node_bits": 10.0}, "node_bits=10.0: expected a whole number"),
        ("time64", {"layout": "5+4"}, "expected '4\\+5' or '3\\+6'"),
        ("time64", {"workers": 0}, "expected a power of 10 from 10 to 10000"),
        ("time64", {"workers": 20}, "expected a power of 10 from 10 to 10000"),
        ("time64", {"workers": 10**5}, "expected a power of 10 from 10 to 10000"),
        ("time64", {"layout": "3+6", "workers": 10**6}, "from 10 to 100000"),
        ("kuuid", {"precision": "us"}, "expected 's' or 'ms'"),
        ("ksuid", {"precision": "us"}, "expected 's' or 'ms'"),
        ("snowflake", {"layout": "x"}, "layout='x': expected 'twitter' or 'discord' or"),
        ("instagram", {"worker_bits": 24}, "together 63"),
        ("mastodon", {"time_bits": 63}, "together 63"),
        ("sonyflake", {"version": 3}, "version=3: expected 1 or 2"),
        ("sonyflake", {"worker_bits": 0}, "together 63"),
        ("sonyflake", {"sequence_bits": -1}, "together 63"),
        ("sonyflake", {"sequence_bits": 40, "worker_bits": 23}, "together 63"),
        ("tsid", {"node_bits": 21}, "node_bits=21, sequence_bits=1: expected 1 to 62, 0 to 20"),
        ("tsid", {"node_bits": -1}, "node_bits=-1, .* 0 to 20"),
        *(
            (name, {"epoch_ms": epoch}, f"epoch_ms={epoch!r}: expected a Unix time in ms, a whole")
            for name in ("hexulid", "kuuid", "snowflake", "tsid")
            for epoch in ("x", 1.5, True, 10**15, -(10**15))
            if isinstance(epoch, int) or name not in ("snowflake", "tsid")
        ),
        ("snowflake", {"bits": 64}, "bits=64: expected 2 to 63"),
        ("snowflake", {"bits": 50}, "sequence_bits=-1: expected"),
    ],
)
def test_impossible_options_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        get(name, **options)


@in_one_case("name", ["hexulid", "kuuid", "kuuid_ms", "snowflake", "discord", "sonyflake", "tsid"])
def test_another_epoch_moves_every_time(name):
    epoch = datetime(2000, 1, 1, tzinfo=UTC)
    usual, moved = get(name), get(name, epoch_ms=946_684_800_000)
    assert get(name, epoch_ms=usual.epoch_ns // 1_000_000) == usual
    assert get(name, epoch_ms=None) == usual
    assert get(name, epoch_ms=1) != usual
    with pytest.raises(ValueError, match="epoch_ms=True: expected a Unix time"):
        get(name, epoch_ms=True)
    assert moved.earliest - epoch == usual.earliest - from_unix_ns(usual.epoch_ns)
    number = usual.layout.join(usual.layout.first_tick + 7 * 86_400_000, 5)
    value = moved.from_int(number)
    since = usual.created_at(usual.from_int(number)) - usual.earliest
    assert moved.created_at(value) - moved.earliest == since
    assert moved.lower_bound(moved.created_at(value)) <= value or moved.descending


@in_one_case("name", ["discord", "instagram", "mastodon", "unique_rowid"])
def test_a_layout_of_the_snowflakes_has_a_name_of_its_own(name):
    assert get("snowflake", layout=name) is get(name)
    changed = get(name, epoch_ms=0, time_bits=44)
    assert changed == get("snowflake", layout=name, epoch_ms=0, time_bits=44)
    assert changed.earliest == datetime(1970, 1, 1, tzinfo=UTC)
    assert changed.layout.ticks == 1 << 44
    assert changed.whole_range == get(name).whole_range
    with pytest.raises(TypeError, match="multiple values for keyword argument 'layout'"):
        get(name, layout="twitter")


def test_each_number_fits_a_signed_column():
    assert not get("snowflake", bits=53).holds(2**53)
    for scheme in (param.values[0] for param in SCHEMES):
        if scheme.value_type is int and scheme != get("snowflake", bits=53):
            assert scheme.holds(2**63 - 1)
            assert not scheme.holds(2**63)


@in_one_case("scheme", SCHEMES)
def test_a_scheme_that_made_ids_can_be_copied_and_pickled(scheme):
    if isinstance(scheme, TimeScheme):
        scheme.generate()
    assert copy.deepcopy({"scheme": scheme}) == {"scheme": scheme}
    restored = pickle.loads(pickle.dumps(scheme))
    assert restored == scheme
    assert len({restored, scheme}) == 1
    assert restored.parse(scheme.format(scheme.example)) == scheme.example


def test_the_schemes_need_the_standard_library_only():
    code = (
        "import sys; before = set(sys.modules)\n"
        "import django_sortable_ids.schemes\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    root = Path(schemes.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "django" not in loaded
    assert loaded - sys.stdlib_module_names == {"django_sortable_ids"}
