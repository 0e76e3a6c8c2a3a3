"""Pages that begin after an id: no row twice and none left out, whatever happens in between."""

import copy
import json
import pickle

import pytest
from django.contrib.auth.models import User
from django.core.paginator import EmptyPage, InvalidPage, PageNotAnInteger, Paginator
from django.db import connection, models
from django.db.models import Count as CountOf
from django.db.models import F
from django.template import Context, Template
from django.test.utils import isolate_apps
from django.utils.translation import override

from django_sortable_ids.db.counting import count
from django_sortable_ids.fields import ULIDField
from django_sortable_ids.pagination import Count, SortableIDPaginator, id_order, keyset_page
from django_sortable_ids.schemes import InvalidID
from tests.combinations import in_one_case
from tests.leaks import leaks
from tests.statistics_of import analysed
from tests.store.models import PRODUCTS, Basket, Order, Review, ULIDProduct
from tests.testapp.models import MaskedKey

pytestmark = pytest.mark.django_db

each_scheme = in_one_case("scheme", PRODUCTS)


def forwards(rows, per_page=3, after=None):
    pages = [keyset_page(rows, per_page, after=after)]
    while pages[-1].next is not None:
        pages.append(keyset_page(rows, per_page, after=pages[-1].next))
        assert len(pages) < 50
    return pages


def backwards(rows, per_page=3, before=""):
    pages = [keyset_page(rows, per_page, before=before)]
    while pages[-1].previous is not None:
        pages.append(keyset_page(rows, per_page, before=pages[-1].previous))
        assert len(pages) < 50
    return pages


def rows_of(pages):
    return [row for page in pages for row in page.rows]


@each_scheme
def test_every_row_once_in_both_directions(scheme, django_assert_num_queries):
    model = PRODUCTS[scheme]
    for number in range(10):
        model.objects.create(name=str(number))
    for by in ("id", "-id", "pk", F("id"), F("id").desc()):
        rows = model.objects.order_by(by)
        expected = list(rows)
        there, back = forwards(rows), backwards(rows)
        assert (
            [len(page.rows) for page in there] == [len(page.rows) for page in back] == [3] * 3 + [1]
        )
        assert rows_of(there) == expected
        assert rows_of(back[::-1]) == expected
        assert there[0].previous is None
        assert keyset_page(rows, 3, before=there[2].previous).rows[0] == expected[3]
        with django_assert_num_queries(1):
            assert len(keyset_page(rows, 3, after=there[0].next).rows) == 3
        assert rows_of(forwards(rows.reverse())) == expected[::-1]


def test_rows_that_come_and_go_between_two_pages_move_no_others():
    made = [ULIDProduct.objects.create(name=str(number)) for number in range(9)]
    rows = ULIDProduct.objects.order_by("-id")
    first = keyset_page(rows, 3)
    ULIDProduct.objects.create(name="new")
    made[8].delete()
    made[6].delete()
    second = keyset_page(rows, 3, after=first.next)
    assert [row.name for row in second.rows] == ["5", "4", "3"]
    made[5].delete()
    made[4].delete()
    back = keyset_page(rows, 3, before=second.previous)
    assert [row.name for row in back.rows] == ["new", "7"]
    assert (back.previous, back.next is None) == (None, False)


def test_filters_and_joins_are_kept():
    products = [ULIDProduct.objects.create(name=name) for name in "abab"]
    for product in products:
        Basket.objects.create(name=product.name, ulid=product).all_ulid.set(products)
    rows = Basket.objects.filter(all_ulid__name="a", ulid__name="b").distinct().order_by("-id")
    assert [row.ulid for row in rows_of(forwards(rows, 1))] == [products[3], products[1]]
    joined = Basket.objects.select_related("ulid").prefetch_related("all_ulid").order_by("id")
    page = keyset_page(joined, 2)
    assert [len(row.all_ulid.all()) for row in page.rows] == [4, 4]


