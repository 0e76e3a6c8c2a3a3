"""Published ids and computed ones, each with its origin, in ``vectors/<scheme>.json``."""

import uuid
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import pytest

from django_sortable_ids.schemes import OutOfRange, all_schemes, get
from django_sortable_ids.schemes.mask import MaskKey, mask, siphash, unmask
from tests.combinations import in_one_case

from .support import VECTORS, floored, is_refused, unix_ns, vectors


def _files():
    for path in sorted(VECTORS.glob("*.json")):
        data = vectors(path.stem)
        if "scheme" in data:
            yield path.stem, data


def _scheme(data):
    scheme = get(data["scheme"], **data["options"])
    if "epoch" not in data:
        return scheme
    return replace(scheme, epoch_ns=unix_ns(datetime.fromisoformat(data["epoch"])))


def _params(key, select=lambda entry: True):
    return [
        pytest.param(_scheme(data), entry, id=f"{name} {entry['text'][:40]!r}")
        for name, data in _files()
        for entry in data[key]
        if select(entry)
    ]


VALID = _params("valid")
SHOWN = _params("valid", lambda entry: entry["created_at"] is not None)
PAST_9999 = _params("valid", lambda entry: entry["created_at"] is None)
OF_WORKERS = _params("valid", lambda entry: "worker" in entry)
ENCODED = _params("valid", lambda entry: entry.get("encodings"))
CONVERTED = _params("valid", lambda entry: entry.get("conversions"))
ACCEPTED = _params("accepted")
INVALID = [
    pytest.param(_scheme(data), data["invalid"], id=name)
    for name, data in _files()
    if data["invalid"]
]


def _exact_ns(text):
    """The Unix time in ns of an ISO time with up to nine digits of the second."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    whole = unix_ns(datetime.fromisoformat(f"{seconds}Z"))
    return whole + int(Fraction(f"0.{fraction or 0}") * 10**9)


def test_every_scheme_has_vectors():
    named = {data["scheme"] for _, data in _files()} | {"lexical_sequence"}
    assert named == {scheme.name for scheme in all_schemes()}


@in_one_case(("scheme", "vector"), VALID)
def test_text_number_and_parts(scheme, vector):
    value = scheme.parse(vector["text"])
    assert scheme.to_int(value) == int(vector["number"])
    assert scheme.from_int(int(vector["number"])) == value
    assert scheme.format(value) == vector["text"]
    assert scheme.parts(value) == (int(vector["tick"]), int(vector["tail"]))


@in_one_case(("scheme", "vector"), OF_WORKERS)
def test_worker_and_sequence(scheme, vector):
    suffixes = scheme.layout.suffixes_of(int(vector["worker"]))
    assert suffixes[int(vector["sequence"])] == int(vector["tail"])


@in_one_case(("scheme", "vector"), SHOWN)
def test_created_at(scheme, vector):
    value = scheme.parse(vector["text"])
    made = scheme.created_at(value)
    # fromisoformat cuts digits after the sixth.
    assert made == datetime.fromisoformat(vector["created_at"])
    assert made.utcoffset().total_seconds() == 0
    tick, _ = scheme.parts(value)
    assert scheme.epoch_ns + tick * scheme.tick_ns == _exact_ns(vector["created_at"])


@in_one_case(("scheme", "vector"), PAST_9999)
def test_a_year_past_9999_is_out_of_range(scheme, vector):
    value = scheme.parse(vector["text"])
    with pytest.raises(OutOfRange, match="after the year 9999"):
        scheme.created_at(value)


@in_one_case(("scheme", "vector"), ENCODED)
def test_encodings(scheme, vector):
    value = scheme.parse(vector["text"])
    for encoding, text in vector["encodings"].items():
        assert scheme.format(value, encoding) == text
        assert scheme.parse(text, encoding) == value


@in_one_case(("scheme", "vector"), CONVERTED)
def test_conversions(scheme, vector):
    value = scheme.parse(vector["text"])
    for name, text in vector["conversions"].items():
        other = get(name)
        assert scheme.convert(value, to=other) == (other.parse(text), True)
        assert other.convert(other.parse(text), to=scheme) == (value, True)


@in_one_case(("scheme", "entry"), ACCEPTED)
def test_accepted_spellings(scheme, entry):
    value = scheme.parse(entry["text"], entry.get("encoding"))
    assert scheme.format(value) == entry["canonical"]


@in_one_case(("scheme", "entries"), INVALID)
def test_invalid_texts(scheme, entries):
    assert [entry for entry in entries if not is_refused(scheme, entry)] == []


@in_one_case("entry", vectors("kuuid_prefixes")["prefixes"])
def test_kuuid_prefixes(entry):
    scheme = get(entry["scheme"], **entry["options"])
    at = datetime.fromisoformat(entry["created_at"])
    assert scheme.format(scheme.generate(at)).startswith(entry["prefix"])
    assert scheme.format(scheme.lower_bound(floored(scheme, at))).startswith(entry["prefix"])


@in_one_case("entry", vectors("kuuid_prefixes")["refused"])
def test_kuuid_refuses_times_that_8_characters_cannot_hold(entry):
    scheme = get(entry["scheme"], **entry["options"])
    at = datetime.fromisoformat(entry["created_at"])
    with pytest.raises(OutOfRange):
        scheme.generate(at)


# UUIDv47: SipHash, and the facades of UUIDv7 values.


MASKS = vectors("uuidv47")
KEY = MaskKey.from_hex("0123456789abcdeffedcba9876543210")


@in_one_case("vector", MASKS["siphash"])
def test_siphash(vector):
    # The reference key is the bytes 00 to 0f, two little-endian numbers.
    key = MaskKey(0x0706050403020100, 0x0F0E0D0C0B0A0908)
    found = siphash(bytes(range(vector["length"])), key)
    assert found.to_bytes(8, "little").hex() == vector["hash"]


@in_one_case("vector", MASKS["facades"])
def test_facades(vector):
    key = MaskKey.from_hex(vector["key"])
    stored, shown = (uuid.UUID(vector[name]).int for name in ("uuid7", "facade"))
    assert mask(stored, key) == shown
    assert unmask(shown, key) == stored


def test_a_key_is_not_shown():
    assert repr(KEY) == str(KEY) == "MaskKey(...)"


@in_one_case("text", [entry["text"] for entry in MASKS["invalid"][1:]])
def test_what_is_no_version_4_is_no_facade(text):
    assert unmask(uuid.UUID(text).int, KEY) is None
