"""``--convert-from``: ids generated from those in another column."""

import random
import uuid

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.schemes import get

from . import support
from .shop.models import Old
from .support import (
    MILLISECOND,
    SECOND,
    START,
    insert,
)

pytestmark = pytest.mark.django_db

LOSSLESS = [("plain", "uuid6"), ("old_uuid7", "ulid")]
NODE = 0x0123456789AB


def old_scheme(source):
    """``plain`` holds UUIDs of version 1."""
    return get("uuid1") if source == "plain" else Old._meta.get_field(source).scheme


def new_scheme(name):
    return Old._meta.get_field(name).scheme


def old_values(source, count=20, same=7):
    """In the order of time, ``same`` of them in each second; in a second some are of one tick."""
    scheme, made = old_scheme(source), []
    for start in range(0, count, same):
        size = min(same, count - start)
        at = START + start // same * SECOND
        many = scheme.generate_many(size - size // 2, at)
        made += [*many, *scheme.generate_many(size // 2, at + 3 * MILLISECOND)]
    return sorted(made, key=scheme.parts)


def native_mariadb_uuid():
    return connection.vendor == "mysql" and connection.features.has_native_uuid_field


def insert_old(source, values, **more):
    """In an order of keys that isn't that of time."""
    shuffled = random.Random(7).sample(values, len(values))
    insert(Old, [{source: value, "name": "", "text": "", **more} for value in shuffled])


def label(name):
    return name if "." in name else f"shop.Old.{name}"


def find(name, source, **more):
    return find_target(label(name), {"convert_from": source, **more}, "default")


def fill(name, source, size=5000, progress=lambda _: None):
    return run.execute(plan.build(find(name, source), size), progress)


def run_command(name, *arguments):
    return support.command(label(name), *arguments)


def refusal(name, *arguments):
    said = support.refusal(label(name), *arguments)
    assert not BackfillRun.objects.exists()
    return said


# What comes out


def test_the_same_old_id_twice_keeps_the_order_of_the_keys():
    value = old_values("old_ulid", 1)[0]
    insert(Old, [{"old_ulid": value, "name": "", "text": ""}] * 5)
    fill("uuid7", "old_ulid", 2)
    found = list(Old.objects.order_by("pk").values_list("uuid7", flat=True))
    assert found == sorted(set(found))


def test_fresh_randomness_where_not_every_bit_comes_along():
    """The address of a network card is dropped."""
    first = uuid.uuid1(node=NODE, clock_seq=1)
    insert_old("plain", [get("uuid1").convert(first, to=get("uuid6")).value] * 5)
    fill("uuid7", "plain")
    suffixes = {value.int & (1 << 48) - 1 for value in Old.objects.values_list("uuid7", flat=True)}
    assert len(suffixes) == 5
    assert NODE not in suffixes


# Concurrent writers


@pytest.mark.parametrize(("source", "name"), [("old_uuid7", "ulid"), ("old_ulid", "uuid7")])
def test_ids_of_the_application_are_left_alone_and_no_failure(source, name):
    insert_old(source, old_values(source))
    own = new_scheme(name).generate()
    made = old_scheme(source).generate()
    insert_old(source, [made], **{name: own})
    fill(name, source, 4)
    assert Old.objects.values_list(name, flat=True).get(**{source: made}) == own
    lines = run_command(name, "--verify")
    assert lines[0] == "21 rows, 21 with an id"
    if (source, name) in LOSSLESS:
        assert lines[1].startswith("1 id of the application or of another run: ")
        assert lines[2] == "all different"


def test_exchanged_ids_of_nearly_the_same_time_fail():
    insert_old("plain", old_values("plain", 2))
    fill("uuid6", "plain")
    one, other = Old.objects.all()
    ids = one.uuid6, other.uuid6
    Old.objects.update(uuid6=None)
    for row, value in zip((other, one), ids, strict=True):
        Old.objects.filter(pk=row.pk).update(uuid6=value)
    assert "2 rows with an id not converted from the old one" in support.refusal(
        label("uuid6"), "--verify"
    )


# What can't be converted


def test_random_uuids_need_a_creation_time():
    insert_old("plain", [uuid.uuid4() for _ in range(3)])
    assert refusal("uuid7", "--convert-from=plain") == (
        "shop.Old.plain holds UUIDs of version 4 or another that carries no time: use "
        "--created-from instead of --convert-from"
    )


@pytest.mark.parametrize("source", ["nope", "uuid7", "text", "number"])
@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--verify",)])
def test_what_is_no_source(source, options):
    assert refusal("uuid7", f"--convert-from={source}", *options).startswith(
        f"shop.Old.{source} is no UUIDField, nor another sortable id with a time, to convert from; "
        "shop.Old has plain, old_uuid7, mixed, old_ulid, old_ksuid, old_snowflake, old_reversed, "
        "old_cuid, uuid6, ulid, snowflake, kuuid, eighth"
    )


def test_a_sequence_has_no_time_to_convert_to():
    assert refusal("number", "--convert-from=old_ulid") == (
        "shop.Old.number is of the scheme lexical sequence, which has no time to convert to: use "
        "--created-from instead of --convert-from"
    )


def test_two_times_are_one_too_many():
    assert refusal("uuid7", "--convert-from=old_ulid", "--created-from=created_at") == (
        "--created-from and --convert-from: give only one of them"
    )


def test_old_ids_that_do_not_sort_are_converted_in_two_steps():
    insert_old("plain", old_values("plain"))
    assert refusal("uuid7", "--convert-from=plain") == (
        "shop.Old.plain holds UUIDv1s, which the database doesn't sort by their times, and "
        "shop.Old.uuid7 can't keep every bit of them: convert them into a field that can, such "
        "as a UUIDv6Field of UUIDv1s, and that field into uuid7; or use --created-from instead "
        "of --convert-from"
    )
    fill("uuid6", "plain")
    fill("uuid7", "uuid6")
    old, new = get("uuid1"), get("uuid7")
    found = list(Old.objects.values_list("plain", "uuid7"))
    in_time = sorted(found, key=lambda row: old.parts(row[0]))
    assert in_time == sorted(found, key=lambda row: new.parts(row[1]))


def test_uuids_that_mariadb_does_not_sort_are_refused():
    if not native_mariadb_uuid():
        pytest.skip("others sort them")
    scheme = get("comb13")
    made = [
        scheme.from_int(scheme.to_int(each) | 1 << 56) for each in scheme.generate_many(5, START)
    ]
    insert_old("plain", made)
    assert "which the database doesn't sort by their times" in refusal(
        "kuuid", "--convert-from=plain"
    )


@pytest.mark.parametrize("name", ["uuid6"])
def test_a_row_of_another_version_is_refused_by_name(name):
    insert(Old, [{"plain": value, "name": "", "text": ""} for value in old_values("plain", 5)])
    first, other = uuid.uuid4(), uuid.uuid4()
    insert(Old, [{"plain": value, "name": "", "text": ""} for value in (first, other)])
    key = Old.objects.get(plain=first).pk
    assert refusal(name, "--convert-from=plain") == (
        f"shop.Old {key} (and 1 other row) has the plain {first}, a UUID of version 4, and "
        f"UUIDv1 was expected. Give it an id yourself, or set the old id to NULL and choose "
        f"--on-null, or use --created-from for all rows; nothing was written."
    )
    assert Old.objects.filter(**{name: None}).count() == 7


@pytest.mark.parametrize(("source", "name"), [("plain", "uuid6"), ("old_ulid", "uuid7")])
def test_rows_without_an_old_id(source, name):
    insert_old(source, old_values(source, 5))
    insert_old(source, [None])
    key = Old.objects.get(**{source: None}).pk
    assert refusal(name, f"--convert-from={source}") == (
        f"shop.Old {key} has no {source}. Give it one, or choose --on-null, or give it an id "
        f"yourself; nothing was written."
    )
    lines = run_command(name, f"--convert-from={source}", "--on-null=skip")
    assert lines[-1] == (f"Next: manage.py backfill_ids shop.Old.{name} --on-null=skip --verify")
    assert Old.objects.filter(**{name: None}).get().pk == key
    lines = run_command(name, "--verify", "--on-null=skip")
    assert lines[:2] == [
        "6 rows, 5 with an id",
        "1 row skipped: without a time, or one out of range",
    ]
    run_command(name, f"--convert-from={source}", "--on-null=now")
    made = Old.objects.values_list(name, flat=True).get(pk=key)
    assert new_scheme(name).created_at(made) > START


# --verify


def test_ids_of_another_epoch_are_refused():
    insert_old("old_snowflake", [(1_704_067_200_000 + n << 22) for n in range(5)])
    assert refusal("uuid7", "--convert-from=old_snowflake") == (
        "shop.Old.old_snowflake: 5 of 5 sampled ids would be of a time after now, such as "
        "2064-11-03, and new ids would sort before them. Find out from which epoch, and in "
        "which units, they count: `manage.py inspect_id` decodes one by each scheme. Then set "
        "that, such as by epoch_ms= or layout=."
    )
