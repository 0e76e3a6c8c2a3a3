"""``SORTABLE_IDS``: every key is checked; and the environment variable for the worker number."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from django_sortable_ids import conf, workers
from django_sortable_ids.checks.definitions import check_definitions, check_workers
from django_sortable_ids.fields import SnowflakeField, Time64Field, ULIDField, UUIDv7Field
from django_sortable_ids.schemes.clock_and_randomness import RollbackRule
from django_sortable_ids.schemes.generator import Generator
from tests.combinations import in_one_case

WORKER = "None, a whole number from 0, or 'lease'"
SECONDS, OF_TERM = "seconds, from 0 to 10**9", "seconds, from 1 to 10**9"
POLICY = '"advance", "wait" or "raise"'
WRONG = [
    *(("WORKER", each, WORKER) for each in (-1, 1.0, "1", True, False, [1], {}, "LEASE")),
    *(("WORKER_LEASE_SECONDS", each, OF_TERM) for each in (0.9, None, float("inf"), 10**12)),
    ("WORKER_CLOCK_SKEW_SECONDS", -1, SECONDS),
    *(("GUARD_MIGRATIONS", each, "True or False") for each in (None, 0, 1, "no", [])),
    *(("CLOCK_ROLLBACK", each, POLICY) for each in ("stop", None)),
    *(("CLOCK_ROLLBACK_LIMIT", each, SECONDS) for each in (-1, True, float("nan"), 1e300, "10")),
]


@pytest.fixture
def variable(monkeypatch):
    """Sets the environment variable."""
    return lambda value: monkeypatch.setenv("SORTABLE_IDS_WORKER", value)


def errors():
    return [each.msg for each in check_definitions() if each.id == "sortable_ids.E003"]


def test_nothing_set(settings):
    del settings.SORTABLE_IDS
    assert conf.worker() is None
    assert (conf.get("WORKER_LEASE_SECONDS"), conf.get("WORKER_CLOCK_SKEW_SECONDS")) == (60, 10)
    assert conf.get("GUARD_MIGRATIONS") is True
    assert conf.rollback_rule() == RollbackRule("advance", 10_000_000_000)
    assert workers.take_lease() is None


def test_the_first_worker(settings):
    settings.SORTABLE_IDS = {"WORKER": 0}
    assert conf.worker() == 0


@in_one_case(("key", "value", "expected"), WRONG)
def test_wrong_values(settings, key, value, expected):
    settings.SORTABLE_IDS = {key: value}
    message = f"SORTABLE_IDS[{key!r}] is {value!r}; expected {expected}"
    assert any(message in each for each in errors())
    if key == "WORKER":
        with pytest.raises(ImproperlyConfigured):
            SnowflakeField().generate()
    if key.startswith("CLOCK_"):
        with pytest.raises(ImproperlyConfigured) as refusal:
            ULIDField().generate()
        assert str(refusal.value) == message


@in_one_case("key", ["worker", "WORKERS", "", 1])
def test_unknown_keys(settings, key):
    settings.SORTABLE_IDS = {key: 1, "WORKER": 1}
    with pytest.raises(ImproperlyConfigured) as refusal:
        conf.worker()
    assert str(refusal.value).startswith(
        f"SORTABLE_IDS has no key {key!r}; expected one of WORKER, "
    )


def test_the_rule_for_a_clock_that_goes_back(settings):
    settings.SORTABLE_IDS = {"CLOCK_ROLLBACK": "raise", "CLOCK_ROLLBACK_LIMIT": 0.5}
    before = Generator.rule
    try:
        UUIDv7Field().generate()
        assert Generator.rule == RollbackRule("raise", 500_000_000)
    finally:
        Generator.rule = before


# Worker numbers


def test_the_worker_of_new_ids(settings):
    settings.SORTABLE_IDS = {"WORKER": 5}
    snowflakes = SnowflakeField()
    assert {snowflakes.generate() >> 12 & 1023 for _ in range(10)} == {5}
    times = Time64Field(workers=100)
    assert {times.generate() // 1000 % 100 for _ in range(10)} == {5}
    assert UUIDv7Field().generate()


def test_a_worker_number_that_the_scheme_has_no_place_for(settings, variable):
    settings.SORTABLE_IDS = {"WORKER": 1024}
    expected = "SORTABLE_IDS_WORKER doesn't fit .*: worker number 1024: expected 0 to 1023"
    refused = pytest.raises(ImproperlyConfigured, match=expected)
    with refused:
        SnowflakeField().generate()
    settings.SORTABLE_IDS = {}
    variable("1024")
    with refused:
        SnowflakeField().generate()
    assert errors()


def test_a_lease(settings):
    settings.SORTABLE_IDS = {
        "WORKER": "lease",
        "WORKER_LEASE_SECONDS": 1.5,
        "WORKER_CLOCK_SKEW_SECONDS": 0,
    }
    assert conf.worker() == "lease"
    assert (conf.get("WORKER_LEASE_SECONDS"), conf.get("WORKER_CLOCK_SKEW_SECONDS")) == (1.5, 0)
    assert check_workers() == errors() == []
    # A scheme without worker numbers asks no database, which pytest-django forbids here.
    assert ULIDField().generate()
    assert SnowflakeField(worker_bits=0).generate()


@pytest.mark.parametrize("setting", [None, 7, "lease"])
@in_one_case(("text", "worker"), [("0", 0), ("1023", 1023), ("lease", "lease")])
def test_the_environment_stands_above_the_setting(settings, variable, setting, text, worker):
    settings.SORTABLE_IDS = {"WORKER": setting}
    variable(text)
    assert conf.worker() == worker
    if worker != "lease":
        assert SnowflakeField().generate() >> 12 & 1023 == worker


@in_one_case("text", ["", "-1", "1.0", " 1", "seven", "None", "²"])
def test_wrong_environments(settings, variable, text):
    settings.SORTABLE_IDS = {"WORKER": 7}
    variable(text)
    with pytest.raises(ImproperlyConfigured) as refusal:
        SnowflakeField().generate()
    assert str(refusal.value) == (
        f"the environment variable SORTABLE_IDS_WORKER is {text!r}; expected a whole number from "
        f"0, or 'lease'"
    )
    assert errors()
    ULIDField().generate()
