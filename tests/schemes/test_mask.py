"""UUIDv47: SipHash, and the facades of UUIDv7 values."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.mask import MaskKey, mask, siphash, unmask
from tests.combinations import in_one_case

from .support import examples, values, vectors

VECTORS = vectors("uuidv47")
KEY = MaskKey.from_hex("0123456789abcdeffedcba9876543210")


@in_one_case("vector", VECTORS["siphash"])
def test_siphash(vector):
    # The reference key is the bytes 00 to 0f, two little-endian numbers.
    key = MaskKey(0x0706050403020100, 0x0F0E0D0C0B0A0908)
    found = siphash(bytes(range(vector["length"])), key)
    assert found.to_bytes(8, "little").hex() == vector["hash"]


@in_one_case("vector", VECTORS["facades"])
def test_facades(vector):
    key = MaskKey.from_hex(vector["key"])
    stored, shown = (uuid.UUID(vector[name]).int for name in ("uuid7", "facade"))
    assert mask(stored, key) == shown
    assert unmask(shown, key) == stored


@pytest.mark.parametrize("text", ["", "0" * 31, "0" * 33, "g" * 32, "0" * 32 + "\n", "٣" * 32])
def test_keys_that_are_refused_are_not_shown(text):
    with pytest.raises(ValueError, match=r"^expected a mask key of 32 hexadecimal digits$"):
        MaskKey.from_hex(text)


def test_a_key_is_not_shown():
    assert repr(KEY) == str(KEY) == "MaskKey(...)"


@examples
@given(data=st.data())
def test_a_facade_is_a_version_4_that_keeps_the_random_bits(data):
    stored = data.draw(values(get("uuid7")))
    shown = uuid.UUID(int=mask(stored.int, KEY))
    assert (shown.version, shown.variant) == (4, uuid.RFC_4122)
    assert shown.bytes[8:] == stored.bytes[8:]
    assert shown.bytes[7] == stored.bytes[7]
    assert unmask(shown.int, KEY) == stored.int


def test_facades_do_not_sort_by_time():
    made = get("uuid7").generate_many(50)
    shown = [mask(value.int, KEY) for value in made]
    assert shown != sorted(shown)
    assert len({number >> 80 for number in shown}) > 40


@pytest.mark.parametrize("text", [entry["text"] for entry in VECTORS["invalid"][1:]])
def test_what_is_no_version_4_is_no_facade(text):
    assert unmask(uuid.UUID(text).int, KEY) is None
