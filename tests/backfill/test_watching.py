"""The admin's list of backfills, while they run and after they ended."""

import signal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from django_sortable_ids.backfill import run
from django_sortable_ids.models import BackfillRun
from tests.admin.page import Page
from tests.admin.support import logged_in, staff

from .command import printed
from .support import SECOND, START, build, insert_orders, label

URL = "/admin/django_sortable_ids/backfillrun/"
NAME = label("uuid7")
ARGUMENTS = (NAME, "--created-from=created_at", "--batch-size=20")


@pytest.fixture
def visitor(db):
    """A client that is logged in as a superuser."""
    return logged_in(User.objects.create(username="root", is_staff=True, is_superuser=True))


def listed(visitor):
    """What the list says of the only backfill, by the name of its column."""
    answer = visitor.get(URL)
    assert answer.status_code == 200
    (row,) = Page(answer.content.decode()).root.find("tbody").find_all("tr")
    cells = [*row.find_all("th"), *row.find_all("td")]
    return {each["class"].removeprefix("field-").split()[0]: each.text.strip() for each in cells}


def test_a_real_run_that_is_killed_and_resumed(visitor, command):
    insert_orders([START + i * SECOND for i in range(100)])
    running = command(*ARGUMENTS, stops_in=[3])
    running.wait_until_stopped()
    row = listed(visitor)
    assert (row["target"], row["state"], row["progress"]) == (NAME, "Running", "40 of 100")
    assert f'value="40" aria-label="{NAME}"' in visitor.get(URL).content.decode()

    running.process.send_signal(signal.SIGKILL)
    assert running.code == -signal.SIGKILL
    row = listed(visitor)
    assert (row["state"], row["progress"]) == (
        f"Stoppedmanage.py backfill_ids {NAME}",
        "40 of 100",
    )

    printed(*ARGUMENTS)
    row = listed(visitor)
    assert (row["state"], row["progress"]) == ("Done", "100")


def test_a_run_that_failed(visitor):
    insert_orders([START + i * SECOND for i in range(10)])

    def fail(_):
        raise ZeroDivisionError("<b>out of order</b>")

    with pytest.raises(ZeroDivisionError):
        run.execute(build("uuid7", 3), fail)
    row = listed(visitor)
    assert (row["state"], row["last_error"]) == (
        f"Stoppedmanage.py backfill_ids {NAME}",
        "<b>out of order</b>",
    )


@pytest.mark.parametrize(
    ("target", "command"),
    [("depot.CustomerMovedKeyMap.new_key", "manage.py migrate"), ("x.Y.gone", "")],
)
def test_a_run_of_a_move_and_one_of_a_field_that_is_gone(visitor, target, command):
    BackfillRun.objects.create(target=target, options={})
    assert listed(visitor)["state"] == f"Stopped{command}"


@pytest.mark.django_db
def test_it_needs_the_permission_to_view():
    assert Client().get(URL).status_code == 302
    assert logged_in(staff("view_order")).get(URL).status_code == 403
    visitor = logged_in(staff("view_backfillrun", name="watcher"))
    assert visitor.get(URL).status_code == 200
    index = visitor.get("/admin/").content.decode()
    assert "Backfills" in index
    assert "Worker leases" not in index


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
