"""What the settings and the environment say of worker numbers."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from django_sortable_ids import conf
from django_sortable_ids.checks.definitions import check_definitions, check_workers
from django_sortable_ids.fields import SnowflakeField, ULIDField
from django_sortable_ids.workers import this_process
from tests.combinations import in_one_case


@pytest.fixture
def variable(monkeypatch):
    """Sets the environment variable."""
    return lambda value: monkeypatch.setenv("SORTABLE_IDS_WORKER", value)


def test_nothing_set():
    assert conf.worker() is None
    assert conf.lease_seconds() == (60, 10)


def test_a_lease(settings):
    settings.SORTABLE_IDS = {
        "WORKER": "lease",
        "WORKER_LEASE_SECONDS": 1.5,
        "WORKER_CLOCK_SKEW_SECONDS": 0,
    }
    assert conf.worker() == "lease"
    assert conf.lease_seconds() == (1.5, 0)
    assert check_workers() == []
    assert "sortable_ids.E003" not in {message.id for message in check_definitions()}


@pytest.mark.parametrize(("text", "worker"), [("0", 0), ("1023", 1023), ("lease", "lease")])
@pytest.mark.parametrize("setting", [None, 7, "lease"])
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
        conf.worker()
    assert str(refusal.value) == (
        f"the environment variable SORTABLE_IDS_WORKER is {text!r}; expected a whole number from "
        f"0, or 'lease'"
    )
    with pytest.raises(ImproperlyConfigured):
        SnowflakeField().generate()
    assert "sortable_ids.E003" in {message.id for message in check_definitions()}
    ULIDField().generate()


def test_an_environment_that_a_scheme_has_no_place_for(variable):
    variable("1024")
    with pytest.raises(ValueError, match="worker number 1024: expected 0 to 1023"):
        SnowflakeField().generate()
    assert "sortable_ids.E003" in {message.id for message in check_definitions()}


@in_one_case(
    ("key", "value", "expected"),
    [
        ("WORKER", "LEASE", "None, a whole number from 0, or 'lease'"),
        ("WORKER_LEASE_SECONDS", 0.9, "seconds, from 1"),
        ("WORKER_LEASE_SECONDS", None, "seconds, from 1"),
        ("WORKER_LEASE_SECONDS", float("inf"), "seconds, from 1"),
        ("WORKER_CLOCK_SKEW_SECONDS", -1, "seconds, from 0"),
    ],
)
def test_wrong_settings(settings, key, value, expected):
    settings.SORTABLE_IDS = {key: value}
    (message,) = (each for each in check_definitions() if each.id == "sortable_ids.E003")
    assert f"SORTABLE_IDS[{key!r}] is {value!r}; expected {expected}" in message.msg


def test_a_scheme_without_worker_numbers_asks_no_database(settings):
    """pytest-django forbids it here."""
    settings.SORTABLE_IDS = {"WORKER": "lease"}
    assert ULIDField().generate()
    assert SnowflakeField(worker_bits=0).generate()


def test_nothing_to_take(settings):
    assert this_process.take_lease() is None
    settings.SORTABLE_IDS = {"WORKER": 7}
    assert this_process.take_lease() is None
