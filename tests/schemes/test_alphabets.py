"""Positional notation over the alphabets."""

import random
import re

import pytest

from django_sortable_ids.schemes.encodings import alphabets
from django_sortable_ids.schemes.encodings.notation import Notation
from tests.combinations import in_one_case

from .support import vectors

ALPHABETS = {
    "HEX_LOWER": 16,
    "HEX_UPPER": 16,
    "CROCKFORD": 32,
    "CROCKFORD_LOWER": 32,
    "PUSH_ID": 64,
    "BASE36_LOWER": 36,
    "BASE58": 58,
    "BASE62": 62,
    "SHORTUUID": 57,
}


@pytest.mark.parametrize("name", ALPHABETS)
def test_every_alphabet_is_sorted_and_has_no_character_twice(name):
    alphabet = getattr(alphabets, name)
    assert len(alphabet) == ALPHABETS[name]
    assert list(alphabet) == sorted(set(alphabet))


@in_one_case("vector", vectors("base62")["numbers"])
def test_base62(vector):
    number, text = int(vector["number"]), vector["text"]
    for length in (len(text), 12):
        notation = Notation(alphabets.BASE62, length)
        assert notation.format(number) == text.rjust(length, "0")
        assert notation.parse(text.rjust(length, "0")) == number


@pytest.mark.parametrize("name", ALPHABETS)
def test_digits_one_by_one_and_many_at_once(name):
    for length in (1, 2, 7, 8, 9, 16, 17, 27, 31, 32):
        check_digits(getattr(alphabets, name), length)


def check_digits(alphabet, length):
    base, notation = len(alphabet), Notation(alphabet, length)
    ends = [0, 1, base - 1, base**length - base, base**length - 1]
    near_powers = [base**power + more for power in range(1, length) for more in (-1, 0)]
    chance = random.Random(9562)
    numbers = [*ends, *near_powers, *(chance.randrange(base**length) for _ in range(1000))]
    for number in numbers:
        text = notation.format(number)
        assert text == "".join(
            alphabet[number // base**place % base] for place in reversed(range(length))
        )
        assert notation.parse(text) == number
    for count in (0, 1, 15, 16, 17, 255, 256, 257, len(numbers)):
        assert notation.format_all(numbers[:count]) == list(map(notation.format, numbers[:count]))


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("BASE62", "12-4", "-"),
        ("BASE62", "12\xe94", "\xe9"),
        ("BASE62", "\uff111", "\uff11"),
        ("HEX_LOWER", "12A4", "A"),
        ("CROCKFORD", "1_24", "_"),
        ("CROCKFORD", "12 ", " "),
        ("CROCKFORD", "+1U", "+"),
    ],
)
def test_the_wrong_character_is_named(name, text, wrong):
    with pytest.raises(ValueError, match=re.escape(f"{wrong!r} is not one of its characters")):
        Notation(getattr(alphabets, name), len(text)).parse(text)
