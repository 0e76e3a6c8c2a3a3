"""How many rows there are: exact where they are few, and said to be inexact everywhere else."""

import copy
import json
import pickle

import pytest
from django.contrib.auth.models import User
from django.core.paginator import (
    EmptyPage,
    InvalidPage,
    PageNotAnInteger,
    Paginator,
    UnorderedObjectListWarning,
)
from django.db import connection
from django.db.models import Count as CountOf
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from django_sortable_ids.db.counting import count
from django_sortable_ids.pagination import Count, SortableIDPaginator
from tests.statistics_of import analysed
from tests.store.models import Basket, Order, ULIDProduct

pytestmark = pytest.mark.django_db

ROWS = 200


class Pages(SortableIDPaginator):
    exact_up_to = 50


@pytest.fixture
def rows():
    """200 rows, of which the database has statistics; five have the name "five"."""
    ULIDProduct.objects.bulk_create(
        ULIDProduct(name="five" if number % 40 == 0 else "row") for number in range(ROWS)
    )
    with analysed(ULIDProduct):
        yield ULIDProduct.objects.order_by("id")


def estimates():
    return connection.vendor != "sqlite"


def test_few_rows_are_counted(rows, django_assert_num_queries):
    for most in (ROWS, ROWS + 1, 10_000):
        with django_assert_num_queries(1):
            found = count(rows, most)
        assert (found, found.precision) == (ROWS, "exact")
    assert count(rows.filter(name="five"), 50).is_exact
    assert count(rows.filter(name="five"), 50) == 5
    assert count(rows.none(), 50) == 0


def test_many_rows_are_estimated_or_at_least_so_many(rows):
    found = count(rows, 50)
    if estimates():
        assert found.precision == "estimated"
        assert ROWS * 0.7 < found < ROWS * 1.3
    else:
        assert (found, found.precision) == (51, "minimum")


