"""``demo --move-keys``: primary keys become UUIDv7, in a copy of the project."""

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from .support import Demo, Visitor, ended, flight_ids

FLIGHTS = 60
LIMIT = ("--limit", str(FLIGHTS))
USED = """
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from flights.models import Flight, Plane, Remark

user = User.objects.create_superuser("admin", password="admin")
for row in (Flight.objects.get(pk=17), Plane.objects.get(pk=2)):
    LogEntry.objects.log_actions(user.pk, [row], CHANGE, "seen", single_object=True)
Remark.objects.create(flight=Flight.objects.get(pk=17), text="On time.")
"""
"""What somebody does who uses the admin and the API before the move."""
CONTENT = """
SELECT flight.{key}, number, airline.code, origin.code, destination.code, plane.tail_number,
    time_hour, hex(public_id)
FROM flights_flight flight
JOIN flights_airline airline ON airline.id = airline_id
JOIN flights_airport origin ON origin.id = origin_id
LEFT JOIN flights_airport destination ON destination.id = destination_id
LEFT JOIN flights_plane plane ON plane.id = plane_id
ORDER BY 1
"""
"""The flights, with the codes of what they refer to."""


class Moved:
    """A demo that was used, and then moved."""

    def __init__(self, demo: Demo) -> None:
        self.demo = demo
        demo.run(*LIMIT)
        demo.manage("shell", "-v0", "-c", USED)
        self.before = demo.dump()
        self.output = demo.run("--move-keys")

    def key(self, old: int) -> UUID:
        """That of the flight which had the old one."""
        ((new,),) = self.demo.moved.query(f"SELECT id FROM flights_flight WHERE old_id = {old}")
        return UUID(new)


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory, csv_files: Path) -> Moved:
    return Moved(Demo(tmp_path_factory.mktemp("moved") / "flights.sqlite3", csv_files))


@pytest.fixture(scope="module")
def visitor(moved: Moved) -> Iterator[Visitor]:
    with moved.demo.served("--move-keys") as host:
        yield Visitor(host)


def test_shows_what_a_user_does(moved: Moved) -> None:
    steps = [
        "$ manage.py backfill_ids flights.Airline flights.Airport flights.Plane flights.Flight "
        "--primary-key\nEdit the models first. Add imports, and to each class its lines,",
        "    id = UUIDv7AutoField(primary_key=True)\n",
        "Copied the project to ",
        "  inserted these lines into flights/models.py\n",
        "--primary-key --start 2012-01-01 --end 2012-12-31 --write-migration\n",
        f"flights.Flight.id: UUIDv7AutoField, {FLIGHTS} rows; the old key stays as old_id\n",
        "Wrote flights/migrations/0005_move_key_of_airline_and_others.py\n",
        "class Migration(migrations.Migration):",
        "$ manage.py migrate flights\n",
        "Applying flights.0005_move_key_of_airline_and_others...",
        "    before: http://127.0.0.1:8000/flights/",
        "    after:  http://127.0.0.1:8000/flights/",
    ]
    position = 0
    for step in steps:
        position = moved.output.find(step, position)
        assert position >= 0, f"not printed: {step}\n{moved.output}"
    before, after = re.findall(r"(?:before|after): +http://127.0.0.1:8000(\S+)", moved.output)
    old, new = (path.split("/")[2] for path in (before, after))
    assert moved.key(int(old)) == UUID(new)


def test_both_urls_of_a_flight_answer(moved: Moved, visitor: Visitor) -> None:
    key = moved.key(17)
    new = visitor.get(f"/flights/{key}/")
    old = visitor.get("/flights/17/")
    assert (new.status, old.status) == (200, 200)
    assert new.url == old.url == f"{visitor.host}/flights/{key}/"
    assert new.text == old.text
    with moved.demo.served() as host:
        before = Visitor(host).get("/flights/17/")
        assert before.url == f"{host}/flights/17/"
    assert before.text.replace("<dd>17</dd>", f"<dd>{key}</dd>") == new.text
    assert [visitor.get(f"/flights/{no}/").status for no in (FLIGHTS + 1, "x", "")] == [404] * 3


def test_the_log_of_the_admin_and_remarks_stay_with_their_rows(
    moved: Moved, visitor: Visitor
) -> None:
    admin = Visitor(visitor.host)
    admin.log_in()
    for table, old in (("flight", 17), ("plane", 2)):
        assert "seen" in admin.get(f"/admin/flights/{table}/{old}/history/").text
    (remark,) = visitor.get("/api/remarks/").data["results"]
    flight = visitor.get(remark["flight"].join(["/api/flights/", "/"])).data
    assert (flight["number"], remark["text"]) == (17, "On time.")


def test_references_lead_to_the_same_rows(moved: Moved) -> None:
    content = moved.demo.query(CONTENT.format(key="id"))
    assert len(content) == FLIGHTS
    assert moved.demo.moved.query(CONTENT.format(key="old_id")) == content
    assert moved.demo.moved.query("PRAGMA foreign_key_check") == []


def test_the_project_itself_keeps_its_keys(moved: Moved) -> None:
    assert moved.demo.dump() == moved.before
    assert moved.demo.manage("makemigrations", "--check") == "No changes detected\n"


def test_the_copy_is_a_project_without_pending_changes(moved: Moved) -> None:
    said = moved.demo.moved.manage("makemigrations", "--check")
    assert said == "No changes detected\n"


@pytest.mark.long
def test_run_again_changes_nothing(moved: Moved) -> None:
    before = moved.demo.moved.dump()
    for again in (moved.demo.run("--move-keys"), moved.demo.moved.run()):
        assert "The keys are moved; to start again, delete" in again
        assert "/flights/17/" in again or "    after: " in again
        assert "backfill_ids" not in again
    assert moved.demo.moved.dump() == before


STEPS = [
    "Edit the models first",
    "Copied the project",
    "--write-migration$",
    "Wrote flights/migrations",
    "Applying",
]


@pytest.mark.long
def test_finishes_after_a_kill_at_each_step(demo: Demo) -> None:
    """Each run continues where the one before it was killed."""
    for step in STEPS:
        with ended(demo.start(*LIMIT, "--move-keys")) as process:
            assert process.stdout is not None
            is_reached = any(re.search(step, line) for line in process.stdout)
            process.kill()
        assert is_reached or "moved;" in demo.run("--move-keys"), step
    assert_moved(demo)


def assert_moved(demo: Demo) -> None:
    demo.run("--move-keys")
    assert demo.moved.query(CONTENT.format(key="old_id")) == demo.query(CONTENT.format(key="id"))
    assert len(flight_ids(demo.moved)) == FLIGHTS
