"""The pages of the demo: the one at ``/``, the admin and the API."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.admin.page import Page

from . import data
from .support import Answer, Visitor


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


# The admin


@pytest.fixture(scope="module")
def admin(host: str) -> Visitor:
    visitor = Visitor(host)
    visitor.log_in()
    return visitor


@pytest.mark.parametrize("model", ["airline", "airport", "plane", "weather", "flight", "remark"])
def test_every_page_answers(admin: Visitor, model: str) -> None:
    pages = ("", "add/", "?q=x", "?_facets=True")
    for page in pages:
        assert admin.get(f"/admin/flights/{model}/{page}").status == 200


def test_a_remark_finds_its_flight_by_a_pasted_id(admin: Visitor) -> None:
    public_id = admin.get("/admin/flights/flight/").public_ids[3]
    field = "app_label=flights&model_name=remark&field_name=flight"
    found = admin.get(f"/admin/autocomplete/?{field}&term={public_id}").data["results"]
    assert len(found) == 1


# The API


@pytest.fixture
def public_id(visitor: Visitor) -> str:
    """Of the first flight."""
    text: str = visitor.get("/api/flights/").data["results"][0]["public_id"]
    return text


def test_a_flight_by_its_id(visitor: Visitor, public_id: str, host: str) -> None:
    flight = visitor.get(f"/api/flights/{public_id}/").data
    assert flight["url"] == f"{host}/api/flights/{public_id}/"
    assert flight["public_id"] == public_id
    assert flight["created_at"] == "2013-07-01T08:00:00-04:00"
    assert (flight["airline"], flight["number"]) == ("AA", 1)
    assert (flight["origin"], flight["destination"]) == ("EWR", "LAX")
    assert "id" not in flight


def test_a_remark_gets_its_id_here(visitor: Visitor, public_id: str, host: str) -> None:
    mine = "remark_01KDVDNA00PVDPVDPVDPVDPVDM"
    asked = datetime.now(UTC)
    answer = visitor.post("/api/remarks/", {"id": mine, "flight": public_id, "text": "On time."})
    assert answer.status == 201
    remark = answer.data
    assert remark["id"].startswith("remark_")
    assert remark["id"] != mine
    assert remark["flight"] == public_id
    assert remark["url"] == f"{host}/api/remarks/{remark['id']}/"
    made = datetime.fromisoformat(remark["created_at"])
    assert asked - timedelta(milliseconds=1) < made <= datetime.now(UTC)
    assert visitor.get(f"/api/remarks/{remark['id']}/").data == remark
