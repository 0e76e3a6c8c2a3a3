"""What people paste: ids, URLs, and what attackers paste."""

import json
import time

import pytest
import time_machine

from django_sortable_ids.inspecting import report
from django_sortable_ids.inspecting.inspection import MOST_CHARACTERS, inspect

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.fixture(autouse=True)
def today():
    with time_machine.travel("2026-11-20T12:00Z", tick=False):
        yield


ORDER = f"ord_{ULID}"


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        (f" {ULID}\n", ULID),
        (f'"{ULID}"', ULID),
        (f"'{ULID}',", ULID),
        (f"“{ULID}”", ULID),
        (f"`{ULID}`.", ULID),
        (f"<{ULID}>", ULID),
        (f"\u202e{ULID}\u202c", ULID),
        (f"\u200b{ULID}\ufeff", ULID),
        (f"https://example.com/orders/{ULID}", ULID),
        (f"https://example.com/orders/{ULID}/", ULID),
        (f"https://example.com/orders/{ULID}.json?page=2#top", ULID),
        (f"https://example.com:8000/a/b?next=%2Forders%2F{ULID}", ULID),
        (f"/admin/shop/order/{ULID}/change/?_changelist_filters=q%3Dx", ULID),
        (f"https://01BX5ZZKBKACTAV9WEVGEMMVS0.example.com/{ULID}/", ULID),
        (f"order={ULID}&page=3", ULID),
        (f"orders/{ULID}", ULID),
        (f"\x00{ULID}", ULID),
        (f"ord_{ULID}", ORDER),
        (f"https://example.com/orders/ord_{ULID}/", ORDER),
        (f"/admin/shop/order/ord_5F{ULID}/change/", ORDER),
        (f"https://example.com/orders/ord%5F{ULID}/", ORDER),
        (f"https://example.com/orders/ord%3A{ULID}/", f"ord:{ULID}"),
        ("https://example.com/flights/12345/", "12345"),
    ],
)
def test_the_id_in_what_was_pasted(pasted, text):
    found = inspect(pasted)
    assert (found.text, found.is_id) == (text, True)


@pytest.mark.parametrize(
    "pasted",
    [
        *("/".join([ULID] * 2000), "a" * 10**6, "/" * 10**6, f"{'x/' * 10**6}{ULID}"),
        *("9" * 10**6, "ord_" * 10**5, " " * 10**6, "\u202e" * 10**6, "-" * 10**6, "%" * 10**6),
    ],
)
def test_huge_texts_take_little_time(pasted):
    start = time.process_time()
    found = inspect(pasted)
    list(report.as_text(found))
    assert time.process_time() - start < 1
    assert len(found.text) <= MOST_CHARACTERS


@pytest.mark.parametrize(
    "pasted",
    [
        *("", " ", "\x00", "\ud800", f"\ud800{ULID}", f"{ULID}\udfff", "é", "🦄", "\u0663\u0664"),
        *("<script>alert(1)</script>", "\u202e\u2066", "a\x1b[31mb", "%00", "%ZZ", "%ff%fe", "_5F"),
        *("1e999", "-1", "+1", "1_000", "0x10", "None", "{}", "[]", "://", "?", "prod_", "prod:"),
    ],
)
def test_odd_texts_are_answered(pasted):
    found = inspect(pasted)
    for line in report.as_text(found):
        line.encode()
        assert line.isprintable()
    json.dumps(report.as_document(found)).encode()
