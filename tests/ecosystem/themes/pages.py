"""``python -m tests.ecosystem.themes.pages`` prints pages of the admin with the theme THEME, as
JSON: the status and the HTML of each by its name.
"""

import json
import os
from datetime import UTC, datetime, timedelta

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.ecosystem.themes.settings"
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from django_sortable_ids.ids import public_id  # noqa: E402
from django_sortable_ids.models import BackfillRun, WorkerLease  # noqa: E402
from django_sortable_ids.schemes import get  # noqa: E402
from tests.ecosystem.themes.models import Event  # noqa: E402

START = datetime(2026, 3, 1, tzinfo=UTC)
EXPIRES = 1_800_000_000_000  # ms


def pages(first):
    """The URL of each page by its name."""
    flat = reverse("admin:themes_event_changelist")
    text = public_id(first)
    return {
        "list": flat,
        "day": f"{flat}?id__created_at__within=2026-03-02",
        "filtered": f"{flat}?id__created_at__date__gte=2026-03-01&name=late",
        "wrong": f"{flat}?id__created_at__date__gte=nonsense",
        "next": f"{flat}?_after={text}&p=2",
        "row": reverse("admin:themes_event_change", args=[first.pk]),
        "inspector": f"{reverse('admin:inspect_id')}?q={text}",
        "backfills": reverse("admin:django_sortable_ids_backfillrun_changelist"),
        "leases": reverse("admin:django_sortable_ids_workerlease_changelist"),
        "app": reverse("admin:app_list", args=["django_sortable_ids"]),
    }


def main():
    call_command("migrate", run_syncdb=True, verbosity=0)
    times = [START + timedelta(hours=6 * hours) for hours in range(40)]
    Event.objects.bulk_create(Event(id=get("ulid").generate(at), name="late") for at in times)
    BackfillRun.objects.create(target="themes.Event.id", options={}, last_error="lock timeout")
    WorkerLease.objects.create(number=7, owner="web1", token="", starts=0, expires=EXPIRES)
    client = Client()
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    found = {}
    for name, url in pages(Event.objects.earliest("id")).items():
        answer = client.get(url)
        found[name] = (answer.status_code, answer.content.decode())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
