"""The page at ``/``: what the demo shows in one look."""

import re

import pytest

from tests.admin.page import Page

from . import data
from .support import Answer, Demo, Visitor

OF_AN_EMPTY_DATABASE = """
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
print(Client(SERVER_NAME="127.0.0.1").get("/").content.decode())
"""


@pytest.fixture(scope="module")
def front(host: str) -> Answer:
    return Visitor(host).get("/")


@pytest.fixture
def page(front: Answer) -> Page:
    assert front.status == 200
    return Page(front.text.removeprefix("<!doctype html>"))


def test_shows_a_link_before_and_after(page: Page, visitor: Visitor) -> None:
    before, after = (each.text for each in page.root.find("dl", class_="links").find_all("dd"))
    assert before == f"/api/flights/{3 * data.FLIGHTS_A_DAY + 1}/"
    flight = visitor.get(after)
    assert flight.data["number"] == 3 * data.FLIGHTS_A_DAY + 1
    assert "4 July 2013, 08:00 EDT" in page.root.text


def test_draws_every_flight_of_the_year(page: Page) -> None:
    assert page.root.text.count(f"{data.FLIGHTS} flights left New York in 2013.") == 1
    table = page.root.find("div", class_="wide").find("table").find("tbody")
    counts = {row.find("th").text: row.find("td").text for row in table.find_all("tr")}
    assert len(counts) == 365
    assert next(iter(counts)) == "Jan. 1, 2013"
    assert [day for day, count in counts.items() if count != "0"] == [
        f"July {day}, 2013" for day in range(1, data.DAYS + 1)
    ]
    assert counts["July 4, 2013"] == str(data.FLIGHTS_A_DAY)


def test_its_buttons_lead_somewhere(page: Page, visitor: Visitor) -> None:
    visitor.log_in()
    links = [each["href"] for each in page.root.find("nav").find_all("a")]
    assert links[0] == "/admin/flights/flight/"
    assert len(links) == 3
    for link in links:
        assert visitor.get(link).status == 200


def test_needs_no_script_and_no_style_of_its_own(front: Answer) -> None:
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", front.text)


def test_says_that_the_tables_are_empty(demo: Demo) -> None:
    shown = demo.manage("shell", "-v0", "-c", OF_AN_EMPTY_DATABASE)
    assert "No flights are loaded yet." in shown
    assert "Before" not in shown
