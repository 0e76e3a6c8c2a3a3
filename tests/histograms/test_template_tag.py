"""``{% sortable_id_histogram bars %}``: a picture and a table of the same counts."""

from datetime import timedelta

import pytest
from django.contrib.staticfiles import finders
from django.template import Context, Template
from django.utils import timezone

from django_sortable_ids.functions import Bar, histogram
from django_sortable_ids.pagination import Count
from tests.admin.page import Page
from tests.lookups.support import fill, utc
from tests.testapp.models import Order

START = utc(2026, 10, 31, 4)
DAY = timedelta(days=1)


def bar(number, count, *, length=DAY, precision="exact"):
    start = timezone.localtime(START + number * length)
    return Bar(start, start + length, Count(count, precision))


def drawn(bars, title=""):
    template = Template("{% load sortable_ids %}{% sortable_id_histogram bars title=title %}")
    return Page(template.render(Context({"bars": bars, "title": title}))).root.find("figure")


def test_heights_are_in_proportion_and_few_rows_are_seen():
    figure = drawn([bar(0, 200), bar(1, 100), bar(2, 1), bar(3, 0)])
    rects = list(figure.find_all("rect"))
    assert [(rect["y"], rect["height"]) for rect in rects] == [
        ("0", "100"),
        ("50", "50"),
        ("98", "2"),
        ("100", "0"),
    ]
    assert [rect["x"] for rect in rects] == ["0", "10", "20", "30"]
    assert figure.find("svg")["viewbox"] == "0 0 40 100"


def test_the_table_has_every_count_as_text():
    figure = drawn(
        [bar(0, 1234), bar(1, 10_001, precision="minimum"), bar(3, 0, precision="minimum")]
    )
    labels = [cell.text for cell in figure.find_all("th", scope="row")]
    counts = [cell.text for cell in figure.find_all("td")]
    assert labels == ["Oct. 31, 2026", "Nov. 1, 2026", "Nov. 2, 2026"]
    assert counts == ["1,234", "more than 10,000", "not counted"]
    assert figure.find("svg")["aria-hidden"] == "true"
    assert [rect.attributes.get("class") for rect in figure.find_all("rect")] == [
        None,
        "sortable-ids-more",
        "sortable-ids-more",
    ]


@pytest.mark.parametrize(
    ("length", "label"),
    [
        (timedelta(minutes=1), "Oct. 31, 2026, 12:01 a.m."),
        (timedelta(hours=1), "Oct. 31, 2026, 1 a.m."),
        (DAY, "Nov. 1, 2026"),
        (timedelta(days=31), "November 2026"),
        (timedelta(days=366), "2027"),
    ],
)
def test_labels_are_as_long_as_the_bars_need(length, label):
    figure = drawn([bar(0, 1, length=length), bar(1, 1, length=length)])
    assert list(figure.find_all("th", scope="row"))[1].text == label


def test_hours_that_repeat_have_different_labels():
    figure = drawn([bar(number, 1, length=timedelta(hours=1)) for number in range(25, 27)])
    assert [each.text for each in figure.find_all("th", scope="row")] == [
        "Nov. 1, 2026, 1 a.m.",
        "Nov. 1, 2026, 1 a.m. EST",
    ]


def test_no_bars_are_a_sentence():
    figure = drawn([])
    assert "Nothing was created in this time." in figure.text
    assert not list(figure.find_all("svg"))


def test_what_is_given_is_escaped():
    page = drawn([bar(0, 1)], title="<script>alert(1)</script>")
    assert not list(page.find_all("script"))
    assert page.find("figcaption").text == "<script>alert(1)</script>"


def test_colours_come_from_a_file():
    assert drawn([bar(0, 1)]).text
    assert finders.find("django_sortable_ids/histogram.css")
    template = Template("{% load sortable_ids %}{% sortable_id_histogram bars %}")
    text = template.render(Context({"bars": [bar(0, 1)]}))
    assert 'href="/static/django_sortable_ids/histogram.css"' in text
    for refused_by_a_strict_policy in ("style=", "<style", "<script", "onclick"):
        assert refused_by_a_strict_policy not in text


@pytest.mark.django_db
def test_it_draws_what_is_counted():
    fill("uuid7", [utc(2026, 7, day, 12) for day in (1, 1, 2, 4)])
    figure = drawn(histogram(Order.objects, "uuid7", "day"), title="Orders by day")
    assert [cell.text for cell in figure.find_all("td")] == ["2", "1", "0", "1"]
    assert figure.find("figcaption").text == "Orders by day"
