"""Lexical sequences: bijective numeration, and ids that count in it."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import InvalidID, SequenceExhausted, get
from django_sortable_ids.schemes.sequence import CHARSETS, Numeration
from tests.combinations import in_one_case

from .support import SEQUENCES, examples, number_limits, vectors

VECTORS = vectors("lexical_sequence")


def numeration(entry):
    return Numeration(CHARSETS[entry["charset"]], entry.get("ignore_case", False))


def sequence(charset="numeric", **options):
    return get("lexical_sequence", charset=charset, **options)


# Numeration


@in_one_case("entry", VECTORS["additions"])
def test_additions(entry):
    assert numeration(entry).add(entry["text"], entry["count"]) == entry["result"]


@in_one_case("entry", VECTORS["numbers"])
def test_numbers(entry):
    row = numeration(entry)
    assert row.number(entry["text"]) == entry["number"]
    assert row.text(entry["number"]) == entry["text"]


@in_one_case("entry", VECTORS["refused"])
def test_refused_additions(entry):
    with pytest.raises(ValueError, match=r"only goes up|is not one of its characters"):
        numeration(entry).add(entry["text"], entry["count"])


@pytest.mark.parametrize("characters", ["ab", "0123456789", "z9A"])
def test_every_text_has_its_place_in_shortlex_order(characters):
    row = Numeration(characters)
    texts = [""] + ["".join(t) for n in (1, 2, 3) for t in product(characters, repeat=n)]
    assert [row.number(text) for text in texts] == list(range(len(texts)))
    assert [row.text(number) for number in range(len(texts))] == texts


@examples
@given(number=st.integers(0, 10**30), count=st.integers(0, 10**30))
def test_one_addition_is_as_good_as_two(number, count):
    row = Numeration(CHARSETS["alnum"])
    text = row.text(number)
    assert row.number(text) == number
    assert row.add(row.add(text, count), 7) == row.add(text, count + 7)


@examples
@given(data=st.data())
def test_ignored_case_stays_where_a_letter_stays(data):
    row = Numeration(CHARSETS["alpha"], ignore_case=True)
    text = data.draw(st.text(CHARSETS["alpha"], min_size=1, max_size=8))
    count = data.draw(st.integers(0, 10**6))
    result = row.add(text, count)
    assert row.number(result) == row.number(text.swapcase()) + count
    for was, now in zip(reversed(text), reversed(result), strict=False):
        assert was == now or was.upper() != now.upper()


def test_the_majority_of_letters_gives_the_case():
    row = Numeration(CHARSETS["alpha"], ignore_case=True)
    assert row.add("Mike", 26) == "Mile"
    assert row.add("MIkE", 26) == "MILE"
    assert row.add("MIke", 26) == "MILe"


@pytest.mark.parametrize(
    ("characters", "options"),
    [("", {}), ("a", {}), ("aa", {}), ("aba", {}), ("aA", {"ignore_case": True})],
)
def test_too_few_characters_or_one_twice(characters, options):
    with pytest.raises(ValueError, match="expected 2 or more characters, each once"):
        Numeration(characters, **options)


@pytest.mark.parametrize(
    "characters", ["a b", "ab\n", "ab\x7f", "\u00e4b", "\uff10\uff11", "a/b", "a?"]
)
def test_characters_are_safe_in_urls(characters):
    with pytest.raises(ValueError, match="expected only ASCII letters, digits and"):
        Numeration(characters)


# Ids


def test_ids_grow():
    row = sequence()
    assert [row.nth(n) for n in (0, 1, 9, 10, 109, 110)] == ["0", "1", "9", "00", "99", "000"]


def test_ids_of_a_width_run_out():
    row = sequence(width=3)
    assert [row.nth(n) for n in (0, 1, 999)] == ["000", "001", "999"]
    with pytest.raises(SequenceExhausted, match="no id number 1000 of 3 characters"):
        row.nth(1000)


@pytest.mark.parametrize("start", ["0", "5", "00"])
def test_there_is_no_id_before_the_first(start):
    with pytest.raises(SequenceExhausted, match="no id number -1"):
        sequence(start=start).nth(-1)


@pytest.mark.parametrize(
    ("start", "second"), [("aaa", "aab"), ("AAA", "AAB"), ("aAa", "aab"), ("aA", "AB")]
)
def test_the_case_of_the_start_is_the_case_of_the_ids(start, second):
    row = sequence("alpha", ignore_case=True, start=start)
    assert row.nth(1) == second
    assert row.parse(second.swapcase()) == second
    assert row.format(second.swapcase()) == second


@pytest.mark.parametrize(
    ("charset", "eleventh"),
    [
        ("alpha_lower", "aak"),
        ("alpha_upper", "AAK"),
        ("alnum_lower", "00a"),
        ("alnum_upper", "00A"),
    ],
)
def test_ids_keep_the_case_of_a_character_set_that_has_one(charset, eleventh):
    assert sequence(charset, width=3, ignore_case=True).nth(10) == eleventh


@pytest.mark.parametrize("row", SEQUENCES)
def test_nth_counts(row):
    ids = [row.nth(n) for n in range(500)]
    numbers = [row.to_int(value) for value in ids]
    assert numbers == list(range(numbers[0], numbers[0] + 500))


@pytest.mark.parametrize("row", SEQUENCES)
def test_both_ends_are_held(row):
    first, last = number_limits(row)
    assert row.holds(first)
    assert row.holds(last)
    assert not row.holds(first - 1)
    assert not row.holds(last + 1)
    assert last < 1 << row.bits


@pytest.mark.parametrize("text", ["0", "000", "0a", "", "0 ", "\u0661\u0662"])
def test_a_width_is_kept(text):
    assert sequence(width=2).parse("00") == "00"
    with pytest.raises(InvalidID):
        sequence(width=2).parse(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "expected 1 or more characters"),
        ({"step": 0}, "a sequence only goes up"),
        ({"step": -1}, "a sequence only goes up"),
        ({"start": ""}, "has 0 characters"),
        ({"start": "12", "width": 3}, "has 2 characters, expected 3"),
        ({"start": "1" * 21}, "has 21 characters"),
        ({"start": "12a"}, "'a' is not one of its characters"),
    ],
)
def test_impossible_sequences_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sequence(**options)


@pytest.mark.parametrize(
    ("charset", "options", "keeps_order"),
    [
        ("numeric", {"width": 4}, True),
        ("numeric", {}, False),
        ("alpha", {"width": 4}, False),
        ("alpha", {"width": 4, "ignore_case": True}, True),
        ("alnum", {"width": 4}, False),
        ("alnum_lower", {"width": 4}, True),
    ],
)
def test_which_sequences_keep_order(charset, options, keeps_order):
    row = sequence(charset, **options)
    assert row.canonical.keeps_order == keeps_order
    texts = [row.nth(n) for n in range(3000)]
    assert (sorted(texts) == texts) == keeps_order


@pytest.mark.parametrize(
    "options",
    [
        {"width": 1},
        {"max_length": 1},
        {"width": 4, "start": "9995"},
        {"width": 4, "start": "9999"},
        {"width": 2, "step": 1000},
    ],
)
def test_a_short_sequence_still_has_an_example(options):
    row = sequence(**options)
    assert row.parse(row.example) == row.example
    with pytest.raises(InvalidID, match="such as"):
        row.parse("x")


@pytest.mark.parametrize("characters", ["-.~", "a-c", "~-", "z.a"])
def test_the_pattern_of_any_characters_is_right(characters):
    form = sequence(characters, width=2).canonical
    for character in map(chr, range(0x20, 0x7F)):
        assert bool(re.fullmatch(form.pattern, character * 2)) == (character in characters)


@pytest.mark.parametrize("row", SEQUENCES)
def test_a_sequence_generates_nothing_without_its_counter(row):
    with pytest.raises(TypeError, match="needs a counter that outlives the process"):
        row.generate()
    with pytest.raises(TypeError, match="needs a counter that outlives the process"):
        row.generate_many(2)
