"""What somebody sees in a browser: Debian's chromium, headless."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from . import data
from .support import SECONDS, Demo, Visitor

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--lang=en-US",
    "--window-size=1360,900",
]


class Browser(Chrome):
    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.find_elements(By.CSS_SELECTOR, selector)]

    def fill(self, selector: str, keys: str) -> None:
        self.find_element(By.CSS_SELECTOR, selector).send_keys(keys)

    def click(self, by: str, value: str) -> None:
        """Click on what leads to another page, and wait for that."""
        page = self.find_element(By.TAG_NAME, "html")
        self.find_element(by, value).click()
        WebDriverWait(self, SECONDS).until(lambda _: self.find_element(By.TAG_NAME, "html") != page)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "no chromium here: apt install chromium"
    assert driver, "no chromedriver here: apt install chromium-driver"
    options = ChromeOptions()
    options.binary_location = chromium
    for argument in [*ARGUMENTS, f"--user-data-dir={tmp_path}"]:
        options.add_argument(argument)
    with Browser(options, Service(driver)) as browser:
        yield browser


@pytest.fixture
def admin(browser: Browser, host: str) -> Browser:
    """On the list of the flights."""
    browser.get(f"{host}/admin/flights/flight/")
    browser.fill("[name=username]", "admin")
    browser.fill("[name=password]", "admin")
    browser.click(By.CSS_SELECTOR, "[type=submit]")
    return browser


def test_the_api_shows_a_flight_by_its_id(browser: Browser, host: str, visitor: Visitor) -> None:
    public_id = visitor.get("/api/flights/").data["results"][0]["public_id"]
    browser.get(f"{host}/api/flights/{public_id}/")
    (shown,) = browser.texts(".response-info")
    assert "HTTP 200 OK" in shown
    assert f'"public_id": "{public_id}"' in shown
    assert '"created_at": "2013-07-01T08:00:00-04:00"' in shown
    browser.click(By.LINK_TEXT, "Flight List")
    assert public_id in browser.texts(".response-info")[0]


def test_the_admin_filters_a_day_of_2013_by_the_id_alone(admin: Browser) -> None:
    admin.fill("[type=date][name$=__gte]", "07042013")
    admin.fill("[type=date][name$=__lte]", "07042013")
    admin.click(By.XPATH, "//form[.//input[@type='date']]//button")
    assert [time[:12] for time in admin.texts(".field-id_created_at")] == [
        "July 4, 2013"
    ] * data.FLIGHTS_A_DAY
    assert f"{data.FLIGHTS_A_DAY} flights" in admin.texts(".paginator")[0]
    admin.click(By.LINK_TEXT, "Any date")
    assert f"{data.FLIGHTS} flights" in admin.texts(".paginator")[0]
    assert len(admin.texts(".field-id_created_at")) == 100


def test_the_admin_keeps_a_search_while_it_filters(admin: Browser) -> None:
    admin.fill("#searchbar", "N14228")
    admin.click(By.CSS_SELECTOR, "#changelist-search [type=submit]")
    admin.fill("[type=date][name$=__gte]", "07082013")
    admin.click(By.XPATH, "//form[.//input[@type='date']]//button")
    assert f"{data.FLIGHTS_A_DAY // 4} flights" in admin.texts(".paginator")[0]
    (search,) = admin.find_elements(By.ID, "searchbar")
    assert search.get_attribute("value") == "N14228"


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


def test_every_flight_comes_once_page_by_page(admin: Browser) -> None:
    found = admin.texts(".sortable-ids-text")
    while admin.find_elements(By.CSS_SELECTOR, "[rel=next]"):
        admin.click(By.CSS_SELECTOR, "[rel=next]")
        found += admin.texts(".sortable-ids-text")
    assert len(found) == len(set(found)) == data.FLIGHTS
    assert found == sorted(found)


def test_a_month_of_2013_is_a_choice(admin: Browser) -> None:
    assert "2013" in admin.texts("#changelist-filter a")
    admin.click(By.LINK_TEXT, "July 2013")
    assert admin.texts("#changelist-filter li.selected a")[0] == "July 2013"
    assert f"{data.FLIGHTS} flights" in admin.texts(".paginator")[0]


def test_days_the_wrong_way_round_say_so(admin: Browser) -> None:
    admin.fill("[type=date][name$=__gte]", "07082013")
    admin.fill("[type=date][name$=__lte]", "07042013")
    admin.click(By.XPATH, "//form[.//input[@type='date']]//button")
    assert admin.texts(".sortable-ids-day .errorlist") == ["This day is before the first one."]
    assert "0 flights" in admin.texts(".paginator")[0]


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
