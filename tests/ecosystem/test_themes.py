"""Our pages and our parts of the admin, with themes that replace the templates of Django."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from django.conf import settings

pytestmark = pytest.mark.skipif(settings.WITH_GRAPHENE, reason="the other environment has themes")

PARTS = {
    "list": [
        '<nav class="sortable-ids-drill-down"',
        '<fieldset class="sortable-ids-days"',
        '<nav class="sortable-ids-pages"',
        '<span class="sortable-ids-text"',
        '<time class="sortable-ids-time"',
        "django_sortable_ids/admin.css",
        "django_sortable_ids/copy.js",
    ],
    "day": ["March 2", "sortable-ids-bars"],
    "filtered": ["sortable-ids-days"],
    "wrong": ["Enter a valid date."],
    "next": ['rel="prev"', 'rel="next"'],
    "row": ['<span class="sortable-ids-text"', "django_sortable_ids/copy.js"],
    "inspector": [
        '<svg class="sortable-ids-picture"',
        "django_sortable_ids/inspect_id.css",
        'href="/admin/themes/event/',
    ],
    "backfills": ["<progress ", "lock timeout"],
    "leases": ["web1", "Jan. 15, 2027"],
    "app": ['<a href="/admin/themes/event/inspect-id/">'],
}


class Forms(HTMLParser):
    """The forms of a page, by their ids: how many are within another one, and the hidden fields."""

    def __init__(self, text):
        super().__init__()
        self.open, self.nested, self.ids = [], 0, []
        self.kept = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form":
            self.nested += len(self.open)
            self.open.append(given.get("id", ""))
            self.ids.append(given.get("id", ""))
        elif tag == "input" and given.get("type") == "hidden" and self.open:
            self.kept.setdefault(self.open[-1], set()).add((given["name"], given.get("value")))

    def handle_endtag(self, tag):
        if tag == "form":
            self.open.pop()


@pytest.fixture(scope="module", params=["grappelli", "jazzmin", "unfold"])
def pages(request):
    command = [sys.executable, "-m", "tests.ecosystem.themes.pages"]
    environment = {**os.environ, "THEME": request.param}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.mark.parametrize("name", PARTS)
def test_the_page_has_our_parts(pages, name):
    status, page = pages[name]
    assert status == 200
    assert [part for part in PARTS[name] if part not in page] == []


def test_the_form_of_the_days_is_in_no_other_form(pages):
    for name in ("list", "day", "filtered"):
        forms = Forms(pages[name][1])
        assert forms.nested == 0
        assert forms.ids.count("sortable-ids-id__created_at__date__gte") == 1


def test_forms_keep_what_is_chosen_elsewhere(pages):
    kept = Forms(pages["filtered"][1]).kept
    assert kept["sortable-ids-id__created_at__date__gte"] == {("name", "late")}
    day = ("id__created_at__date__gte", "2026-03-01")
    (search,) = (hidden for form, hidden in kept.items() if "changelist-search" in form)
    assert day in search
