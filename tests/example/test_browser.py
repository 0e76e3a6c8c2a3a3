"""What somebody sees in a browser: Debian's chromium, headless."""

import sqlite3
from contextlib import closing
from uuid import UUID

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions as EC  # noqa: N812 - its usual name
from selenium.webdriver.support.ui import WebDriverWait

from tests.patience import wait_until

from . import data
from .browsing import Browser, log_in
from .support import SECONDS, Demo, ended

pytestmark = pytest.mark.browser


@pytest.fixture
def admin(browser: Browser, host: str) -> Browser:
    """On the list of the flights."""
    log_in(browser, f"{host}/admin/flights/flight/")
    return browser


def test_the_admin_filters_a_day_of_2013_by_the_id_alone(admin: Browser) -> None:
    admin.fill("[type=date][name$=__gte]", "07042013")
    admin.fill("[type=date][name$=__lte]", "07042013")
    admin.click(By.XPATH, "//fieldset[.//input[@type='date']]//button")
    assert [time[:12] for time in admin.texts(".field-id_created_at")] == [
        "July 4, 2013"
    ] * data.FLIGHTS_A_DAY
    assert f"{data.FLIGHTS_A_DAY} flights" in admin.texts(".paginator")[0]
    admin.click(By.LINK_TEXT, "Any date")
    assert f"{data.FLIGHTS} flights" in admin.texts(".paginator")[0]
    assert len(admin.texts(".field-id_created_at")) == 100


def test_the_admin_finds_a_pasted_id(admin: Browser) -> None:
    wanted = admin.texts(".sortable-ids-text")[42]
    admin.fill("#searchbar", wanted)
    admin.click(By.CSS_SELECTOR, "#changelist-search [type=submit]")
    assert admin.texts(".sortable-ids-text") == [wanted]
    (time,) = admin.texts("td.field-id_created_at")
    admin.click(By.LINK_TEXT, wanted)
    assert wanted in admin.texts(".sortable-ids-text")
    assert time in admin.texts(".field-id_created_at time, .field-public_id_created_at time")


def test_an_id_is_copied_by_a_click(admin: Browser) -> None:
    first, second = admin.texts(".sortable-ids-text")[:2]
    assert admin.texts(".sortable-ids-copy")[:2] == ["Copy", "Copy"]
    admin.find_elements(By.CSS_SELECTOR, ".sortable-ids-copy")[1].click()
    WebDriverWait(admin, SECONDS).until(
        lambda _: admin.texts(".sortable-ids-copy")[:2] == ["Copy", "Copied"]
    )
    (search,) = admin.find_elements(By.ID, "searchbar")
    search.send_keys(Keys.CONTROL, "v")
    assert search.get_attribute("value") == second != first
    assert not admin.find_elements(By.CSS_SELECTOR, "a button")


def test_the_front_page_fits_a_phone_and_keeps_its_strict_policy(
    browser: Browser, host: str
) -> None:
    browser.show_as("light", 320, 640, mobile=True)
    browser.get(f"{host}/")
    assert browser.execute_script("return document.documentElement.scrollWidth") == 320
    bars = browser.find_elements(By.CSS_SELECTOR, ".narrow .sortable-ids-histogram rect")
    assert len(bars) == 53
    assert max(bar.size["height"] for bar in bars) > 50
    (time, *_) = browser.find_elements(By.CSS_SELECTOR, ".sortable-ids-picture .sortable-ids-time")
    assert time.value_of_css_property("fill") == "rgba(22, 162, 222, 0.35)"
    assert [each["message"] for each in browser.get_log("browser")] == []
    browser.click(By.LINK_TEXT, "Browse the API")
    assert browser.current_url == f"{host}/api/flights/"


def test_a_backfill_is_watched_while_it_runs(browser: Browser, demo: Demo) -> None:
    with demo.served() as host:
        demo.manage("migrate", "flights", "0002", "--verbosity=0")
        with closing(sqlite3.connect(demo.database)) as database, database:
            database.execute("UPDATE flights_flight SET public_id = NULL")
        slow = ["--created-from=time_hour", "--batch-size=40", "--sleep=0.7"]
        run = demo.start_command("backfill_ids", "flights.Flight.public_id", *slow)
        with ended(run):
            query = (
                "SELECT 1 FROM django_sortable_ids_backfillrun "
                "WHERE target LIKE '%Flight%' AND finished_at IS NULL"
            )
            wait_until(lambda: bool(demo.query(query)), "the start of the backfill")
            log_in(browser, f"{host}/admin/django_sortable_ids/backfillrun/")
            assert "Running" in browser.texts(".field-state")
            run.communicate(timeout=SECONDS)
        browser.get(f"{host}/admin/django_sortable_ids/backfillrun/")
        assert browser.texts(".field-state") == ["Done", "Done"]
        browser.show_as("light", 1280)
        (table,) = browser.find_elements(By.CLASS_NAME, "results")
        assert table.get_property("scrollWidth") == table.get_property("clientWidth")


