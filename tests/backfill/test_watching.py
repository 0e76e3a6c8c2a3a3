"""The page of the admin that shows backfills while they run, and after they ended."""

import signal

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from django_sortable_ids.backfill.supervising import owner, run
from django_sortable_ids.backfill.verifying import verify
from django_sortable_ids.models import BackfillRun
from tests.admin.page import Page

from .command import printed
from .shop.models import Plain
from .support import SECOND, START, build, fill, insert, insert_orders, label, saved_run

URL = "/admin/django_sortable_ids/backfillrun/"
NAME = label("uuid7")
ARGUMENTS = (NAME, "--created-from=created_at", "--batch-size=20")
database = pytest.mark.django_db(transaction=True)


@pytest.fixture
def visitor(db):
    """A client that is logged in as a superuser."""
    client = Client()
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    return client


def look(visitor):
    answer = visitor.get(URL)
    assert answer.status_code == 200
    return Page(answer.content.decode()).root


def cards(page):
    """What each card says: by its name, the state and the facts."""
    return {
        card.find("h3").text: {
            "state": card.find("strong").text,
            **{
                dt.text: dd.text
                for dt, dd in zip(card.find_all("dt"), card.find_all("dd"), strict=True)
            },
            "notes": [p.text for p in card.find_all("p")],
        }
        for card in page.find_all("article")
    }


def refreshes(page):
    """Whether the page refreshes itself, by its script and without."""
    has_script = any(
        "long_work.js" in each.attributes.get("src", "") for each in page.find_all("script")
    )
    by_itself = list(page.find_all("meta", http_equiv="refresh"))
    assert has_script == bool(by_itself)
    return has_script


def test_nothing_has_run(visitor):
    page = look(visitor)
    assert page.find("h1").text == "Backfills"
    assert page.find("h2", id="sortable-ids-database-1").text.startswith("Database default (")
    assert "Nothing is running." in page.text
    assert "No backfill and no move of keys has started here." in page.text
    assert not refreshes(page)


def test_a_real_run_that_is_killed_and_resumed(visitor, command):
    insert_orders([START + i * SECOND for i in range(100)])
    running = command(*ARGUMENTS, stops_in=[3])
    running.wait_until_stopped()

    page = look(visitor)
    card = cards(page)[NAME]
    assert card["state"] == "Running"
    assert card["Rows"] == "40 of 100"
    assert card["Process"].endswith(f"pid {running.process.pid}")
    assert card["Last heartbeat"].endswith("ago")
    assert card["Time left"]
    assert int(card["Rows per second"].replace(",", "")) > 0
    assert page.find("progress", aria_label=NAME)["value"] == "40"
    assert refreshes(page)

    running.process.send_signal(signal.SIGKILL)
    assert running.code == -signal.SIGKILL
    page = look(visitor)
    card = cards(page)[NAME]
    assert card["state"] == "Killed"
    assert card["Rows"] == "40 of 100"
    assert card["notes"] == ["To continue, start the same command again."]
    assert "Time left" not in card
    assert not refreshes(page)

    printed(*ARGUMENTS)
    page = look(visitor)
    card = cards(page)[NAME]
    assert card["state"] == "Done"
    assert card["Rows"] == "100"
    assert card["Finished"]
    assert not list(page.find_all("progress"))
    assert not refreshes(page)


def test_a_run_that_failed(visitor):
    insert_orders([START + i * SECOND for i in range(10)])

    def fail(_):
        raise ZeroDivisionError("<b>out of order</b>")

    with pytest.raises(ZeroDivisionError):
        run.execute(build("uuid7", 3), fail)
    card = cards(look(visitor))[NAME]
    assert card["state"] == "Stopped"
    assert card["notes"][0] == "Last error: <b>out of order</b>"


def test_a_run_of_another_machine_that_is_silent(visitor):
    insert_orders([START])
    fill("uuid7")
    BackfillRun.objects.update(
        token="theirs", process="", heartbeat=owner.now_ms() - 7_200_000, finished_at=None
    )
    card = cards(look(visitor))[NAME]
    assert card["state"] == "No heartbeat"
    assert card["Last heartbeat"] == "2 hours ago"


def test_a_paused_page_does_not_refresh(visitor):
    insert_orders([START])
    fill("uuid7")
    BackfillRun.objects.update(token="theirs", heartbeat=owner.now_ms(), finished_at=None)
    assert refreshes(look(visitor))
    answer = visitor.get(f"{URL}?paused")
    assert not refreshes(Page(answer.content.decode()).root)
    assert "This page does not refresh itself." in answer.content.decode()


