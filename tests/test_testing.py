"""``testing``: ids that are the same in every run."""

from datetime import UTC, datetime, timedelta

import freezegun
import pytest
import time_machine

from django_sortable_ids.fields import SnowflakeField, ULIDField, UUIDv7Field
from django_sortable_ids.schemes import get
from django_sortable_ids.testing import IDClock
from django_sortable_ids.testing import deterministic_ids as deterministic

AT = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def made(count=3):
    fields = UUIDv7Field(), ULIDField(), SnowflakeField()
    return [field.generate() for field in fields for _ in range(count)]


def test_the_same_ids_in_every_run():
    with deterministic(AT):
        first = made()
    made()
    with deterministic(AT):
        assert made() == first
    with deterministic(AT, seed=1):
        assert not set(made()) & set(first)


def test_ids_that_a_test_can_spell_out(deterministic_ids):
    ulid = get("ulid")
    assert [ulid.generate(), ulid.generate()] == [
        "01KDVDNA00R84P57VFQVC2R1YD",
        "01KDVDNA00R84WWJG42JY163JG",
    ]
    deterministic_ids.move_by(DAY)
    assert ulid.created_at(ulid.generate()) == AT + DAY


def test_ids_are_unique_and_of_the_time_that_is_set():
    scheme = get("uuid7")
    found = []
    with deterministic(AT) as clock:
        for at in (AT, AT - 4000 * DAY, AT + DAY, AT, AT - 4000 * DAY):
            clock.move_to(at)
            found += (scheme.generate() for _ in range(100))
            assert scheme.created_at(found[-1]) == at
    assert len(set(found)) == 500


def test_without_a_time_the_clock_is_that_of_the_test():
    scheme = get("ulid")
    with deterministic() as clock:
        assert datetime.now(UTC) - scheme.created_at(scheme.generate()) < DAY
        with freezegun.freeze_time(AT - DAY):
            assert scheme.created_at(scheme.generate()) == AT - DAY
        with time_machine.travel(AT, tick=False):
            assert scheme.created_at(scheme.generate()) == AT
            clock.move_by(DAY)
            assert scheme.created_at(scheme.generate()) == AT + DAY


def test_generators_go_on_where_they_were():
    scheme = get("uuid7")
    before = scheme.generate()
    with deterministic(AT + 4000 * DAY):
        scheme.generate()
    after = scheme.generate()
    assert before < after
    assert datetime.now(UTC) - scheme.created_at(after) < DAY


def test_a_scheme_whose_first_id_is_deterministic_gets_real_ones_afterwards():
    with deterministic(AT):
        scheme = get("snowflake", epoch_ms=1_600_000_000_000)
        scheme.generate()
    made = scheme.created_at(scheme.generate())
    assert abs(datetime.now(UTC) - made) < DAY


def test_what_is_no_time_is_refused():
    with pytest.raises(TypeError, match=r"^expected an aware datetime, found str: '2026-01-01'$"):
        IDClock().move_to("2026-01-01")


def test_naive_times_are_refused():
    naive = AT.replace(tzinfo=None)
    with pytest.raises(ValueError, match="is a naive time"), deterministic(naive):
        pass
    with deterministic() as clock, pytest.raises(ValueError, match="is a naive time"):
        clock.move_to(naive)
