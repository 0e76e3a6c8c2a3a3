"""What people paste: ids, URLs, and what attackers paste."""

import time

import pytest
import time_machine

from django_sortable_ids.inspecting.inspection import inspect
from django_sortable_ids.inspecting.output import report
from django_sortable_ids.inspecting.reading.texts import MOST_CHARACTERS

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.fixture(autouse=True)
def today():
    with time_machine.travel("2026-11-20T12:00Z", tick=False):
        yield


def texts(pasted):
    found = inspect(pasted).ids
    assert all(each.is_id for each in found), found
    return [each.text for each in found]


@pytest.mark.parametrize(
    "pasted",
    [
        f" {ULID}\n",
        f'"{ULID}"',
        f"'{ULID}',",
        f"“{ULID}”",
        f"`{ULID}`.",
        f"<{ULID}>",
        f"\u202e{ULID}\u202c",
        f"\u200b{ULID}\ufeff",
        f"https://example.com/orders/{ULID}",
        f"https://example.com/orders/{ULID}/",
        f"https://example.com/orders/{ULID}.json?page=2#top",
        f"https://example.com:8000/a/b?next=%2Forders%2F{ULID}",
        f"/admin/shop/order/{ULID}/change/?_changelist_filters=q%3Dx",
        f"https://01BX5ZZKBKACTAV9WEVGEMMVS0.example.com/{ULID}/",
        f"order={ULID}&page=3",
        f"orders/{ULID}",
        f"\x00{ULID}",
    ],
)
def test_the_id_in_what_was_pasted(pasted):
    assert texts(pasted) == [ULID]


@pytest.mark.parametrize(
    "pasted",
    [
        f"ord_{ULID}",
        f"https://example.com/orders/ord_{ULID}/",
        f"/admin/shop/order/ord_5F{ULID}/change/",
        f"https://example.com/orders/ord%5F{ULID}/",
    ],
)
def test_the_prefix_of_an_id_in_a_url(pasted):
    assert texts(pasted) == [f"ord_{ULID}"]


def test_a_prefix_with_a_colon_in_a_url():
    assert texts(f"https://example.com/orders/ord%3A{ULID}/") == [f"ord:{ULID}"]


def test_a_plain_number_in_a_url_is_all_there_is():
    assert texts("https://example.com/flights/12345/") == ["12345"]


@pytest.mark.parametrize(
    "pasted",
    [
        *("/".join([ULID] * 2000), "a" * 10**6, "/" * 10**6, f"{'x/' * 10**6}{ULID}"),
        *("9" * 10**6, "ord_" * 10**5, " " * 10**6, "\u202e" * 10**6, "-" * 10**6, "%" * 10**6),
    ],
)
def test_huge_texts_take_little_time(pasted):
    start = time.process_time()
    answer = inspect(pasted)
    list(report.as_text(answer))
    assert time.process_time() - start < 1
    assert f"Only the first {MOST_CHARACTERS} of {len(pasted)} characters are read." in [
        note for each in answer.ids for note in each.notes
    ]


@pytest.mark.parametrize(
    "pasted",
    [
        *("", " ", "\x00", "\ud800", f"\ud800{ULID}", f"{ULID}\udfff", "é", "🦄", "\u0663\u0664"),
        *("<script>alert(1)</script>", "\u202e\u2066", "a\x1b[31mb", "%00", "%ZZ", "%ff%fe", "_5F"),
        *("1e999", "-1", "+1", "1_000", "0x10", "None", "{}", "[]", "://", "?", "prod_", "prod:"),
    ],
)
def test_odd_texts_are_answered(pasted):
    answer = inspect(pasted)
    assert len(answer.ids) == 1
    for line in report.as_text(answer):
        line.encode()
        assert line.isprintable()
    document = report.as_document(answer)
    assert len(document["ids"]) == 1