def test_the_admin_drills_down_to_one_flight(admin: Browser) -> None:
    bars, path = ".sortable-ids-bars", ".sortable-ids-path li"
    # All flights are of one month, so its days are the first thing to choose from.
    assert admin.texts(path) == ["All dates", "2013", "July"]
    assert admin.texts(f"{bars} a .sortable-ids-count") == [f"{data.FLIGHTS_A_DAY}"] * data.DAYS
    admin.click(By.CSS_SELECTOR, f"{bars} [aria-label='July 4, 2013: {data.FLIGHTS_A_DAY}']")
    assert admin.texts(path)[-1] == "July 4"
    assert len(admin.texts(f"{bars} a")) == 12
    admin.fill("#searchbar", "N14228")
    admin.click(By.CSS_SELECTOR, "#changelist-search [type=submit]")
    assert admin.texts(path)[-1] == "July 4"
    hour = admin.find_elements(By.CSS_SELECTOR, f"{bars} a")[0]
    count = int(hour.find_element(By.CSS_SELECTOR, ".sortable-ids-count").text)
    label = hour.get_attribute("aria-label")
    admin.execute_script("arguments[0].focus()", hour)
    page = admin.find_element(By.TAG_NAME, "html")
    hour.send_keys(Keys.ENTER)
    WebDriverWait(admin, SECONDS).until(EC.staleness_of(page))
    shown = admin.texts(".field-id_created_at")
    assert shown == [f"July 4, 2013, {str(label).rpartition(':')[0]}"] * count
    wanted = admin.texts(".sortable-ids-text")[0]
    admin.click(By.LINK_TEXT, wanted)
    assert wanted in admin.texts(".sortable-ids-text")
    admin.back()
    admin.click(By.LINK_TEXT, "All dates")
    assert admin.texts(path) == ["All dates", "2013", "July"]


@pytest.mark.parametrize("width", [320, 1360])
def test_the_bars_fit_the_window_and_are_seen(admin: Browser, width: int) -> None:
    for scheme in ("light", "dark"):
        admin.show_as(scheme, width)
        admin.refresh()
        nav = admin.find_element(By.CSS_SELECTOR, ".sortable-ids-drill-down")
        for bar in nav.find_elements(By.CSS_SELECTOR, ".sortable-ids-bars li"):
            assert bar.rect["x"] >= 0
            assert bar.rect["x"] + bar.rect["width"] <= width
        rect = nav.find_element(By.CSS_SELECTOR, "a rect")
        assert rect.rect["height"] > 40
        assert rect.value_of_css_property("fill") not in ("none", "rgb(0, 0, 0)")
        assert admin.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_inspector_by_keyboard_in_a_narrow_window(admin: Browser, host: str) -> None:
    wanted = admin.texts(".sortable-ids-text")[3]
    admin.set_window_size(500, 900)
    admin.show_as("light", 320)
    admin.get(f"{host}/admin/flights/flight/inspect-id/")
    field = admin.switch_to.active_element
    assert field.get_attribute("name") == "q"
    page = admin.find_element(By.TAG_NAME, "html")
    field.send_keys(f"https://example.com/flights/{wanted}/?page=2{Keys.ENTER}")
    WebDriverWait(admin, SECONDS).until(lambda _: admin.find_element(By.TAG_NAME, "html") != page)
    assert admin.texts("h2 code") == [wanted]
    (picture,) = admin.find_elements(By.CSS_SELECTOR, "svg.sortable-ids-picture")
    assert picture.accessible_name.startswith("128 bits: time 48, version 4, random 74")
    assert picture.rect["width"] <= 320
    assert admin.execute_script("return document.documentElement.scrollWidth") <= 320
    admin.click(By.CSS_SELECTOR, "#content-main section li a")
    assert wanted in admin.texts(".sortable-ids-text")


def test_an_old_link_leads_to_the_page_with_the_new_key(browser: Browser, demo: Demo) -> None:
    with demo.served("--limit", "20") as host:
        browser.get(f"{host}/flights/17/")
        assert browser.current_url == f"{host}/flights/17/"
        before = browser.texts("dd")
    with demo.served("--move-keys") as host:
        browser.get(f"{host}/flights/17/")
        new = browser.current_url.removeprefix(f"{host}/flights/").strip("/")
        assert UUID(new).version == 7
        assert browser.texts("dd") == [new, *before[1:]]
        assert before[0] == "17"
