"""Sequences with text, a year or a month around the number."""

import re
from datetime import date
from itertools import pairwise

import pytest

from django_sortable_ids.schemes import InvalidID, SequenceExhausted, get
from tests.combinations import in_one_case

YEARLY = "INV-{year}-{number}"


def sequence(template=YEARLY, width=3, charset="numeric", **options):
    return get("lexical_sequence", template=template, width=width, charset=charset, **options)


@pytest.mark.parametrize(
    ("template", "ids"),
    [
        ("ORD-{number}", ["ORD-000", "ORD-001"]),
        (YEARLY, ["INV-2026-000", "INV-2026-001"]),
        ("{year}{month}{number}", ["202601000", "202601001"]),
        ("{year}_{month}_{number}~A", ["2026_01_000~A", "2026_01_001~A"]),
    ],
)
def test_ids_have_the_text(template, ids):
    row = sequence(template)
    assert [row.nth(n) for n in range(2)] == ids
    assert [row.parse(each) for each in ids] == ids
    assert row.canonical.length == row.canonical.shortest == len(ids[0])
    assert all(re.fullmatch(row.canonical.pattern, each) for each in ids)


def test_a_sequence_counts_in_a_period():
    row = sequence(start="998")
    old = row.in_period_of(date(1999, 12, 31))
    assert [old.nth(n) for n in range(2)] == ["INV-1999-998", "INV-1999-999"]
    assert old.count == 2
    assert old.period_name == "1999"
    with pytest.raises(SequenceExhausted, match="no id number 2 of 3 characters; widen it"):
        old.nth(2)
    assert row.in_period_of(date(2026, 5, 6)) is row


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("A{number}", ["", "", ""]),
        (YEARLY, ["2025", "2025", "2026"]),
        ("{year}{month}-{number}", ["2025-01", "2025-12", "2026-01"]),
    ],
)
def test_names_of_periods(template, names):
    days = [date(2025, 1, 31), date(2025, 12, 31), date(2026, 1, 1)]
    assert [sequence(template).in_period_of(day).period_name for day in days] == names


@pytest.mark.parametrize("template", [YEARLY, "{year}{month}-{number}-X"])
def test_ids_sort_by_period_and_then_by_number(template):
    row = sequence(template)
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
        sequence().parse(text)


@pytest.mark.parametrize("month", ["00", "13", "1", "1a"])
def test_months_that_do_not_exist_are_refused(month):
    row = sequence("{year}-{month}-{number}")
    assert row.parse("2026-12-001") == "2026-12-001"
    with pytest.raises(InvalidID):
        row.parse(f"2026-{month}-001")


def test_ignored_case_includes_the_text_around():
    row = sequence("Inv-{number}x", charset="alpha_upper", ignore_case=True)
    assert row.parse("iNV-aBCX") == "Inv-ABCx"
    with pytest.raises(InvalidID):
        sequence("Inv-{number}x").parse("inv-001X")


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
        sequence(**options)
