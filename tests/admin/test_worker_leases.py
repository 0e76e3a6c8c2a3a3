"""The list of worker leases: who has which number, and until when."""

import time
from datetime import UTC, datetime

import pytest
from django.utils.formats import localize
from django.utils.timezone import template_localtime

from django_sortable_ids.models import SequenceCounter, WorkerLease
from django_sortable_ids.workers import leases

from .support import list_url, page_of

pytestmark = pytest.mark.django_db(transaction=True)

TERMS = leases.Terms(term=60_000, skew=10_000)


def now_ms():
    return int(time.time() * 1000)


def rows(browser, model=WorkerLease, **parameters):
    """The cells of each row."""
    page = page_of(browser, list_url(model, **parameters)).root
    bodies = [table.find("tbody") for table in page.find_all("table", id="result_list")]
    return [
        [cell.text for cell in row.find_all("td")] for body in bodies for row in body.find_all("tr")
    ]


def states(browser):
    return [row[2] for row in rows(browser)]


def shown(ms):
    return str(localize(template_localtime(datetime.fromtimestamp(ms // 1000, UTC))))


def test_a_lease_from_its_start_to_its_end(browser):
    held = leases.take(8, TERMS, now_ms, "default")
    (row,) = rows(browser)
    owner = WorkerLease.objects.get().owner
    assert row == ["0", owner, "leased", shown(held.starts), shown(held.expires)]
    leases.give_back(held, now_ms(), "default")
    assert states(browser) == ["given back"]


def test_a_killed_process_keeps_its_number_for_a_while(browser):
    for ago in (65, 75):
        leases.take(8, TERMS, lambda ago=ago: now_ms() - ago * 1000, "default")
    assert WorkerLease.objects.count() == 2
    assert states(browser) == ["expired", "free, never given back"]


def test_nobody_reads_the_token(browser):
    held = leases.take(8, TERMS, now_ms, "default")
    assert held.token not in browser.get(list_url(WorkerLease)).content.decode()
    assert rows(browser, q=held.token) == []


def test_the_title_asks_for_no_choice(browser):
    """No row has a page."""
    page = browser.get(list_url(WorkerLease)).content.decode()
    assert "<title>Worker leases |" in page


def test_an_owner_is_found(browser):
    leases.take(8, TERMS, now_ms, "default")
    owner = WorkerLease.objects.get().owner
    assert [row[1] for row in rows(browser, q=owner)] == [owner]


def test_times_without_time_zones(browser, settings):
    settings.USE_TZ = False
    leases.take(8, TERMS, lambda: 1_700_000_000_000, "default")
    assert rows(browser)[0][3] == "Nov. 14, 2023, 5:13 p.m."


def test_counters(browser):
    SequenceCounter.objects.create(key="shop_order.number", first="A0", step=2, taken=40)
    assert rows(browser, SequenceCounter) == [["shop_order.number", "A0", "2", "40"]]
