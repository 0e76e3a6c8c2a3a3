from datetime import UTC, datetime, timedelta

import pytest

from . import data
from .support import Demo, Visitor, flight_ids


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


@pytest.mark.parametrize(
    "text",
    [
        *("1", "flight_", "flight_01kdvdna00fdptvdpvdpvdpvd", "01kdvdna00fdptvdpvdpvdpvdm"),
        *("019b76da-a800-7b6d-adb6-db6db6db6db4", "weather_01kdvdna00fdptvdpvdpvdpvdm"),
    ],
)
def test_a_malformed_id_is_not_found(visitor: Visitor, text: str) -> None:
    answer = visitor.get(f"/api/flights/{text}/")
    assert answer.status == 404
    assert "flight_01kdvdna00fdptvdpvdpvdpvdm" in answer.data["detail"]


def test_an_id_that_no_flight_has_is_not_found(visitor: Visitor) -> None:
    answer = visitor.get("/api/flights/flight_01kdvdna00fdptvdpvdpvdpvdm/")
    assert (answer.status, answer.data["detail"]) == (404, "No Flight matches the given query.")


def test_the_list_is_in_order_over_all_pages(
    visitor: Visitor, served_demo: Demo, host: str
) -> None:
    listed: list[str] = []
    path = "/api/flights/"
    while path:
        page = visitor.get(path).data
        listed += [flight["public_id"] for flight in page["results"]]
        path = (page["next"] or "").removeprefix(host)
    assert len(listed) == len(flight_ids(served_demo)) == data.FLIGHTS
    assert listed == sorted(set(listed))


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


@pytest.mark.parametrize(
    ("flight", "message"),
    [
        (1, "“1” is not a valid UUIDv7. Expected a text such as flight_"),
        ("flight_1", "“flight_1” is not a valid UUIDv7. Expected a text such as flight_"),
        (
            "remark_01KDVDNA00PVDPVDPVDPVDPVDM",
            "is not a valid UUIDv7. Expected a text such as flight_",
        ),
        ("flight_01kdvdna00fdptvdpvdpvdpvdm", "does not exist"),
    ],
)
def test_a_remark_on_no_flight_is_refused(visitor: Visitor, flight: object, message: str) -> None:
    answer = visitor.post("/api/remarks/", {"flight": flight, "text": "On time."})
    assert answer.status == 400
    assert message in answer.data["flight"][0]


def test_airlines_and_airports_by_their_codes(visitor: Visitor) -> None:
    assert visitor.get("/api/airlines/AA/").data["name"] == "American Airlines Inc."
    assert [airport["code"] for airport in visitor.get("/api/airports/").data] == sorted(
        data.AIRPORTS
    )
