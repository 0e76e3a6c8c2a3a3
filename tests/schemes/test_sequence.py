"""Lexical sequences: bijective numeration, and ids that count in it."""

import re
from datetime import date
from itertools import pairwise

import pytest

from django_sortable_ids.schemes import InvalidID, SequenceExhausted, get
from django_sortable_ids.schemes.catalog.sequence import CHARSETS, Numeration
from tests.combinations import in_one_case

from .support import SEQUENCES, vectors

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


@in_one_case(
    ("characters", "options"),
    [("", {}), ("a", {}), ("aa", {}), ("aba", {}), ("aA", {"ignore_case": True})],
)
def test_too_few_characters_or_one_twice(characters, options):
    with pytest.raises(ValueError, match="expected 2 or more characters, each once"):
        Numeration(characters, **options)


@in_one_case("characters", ["a b", "ab\n", "ab\x7f", "\u00e4b", "\uff10\uff11", "a/b", "a?"])
def test_characters_are_safe_in_urls(characters):
    with pytest.raises(ValueError, match="expected only ASCII letters, digits and"):
        Numeration(characters)


# Ids


@in_one_case("start", ["0", "5", "00"])
def test_there_is_no_id_before_the_first(start):
    with pytest.raises(SequenceExhausted, match="no id number -1"):
        sequence(start=start).nth(-1)


@in_one_case(("start", "second"), [("aaa", "aab"), ("AAA", "AAB"), ("aAa", "aab"), ("aA", "AB")])
def test_the_case_of_the_start_is_the_case_of_the_ids(start, second):
    row = sequence("alpha", ignore_case=True, start=start)
    assert row.nth(1) == second
    assert row.parse(second.swapcase()) == second
    assert row.format(second.swapcase()) == second


@in_one_case(
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


@in_one_case("text", ["0", "000", "0a", "", "0 ", "\u0661\u0662"])
def test_a_width_is_kept(text):
    assert sequence(width=2).parse("00") == "00"
    with pytest.raises(InvalidID):
        sequence(width=2).parse(text)


@in_one_case(
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


@in_one_case(
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


@in_one_case("row", SEQUENCES)
def test_a_sequence_generates_nothing_without_its_counter(row):
    with pytest.raises(TypeError, match="needs a counter that outlives the process"):
        row.generate()
    with pytest.raises(TypeError, match="needs a counter that outlives the process"):
        row.generate_many(2)


# Sequences with text, a year or a month around the number.


YEARLY = "INV-{year}-{number}"


def templated(template=YEARLY, width=3, charset="numeric", **options):
    return get("lexical_sequence", template=template, width=width, charset=charset, **options)


@in_one_case("template", [YEARLY, "{year}{month}-{number}-X"])
def test_ids_sort_by_period_and_then_by_number(template):
    row = templated(template)
    days = [date(*day) for day in ((1, 1, 1), (999, 12, 1), (1000, 1, 1), (2026, 2, 1))]
    ids = [row.in_period_of(day).nth(n) for day in days for n in (0, 9, 10, 999)]
    assert row.canonical.keeps_order
    assert ids == sorted(ids)
    numbers = [row.to_int(value) for value in ids]
    assert all(a < b for a, b in pairwise(numbers))
    assert [row.from_int(number) for number in numbers] == ids


@in_one_case(
    "text",
    [
        "INV-2026-01",
        "INV-2026-0001",
        "INV-2026-00a",
        "INV-0000-001",
        "INV-26-001",
        "INV-\u0662026-001",
        "inv-2026-001",
        "2026-001",
        "001",
        "INV-2026-001\n",
        "XINV-2026-001",
        "INV-{year}-001",
        "",
    ],
)
def test_malformed_texts_are_refused_with_an_example(text):
    with pytest.raises(InvalidID, match=r"Expected INV-\{year\}-\{number\}.*INV-2026-010\."):
        templated().parse(text)


@in_one_case("month", ["00", "13", "1", "1a"])
def test_months_that_do_not_exist_are_refused(month):
    row = templated("{year}-{month}-{number}")
    assert row.parse("2026-12-001") == "2026-12-001"
    with pytest.raises(InvalidID):
        row.parse(f"2026-{month}-001")


def test_ignored_case_includes_the_text_around():
    row = templated("Inv-{number}x", charset="alpha_upper", ignore_case=True)
    assert row.parse("iNV-aBCX") == "Inv-ABCx"
    with pytest.raises(InvalidID):
        templated("Inv-{number}x").parse("inv-001X")


@in_one_case(
    ("options", "message"),
    [
        ({"template": "INV"}, "expected {number} once"),
        ({"template": ""}, "expected {number} once"),
        ({"template": "{number}{number}"}, "expected {number} once"),
        ({"template": "{number}-{year}"}, "expected {number} once, and before it nothing, {year}"),
        ({"template": "{month}-{number}"}, "and before it nothing, {year}, or {year} and {month}"),
        ({"template": "{month}{year}{number}"}, "such as 'INV-{year}-{number}'"),
        ({"template": "{day}{number}"}, "template='{day}{number}': expected {number} once"),
        ({"template": "{}{number}"}, "expected only ASCII letters"),
        ({"template": "{year:2}{number}"}, "expected only ASCII letters"),
        ({"template": "{{number}}"}, "expected only ASCII letters"),
        ({"template": "INV/{number}"}, "expected only ASCII letters, digits and -_~"),
        ({"template": "INV.{number}"}, "expected only ASCII letters, digits and -_~"),
        ({"template": "INV {number}"}, "expected only ASCII letters"),
        ({"template": "\u00c4-{number}"}, "expected only ASCII letters"),
        ({"template": "A\n{number}\n"}, "expected only ASCII letters"),
        ({"template": 5}, "template=5: expected text"),
        ({"width": None}, "expected a width, too"),
        ({"start": "INV-2026-001"}, "is not one of its characters"),
    ],
)
def test_impossible_templates_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        templated(**options)
