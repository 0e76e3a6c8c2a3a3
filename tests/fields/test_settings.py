"""``SORTABLE_IDS``: every key is checked."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from django_sortable_ids import conf
from django_sortable_ids.checks.definitions import check_definitions
from django_sortable_ids.fields import SnowflakeField, Time64Field, ULIDField, UUIDv7Field
from django_sortable_ids.schemes.generation.clock import (
    RollbackRule,
    rollback_rule,
    set_rollback_rule,
)
from tests.combinations import in_one_case


def test_nothing_set(settings):
    del settings.SORTABLE_IDS
    assert conf.worker() is None
    assert conf.guard_migrations() is True


@in_one_case("worker", [None, 0, 1, 1023])
def test_worker_numbers(settings, worker):
    settings.SORTABLE_IDS = {"WORKER": worker}
    assert conf.worker() == worker


@in_one_case("value", [-1, 1.0, "1", True, False, [1], {}])
def test_wrong_worker_numbers(settings, value):
    settings.SORTABLE_IDS = {"WORKER": value}
    with pytest.raises(ImproperlyConfigured) as refusal:
        conf.worker()
    assert str(refusal.value) == (
        f"SORTABLE_IDS['WORKER'] is {value!r}; expected None, a whole number from 0, or 'lease'"
    )
    with pytest.raises(ImproperlyConfigured):
        SnowflakeField().generate()


@in_one_case("value", [None, 0, 1, "no", []])
def test_wrong_guards(settings, value):
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": value}
    with pytest.raises(ImproperlyConfigured, match=r"\['GUARD_MIGRATIONS'\] is .*; expected True"):
        conf.guard_migrations()


@in_one_case("key", ["worker", "WORKERS", "", 1])
def test_unknown_keys(settings, key):
    settings.SORTABLE_IDS = {key: 1, "WORKER": 1}
    with pytest.raises(ImproperlyConfigured) as refusal:
        conf.worker()
    assert str(refusal.value).startswith(
        f"SORTABLE_IDS has no key {key!r}; expected one of WORKER, "
    )


@in_one_case("value", [None, [], "WORKER", 1, ["WORKER"]])
def test_no_dict(settings, value):
    settings.SORTABLE_IDS = value
    with pytest.raises(ImproperlyConfigured) as refusal:
        conf.worker()
    assert str(refusal.value) == f"SORTABLE_IDS is of type {type(value).__name__}; expected a dict"


def test_the_worker_of_new_ids(settings):
    settings.SORTABLE_IDS = {"WORKER": 5}
    snowflakes = SnowflakeField()
    assert {snowflakes.generate() >> 12 & 1023 for _ in range(10)} == {5}
    times = Time64Field(workers=100)
    assert {times.generate() // 1000 % 100 for _ in range(10)} == {5}
    assert UUIDv7Field().generate()


def test_a_worker_number_that_the_scheme_has_no_place_for(settings):
    settings.SORTABLE_IDS = {"WORKER": 1024}
    with pytest.raises(ValueError, match="worker number 1024: expected 0 to 1023"):
        SnowflakeField().generate()


def test_the_rule_for_a_clock_that_goes_back(settings):
    assert conf.rollback_rule() == RollbackRule("advance", 10_000_000_000)
    settings.SORTABLE_IDS = {"CLOCK_ROLLBACK": "raise", "CLOCK_ROLLBACK_LIMIT": 0.5}
    before = rollback_rule()
    try:
        UUIDv7Field().generate()
        assert rollback_rule() == RollbackRule("raise", 500_000_000)
    finally:
        set_rollback_rule(before)


@in_one_case(
    ("key", "value", "expected"),
    [
        ("CLOCK_ROLLBACK", "stop", '"advance", "wait" or "raise"'),
        ("CLOCK_ROLLBACK", None, '"advance", "wait" or "raise"'),
        ("CLOCK_ROLLBACK_LIMIT", -1, "seconds, from 0"),
        ("CLOCK_ROLLBACK_LIMIT", True, "seconds, from 0"),
        ("CLOCK_ROLLBACK_LIMIT", float("nan"), "seconds, from 0"),
        ("CLOCK_ROLLBACK_LIMIT", "10", "seconds, from 0"),
    ],
)
def test_wrong_rules_for_a_clock_that_goes_back(settings, key, value, expected):
    settings.SORTABLE_IDS = {key: value}
    with pytest.raises(ImproperlyConfigured) as refusal:
        ULIDField().generate()
    assert str(refusal.value) == f"SORTABLE_IDS[{key!r}] is {value!r}; expected {expected}"
    assert "sortable_ids.E003" in {message.id for message in check_definitions()}
