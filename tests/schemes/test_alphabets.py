"""Positional notation over the alphabets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import alphabets

from .support import examples, vectors

ALPHABETS = {
    "HEX_LOWER": 16,
    "HEX_UPPER": 16,
    "CROCKFORD": 32,
    "CROCKFORD_LOWER": 32,
    "BASE58": 58,
    "BASE62": 62,
    "SHORTUUID": 57,
}


@pytest.mark.parametrize("name", ALPHABETS)
def test_every_alphabet_is_sorted_and_has_no_character_twice(name):
    alphabet = getattr(alphabets, name)
    assert len(alphabet) == ALPHABETS[name]
    assert list(alphabet) == sorted(set(alphabet))


def test_crockford_has_no_i_l_o_u():
    assert not set("ILOU") & set(alphabets.CROCKFORD)


@pytest.mark.parametrize("vector", vectors("base62")["numbers"])
def test_base62(vector):
    number, text = int(vector["number"]), vector["text"]
    assert alphabets.number(text, alphabets.BASE62) == number
    assert alphabets.digits(number, alphabets.BASE62, len(text)) == text
    assert alphabets.digits(number, alphabets.BASE62, 12) == text.rjust(12, "0")


@pytest.mark.parametrize("name", ALPHABETS)
@pytest.mark.parametrize("length", [1, 2, 7, 8])
@examples
@given(data=st.data())
def test_digits_round_trip(name, length, data):
    alphabet = getattr(alphabets, name)
    number = data.draw(st.integers(0, len(alphabet) ** length - 1))
    text = alphabets.digits(number, alphabet, length)
    assert len(text) == length
    assert alphabets.number(text, alphabet) == number


def test_the_wrong_character_is_named():
    with pytest.raises(ValueError, match="'-' is not one of its characters"):
        alphabets.number("12-4", alphabets.BASE62)