def test_rows_that_are_no_instances_are_refused():
    rows = ULIDProduct.objects.order_by("id")
    for values in (rows.values("id"), rows.values_list("id"), rows.values()):
        with pytest.raises(ValueError, match=r"ULIDProduct: expected instances"):
            keyset_page(values, 3)


def test_a_masked_position_shows_no_time_and_nobody_else_makes_one():
    values = [MaskedKey.objects.create(name=str(number)).pk for number in range(3)]
    rows = MaskedKey.objects.order_by("id")
    page = keyset_page(rows, 1)
    assert not leaks(page.next, *values)
    assert [row.pk for row in keyset_page(rows, 1, after=page.next).rows] == values[1:2]
    text, _, _signature = page.next.rpartition(".")
    for forged in (text, str(values[0]), f"{text}.{'0' * 32}"):
        with pytest.raises(InvalidID):
            keyset_page(rows, 1, after=forged)


NOT_BY_AN_ID = {
    "name": lambda: ULIDProduct.objects.order_by("name"),
    "nothing": lambda: ULIDProduct.objects.order_by(),
    "random": lambda: ULIDProduct.objects.order_by("?"),
    "expression": lambda: ULIDProduct.objects.order_by((F("id")).asc(nulls_last=True), "name")[:2],
    "annotation": lambda: Basket.objects.annotate(x=F("id")).order_by("x"),
    "relation": lambda: Basket.objects.order_by("ulid"),
    "through a relation": lambda: Basket.objects.order_by("ulid__id"),
    "not unique": lambda: Review.objects.order_by("import_id"),
    "integer key": lambda: Order.objects.order_by("id"),
    "union": lambda: ULIDProduct.objects.order_by("id").union(ULIDProduct.objects.order_by("id")),
}


@pytest.mark.parametrize("kind", NOT_BY_AN_ID)
def test_another_order_is_refused(kind):
    rows = NOT_BY_AN_ID[kind]()
    assert id_order(rows) is None
    with pytest.raises(ValueError, match="in the order of a unique id"):
        keyset_page(rows, 3)


@isolate_apps("tests.testapp")
def test_a_constraint_makes_a_column_unique():
    class Ticket(models.Model):  # noqa: DJ008
        public = ULIDField()

        class Meta:
            app_label = "testapp"
            constraints = (models.UniqueConstraint(fields=["public"], name="one_public"),)

    order = id_order(Ticket.objects.order_by("-public"))
    assert order
    assert (order.attname, order.descending) == ("public", True)


@pytest.mark.parametrize("per_page", [0, -1])
def test_a_page_has_a_row(per_page):
    with pytest.raises(ValueError, match=f"per_page is {per_page}: expected 1 or more"):
        keyset_page(ULIDProduct.objects.order_by("id"), per_page)


def test_a_column_that_may_be_null_needs_an_id_in_every_row():
    made = [Order.objects.create(name=str(number)) for number in range(4)]
    rows = Order.objects.order_by("-ulid", "-pk")
    assert rows_of(forwards(rows, 3)) == made[::-1]
    Order.objects.filter(name="2").update(ulid=None)
    assert id_order(rows) is None
    assert id_order(rows.filter(name="1")) is None


# How many rows there are: exact where they are few, and said to be inexact everywhere else.


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


def test_rows_of_a_join_are_not_taken_for_those_of_the_list():
    products = [ULIDProduct.objects.create() for _ in range(5)]
    for _ in range(60):
        Basket.objects.create().all_ulid.set(products)
    with analysed(Basket.all_ulid.through, Basket, ULIDProduct):
        for listed in (
            Basket.objects.annotate(n=CountOf("all_ulid")),
            Basket.objects.filter(all_ulid__isnull=False).distinct(),
        ):
            assert 20 < count(listed, 20) < 60 * 1.3


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
    of_a_list = SortableIDPaginator([*range(7)], 3)
    assert (of_a_list.count, of_a_list.num_pages, list(of_a_list.page(3))) == (7, 3, [6])


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
