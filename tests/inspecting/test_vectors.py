"""Ids that other programs generated, decoded: their time, worker, sequence and every digit."""

import uuid
from dataclasses import replace
from datetime import datetime

import pytest

from django_sortable_ids.inspecting.candidates import as_format, candidates
from django_sortable_ids.inspecting.parts import Kind
from django_sortable_ids.schemes import get
from tests.combinations import in_one_case
from tests.schemes.support import VECTORS, unix_ns, vectors


def _files():
    for path in sorted(VECTORS.glob("*.json")):
        data = vectors(path.stem)
        if "scheme" in data:
            scheme = get(data["scheme"], **data["options"])
            if "epoch" in data:
                epoch = datetime.fromisoformat(data["epoch"])
                scheme = replace(scheme, epoch_ns=unix_ns(epoch))
            yield path.stem, scheme, data


VALID = [
    pytest.param(scheme, vector, id=f"{name} {vector['text'][:40]!r}")
    for name, scheme, data in _files()
    for vector in data["valid"]
]
OF_WORKERS = [param for param in VALID if "worker" in param.values[1]]


def decoded(scheme, text):
    (found,) = candidates(text, [as_format(scheme)])
    return found


def only(anatomy, kind):
    (part,) = (part for part in anatomy.parts if part.kind is kind)
    return part


@in_one_case(("scheme", "vector"), VALID)
def test_time(scheme, vector):
    found = decoded(scheme, vector["text"])
    assert only(found.anatomy, Kind.TIME).value == int(vector["tick"])
    if vector["created_at"] is None:
        assert found.utc is None
        assert found.doubt == "its time is in the future"
        return
    expected = datetime.fromisoformat(vector["created_at"])
    assert found.created == datetime.fromisoformat(found.utc) == expected
    assert found.local in (None, expected)


@in_one_case(("scheme", "vector"), OF_WORKERS)
def test_worker_and_sequence(scheme, vector):
    parts = decoded(scheme, vector["text"]).anatomy.parts
    by_kind = {part.kind: part.value for part in parts}
    assert by_kind[Kind.WORKER] == int(vector["worker"])
    assert by_kind.get(Kind.SEQUENCE, 0) == int(vector["sequence"])


@in_one_case(("scheme", "vector"), VALID)
def test_the_values_are_those_of_the_digits(scheme, vector):
    """Read from the digits, and not as the scheme reads them."""
    found = decoded(scheme, vector["text"])
    suffix, anatomy = 0, found.anatomy
    for part in sorted(anatomy.parts, key=lambda part: part.places):
        places = (anatomy.text[each.first : each.last + 1] for each in part.places)
        digits = "".join(places)
        base = len(anatomy.alphabet)
        value = sum(
            anatomy.alphabet.index(digit) * base**at for at, digit in enumerate(reversed(digits))
        )
        if part.kind is not Kind.TIME:
            complement = base**part.width - 1
            assert part.value == (complement - value if found.is_newest_first else value)
        if part.kind in (Kind.WORKER, Kind.SEQUENCE, Kind.RANDOM):
            suffix = suffix * base**part.width + part.value
    assert suffix == int(vector["tail"])


@pytest.mark.parametrize(
    ("text", "sequence", "node"),
    [
        ("c232ab00-9414-11ec-b3c8-9f6bdeced846", 0x33C8, 0x9F6BDECED846),  # RFC 9562, A.1
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 0x00B4, 0x00C04FD430C8),  # DNS, section 6.6
    ],
)
def test_a_uuid_of_version_1_as_the_standard_library_reads_it(text, sequence, node):
    python = uuid.UUID(text)
    found = decoded(get("uuid1"), text)
    values = {str(part.name): part.value for part in found.anatomy.parts}
    assert values["time"] == python.time
    assert values["clock sequence"] == python.clock_seq == sequence
    assert values["node"] == python.node == node
    assert values["version"] == python.version
    assert values["variant"] == 0b10


def test_an_xid_as_its_own_tests_read_it():
    found = decoded(get("xid"), "9m4e2mr0ui3e8a215n4g")
    values = {str(part.name): part.value for part in found.anatomy.parts}
    assert values == {
        "time": 1300816219,
        "machine": 0x60F486,
        "process": 0xE428,
        "counter": 4271561,
    }


def test_a_worker_number_after_the_sequence():
    """https://github.com/sony/sonyflake: time, sequence 8, machine 16."""
    found = decoded(get("sonyflake"), "52908628377796615")
    assert [(part.kind, part.value) for part in found.anatomy.parts[-2:]] == [
        (Kind.SEQUENCE, 3),
        (Kind.WORKER, 7),
    ]