def test_an_estimate_is_that_of_the_filter(rows):
    start = list(rows)[ROWS // 2]
    found = count(rows.filter(id__gte=start.id), 50)
    if estimates():
        assert found.precision == "estimated"
        assert ROWS * 0.3 < found < ROWS * 0.7
    else:
        assert found.precision == "minimum"


def test_an_estimate_below_what_was_seen_is_none(rows):
    """Where the database thinks that few rows match, there still are more than were counted."""
    found = count(rows.filter(name__icontains="r").filter(name__contains="o"), 50)
    assert found >= 51
    assert found.precision in ("minimum", "estimated")
    if connection.vendor == "mysql":
        # No index answers the question.
        assert found.precision == "minimum"


def test_the_count_reads_no_more_rows_than_it_must(rows):
    """The statement itself is limited."""
    with CaptureQueriesContext(connection) as captured:
        count(rows.order_by("-name"), 50)
    assert "LIMIT 51" in captured[0]["sql"]
    assert "ORDER BY" not in captured[0]["sql"]
    assert len(captured) == (2 if estimates() else 1)


def test_any_kind_of_queryset_is_counted(rows):
    ids = [row.id for row in rows]
    Basket.objects.bulk_create(Basket(name=str(i % 7), ulid_id=ids[i]) for i in range(90))
    grouped = Basket.objects.values("name").annotate(n=CountOf("id")).order_by("name")
    assert count(grouped, 50) == 7
    assert count(rows.filter(baskets__name="1").distinct(), 50) == len(range(1, 90, 7))
    assert count(rows.all()[:70], 50) == 70
    assert count(rows.all()[:70], 50).is_exact
    one, other = (ULIDProduct.objects.filter(name=name) for name in ("five", "row"))
    assert count(one.union(other), 50) == ROWS
    assert count(Basket.objects.select_related("ulid").order_by("-id"), 50) >= 51
    assert count(Basket.objects.filter(ulid__name="five").order_by("id"), 50) == 3
    assert count(rows.values_list("name").distinct(), 50) == 2


def test_a_count_says_what_it_is(settings):
    assert str(Count(1234)) == "1234"
    assert str(Count(5_012_345, "estimated")) == "about 5,000,000"
    assert str(Count(987, "estimated")) == "about 990"
    assert str(Count(10_001, "minimum")) == "more than 10,000"
    with override("de"):
        assert str(Count(10_001, "minimum")).endswith("10.000")
    shown = Template("{{ n }} rows").render(Context({"n": Count(10_001, "minimum")}))
    assert shown == "more than 10,000 rows"
    settings.USE_THOUSAND_SEPARATOR = True
    shown = Template("{{ n }} rows, {{ n.text }}").render(Context({"n": Count(10_001, "minimum")}))
    assert shown == "10,001 rows, more than 10,000"


def test_a_count_is_a_number():
    found = Count(10_001, "minimum")
    assert found == 10_001
    assert json.dumps({"count": found}) == '{"count": 10001}'
    assert (found + 1, type(found + 1)) == (10_002, int)
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert (again, again.precision) == (10_001, "minimum")


def test_small_tables_are_paged_as_always():
    User.objects.bulk_create(User(username=f"{i:02}") for i in range(23))
    users = User.objects.order_by("username")
    for options in ((5, 0), (5, 3), (23, 0), (30, 0), (4, 0)):
        ours, usual = SortableIDPaginator(users, *options), Paginator(users, *options)
        assert (ours.count, ours.num_pages) == (usual.count, usual.num_pages)
        for mine, theirs in zip(ours, usual, strict=True):
            assert list(mine) == list(theirs)
            assert (mine.has_next(), mine.end_index()) == (theirs.has_next(), theirs.end_index())
        for number in ("x", None, 0, -1, 100, 1.5):
            for pages in (ours, usual):
                with pytest.raises(InvalidPage):
                    pages.page(number)
            assert ours.get_page(number).number == usual.get_page(number).number


def test_a_list_is_counted():
    pages = SortableIDPaginator([*range(7)], 3)
    assert (pages.count, pages.num_pages, list(pages.page(3))) == (7, 3, [6])
    assert pages.count.is_exact


@pytest.mark.parametrize("orphans", [0, 4])
def test_every_row_of_a_large_table_is_on_one_page(rows, orphans):
    for per_page in (10, 7, 49):
        found, number = [], 1
        pages = Pages(rows, per_page, orphans)
        while True:
            page = pages.page(number)
            found += page
            if not page.has_next():
                break
            number = page.next_page_number()
        assert found == list(rows)
        assert pages.count == ROWS
        assert pages.count.is_exact
        assert pages.num_pages == number == Paginator(rows, per_page, orphans).num_pages


def test_a_page_after_the_known_ones_is_there_if_it_has_rows(rows):
    for number in (11, 20):
        page = Pages(rows, 10).page(number)
        assert [row.id for row in page] == [row.id for row in rows[number * 10 - 10 : number * 10]]
    for number in (10**6, 10**18, 2**63, 10**40):
        with pytest.raises(EmptyPage):
            Pages(rows, 10).page(number)
    for number in ("x", None, 1.5):
        with pytest.raises(PageNotAnInteger):
            Pages(rows, 10).page(number)
    with pytest.raises(EmptyPage):
        Pages(rows, 10).page(0)


def with_estimate(rows, number):
    """As statistics are after many rows were deleted or inserted."""
    pages = Pages(rows, 10)
    pages.__dict__["count"] = Count(number, "estimated")
    return pages


def test_an_estimate_that_was_too_high_ends_on_the_last_page(rows):
    for number in (99, 100, 101):
        with pytest.raises(EmptyPage):
            with_estimate(rows, 1000).page(number)
        pages = with_estimate(rows, 1000)
        page = pages.get_page(number)
        assert (page.number, list(page)) == (20, list(rows[190:]))
        assert (pages.count, pages.count.precision) == (ROWS, "exact")
    for number, following in ((19, True), (20, False)):
        page = with_estimate(rows, 1000).page(number)
        assert (len(page), page.has_next()) == (10, following)


def test_an_estimate_that_was_too_low_hides_no_rows(rows):
    for number in (5, 6, 7, 20):
        page = with_estimate(rows, 60).page(number)
        assert list(page) == list(rows[number * 10 - 10 : number * 10])
        assert page.has_next() == (number < 20)


def test_the_rows_of_a_page_are_read_once(rows, django_assert_num_queries):
    pages = Pages(rows.prefetch_related("baskets"), 10)
    assert not pages.count.is_exact
    with django_assert_num_queries(2):
        page = pages.page(3)
        assert page.object_list.ordered
        assert len(page) == 10
        assert [[*row.baskets.all()] for row in page] == [[]] * 10
        assert page.has_next()


def test_a_page_may_be_longer_than_what_is_counted(rows):
    pages = Pages(rows, 150)
    assert len(pages.page(1)) == 150
    assert len(pages.page(2)) == 50
    assert pages.count == ROWS


def test_rows_without_an_order_are_warned_about_as_always():
    with pytest.warns(UnorderedObjectListWarning):
        SortableIDPaginator(Order.objects.all(), 10)
