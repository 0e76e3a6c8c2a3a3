from uuid import UUID

import pytest

from . import data
from .support import Demo, Visitor, flight_ids

FLIGHTS = "/admin/flights/flight/"
FROM = "public_id__created_at__date__gte"
TO = "public_id__created_at__date__lte"


@pytest.fixture(scope="module")
def admin(host: str) -> Visitor:
    visitor = Visitor(host)
    visitor.log_in()
    return visitor


def test_filters_one_day_by_the_id_alone(admin: Visitor) -> None:
    page = admin.get(f"{FLIGHTS}?{FROM}=2013-07-04&{TO}=2013-07-04").text
    assert page.count('datetime="2013-07-04T') == data.FLIGHTS_A_DAY
    assert page.count('class="field-id_created_at') == data.FLIGHTS_A_DAY
    assert f"{data.FLIGHTS_A_DAY} results" in page


def test_filters_from_a_day_on(admin: Visitor) -> None:
    page = admin.get(f"{FLIGHTS}?{FROM}=2013-07-05&{TO}=").text
    assert f"{data.FLIGHTS - 4 * data.FLIGHTS_A_DAY} results" in page


def test_filters_remarks_by_the_day_of_their_flight(admin: Visitor) -> None:
    public_id = admin.get(f"{FLIGHTS}?{FROM}=2013-07-02").public_ids[0]
    anybody = Visitor(admin.host)
    anybody.post("/api/remarks/", {"flight": public_id, "text": "Of the second."})
    path = "/admin/flights/remark/?flight__created_at__date__lte="
    assert "Of the second." in admin.get(f"{path}2013-07-02").text
    assert "Of the second." not in admin.get(f"{path}2013-07-01").text


def test_the_list_is_in_the_order_of_creation(admin: Visitor, served_demo: Demo) -> None:
    listed = admin.get(FLIGHTS).public_ids
    assert len(listed) == 100
    assert listed == sorted(listed)
    assert len(flight_ids(served_demo)) == data.FLIGHTS


def test_finds_a_pasted_id_in_any_spelling(admin: Visitor, served_demo: Demo) -> None:
    wanted = admin.get(FLIGHTS).public_ids[7]
    bare = UUID(flight_ids(served_demo)[7])
    for spelling in (wanted, bare, bare.hex):
        assert admin.get(f"{FLIGHTS}?q={spelling}&o=").public_ids[:2] == [wanted]


def test_finds_a_tail_number(admin: Visitor) -> None:
    assert f"{data.FLIGHTS // 4} results" in admin.get(f"{FLIGHTS}?q=N14228").text


@pytest.mark.parametrize("text", ["flight_zz", "5", "JFK"])
def test_finds_nothing_for_what_is_no_id(admin: Visitor, text: str) -> None:
    answer = admin.get(f"{FLIGHTS}?q={text}")
    assert answer.status == 200
    assert ">0 results (" in answer.text


@pytest.mark.parametrize("model", ["airline", "airport", "plane", "weather", "flight", "remark"])
def test_every_page_answers(admin: Visitor, model: str) -> None:
    pages = ("", "add/", "?q=x", "?_facets=True")
    for page in pages:
        assert admin.get(f"/admin/flights/{model}/{page}").status == 200


def test_a_flight_shows_its_id(admin: Visitor) -> None:
    first = admin.get(FLIGHTS).public_ids[0]
    assert admin.get(f"{FLIGHTS}1/change/").public_ids == [first]


def test_a_remark_finds_its_flight_by_a_pasted_id(admin: Visitor) -> None:
    public_id = admin.get(FLIGHTS).public_ids[3]
    field = "app_label=flights&model_name=remark&field_name=flight"
    found = admin.get(f"/admin/autocomplete/?{field}&term={public_id}").data["results"]
    assert len(found) == 1