def test_a_field_that_is_gone(visitor):
    BackfillRun.objects.create(target="shop.Gone.public_id", options={}, rows_planned=5)
    card = cards(look(visitor))["shop.Gone.public_id"]
    assert card["state"] == "Stopped"
    assert card["notes"][-2:] == [
        "The field no longer exists. To delete the run:",
        "DELETE FROM django_sortable_ids_backfillrun WHERE target = 'shop.Gone.public_id';",
    ]


def test_large_numbers_are_grouped_as_the_language_does(visitor, settings):
    BackfillRun.objects.create(
        target=NAME, options={}, rows_filled=1_200_300, rows_planned=9_000_000
    )
    assert cards(look(visitor))[NAME]["Rows"] == "1,200,300 of 9,000,000"
    settings.LANGUAGE_CODE = "de"
    assert "1.200.300" in look(visitor).text


@database
def test_every_database_is_named(visitor, other):
    insert_orders([START])
    fill("uuid7")
    insert(Plain, [{"created_at": START}], other)
    fill("shop.Plain.public_id", using=other)
    page = look(visitor)
    sections = {
        section.find("h2").text.split(" (")[0]: list(cards(section))
        for section in page.find_all("section")
    }
    assert sections["Database default"] == [NAME]
    assert sections["Database other"] == ["shop.Plain.public_id"]


@database
def test_a_database_without_tables_of_the_app_is_left_out(visitor, other):
    with connections[other].schema_editor() as editor:
        editor.delete_model(BackfillRun)
    assert "Database other" not in look(visitor).text


@database
def test_a_database_that_does_not_answer(visitor, other, monkeypatch, tmp_path):
    connections[other].close()
    monkeypatch.setitem(connections[other].settings_dict, "NAME", str(tmp_path / "no" / "file"))
    text = look(visitor).text
    assert "It can't be read: unable to open database file" in text
    assert "No backfill and no move of keys has started here." in text
    connections[other].close()


@pytest.mark.skipif(connection.vendor == "mysql", reason="DDL ends the transaction of the test")
def test_a_request_with_a_transaction_can_go_on_after_an_error(visitor):
    """PostgreSQL refuses all later queries of a transaction with an error."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_sortable_ids_backfillrun RENAME COLUMN rate TO speed")
    assert "It can't be read: " in look(visitor).text
    assert User.objects.exists()


def staff(*codenames):
    user = User.objects.create(username="staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.django_db
def test_it_needs_the_permission_to_view():
    assert Client().get(URL).status_code == 302
    assert staff("view_order").get(URL).status_code == 403
    User.objects.all().delete()
    visitor = staff("view_backfillrun")
    assert visitor.get(URL).status_code == 200
    index = visitor.get("/admin/").content.decode()
    assert "Backfills" in index
    assert "Worker leases" not in index


def test_the_index_names_what_is_there(visitor):
    index = visitor.get("/admin/").content.decode()
    for name in ("Backfills", "Worker leases", "Sequence counters"):
        assert f">{name}</a>" in index
    assert "Checks of ids" not in index


@pytest.mark.parametrize("model", ["backfillrun", "workerlease", "sequencecounter"])
def test_nothing_is_changed_there(visitor, model):
    url = f"/admin/django_sortable_ids/{model}/"
    assert visitor.get(url).status_code == 200
    for page in ("add/", "1/", "1/change/", "1/delete/", "1/history/"):
        assert visitor.get(url + page).status_code == 404
    assert (
        visitor.post(url, {"action": "delete_selected", "_selected_action": 1}).status_code == 200
    )
    assert url == reverse(f"admin:django_sortable_ids_{model}_changelist")


def test_an_unfinished_check_is_shown(visitor, monkeypatch):
    insert_orders([START + i * SECOND for i in range(10)])
    fill("uuid7")
    monkeypatch.setattr(verify, "PAGE", 4)

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify.Verifier(build("uuid7").target).verify(stop)
    page = look(visitor)
    kinds = {card.find("header").find("span").text for card in page.find_all("article")}
    assert {"Check of ids", "Backfill"} <= kinds
    assert "4 of 10" in page.text
    assert "check of testapp.Order.uuid7: 40 %  4/10 rows, last checkpoint 0." in printed(
        "--status"
    )
    assert saved_run("uuid7").finished_at
