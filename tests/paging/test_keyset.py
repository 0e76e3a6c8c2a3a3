"""Pages that begin after an id: no row twice and none left out, whatever happens in between."""

import pytest
from django.db.models import F

from django_sortable_ids.pagination import id_order, keyset_page
from django_sortable_ids.schemes import InvalidID
from tests.combinations import in_one_case
from tests.leaks import leaks
from tests.store.models import PRODUCTS, Basket, Bundle, Order, Profile, Review, ULIDProduct
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


def test_all_rows_on_one_page():
    for number in range(3):
        ULIDProduct.objects.create(name=str(number))
    rows = ULIDProduct.objects.order_by("id")
    for page in (keyset_page(rows, 3), keyset_page(rows, 4), keyset_page(rows, 3, before="")):
        assert (len(page.rows), page.previous, page.next) == (3, None, None)
    empty = keyset_page(rows.none(), 3)
    assert (list(empty.rows), empty.previous, empty.next) == ([], None, None)


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


def test_where_all_rows_that_follow_are_gone_the_last_page_is_next():
    made = [ULIDProduct.objects.create(name=str(number)) for number in range(6)]
    rows = ULIDProduct.objects.order_by("id")
    first = keyset_page(rows, 3)
    for row in made[3:]:
        row.delete()
    nothing = keyset_page(rows, 3, after=first.next)
    assert (list(nothing.rows), nothing.next, nothing.previous) == ([], None, "")
    assert rows_of([keyset_page(rows, 3, before=nothing.previous)]) == made[:3]
    ULIDProduct.objects.all().delete()
    nothing = keyset_page(rows, 3, before=first.next)
    assert (list(nothing.rows), nothing.next, nothing.previous) == ([], "", None)


def test_filters_and_joins_are_kept():
    products = [ULIDProduct.objects.create(name=name) for name in "abab"]
    for product in products:
        Basket.objects.create(name=product.name, ulid=product).all_ulid.set(products)
    rows = Basket.objects.filter(all_ulid__name="a", ulid__name="b").distinct().order_by("-id")
    assert [row.ulid for row in rows_of(forwards(rows, 1))] == [products[3], products[1]]
    joined = Basket.objects.select_related("ulid").prefetch_related("all_ulid").order_by("id")
    page = keyset_page(joined, 2)
    assert [len(row.all_ulid.all()) for row in page.rows] == [4, 4]


def test_by_a_key_that_is_a_relation():
    for number in range(5):
        bundle = Bundle.objects.create(name=str(number))
        Profile.objects.create(product=ULIDProduct.objects.get(pk=bundle.pk), name=str(number))
    for model, by in ((Bundle, "pk"), (Bundle, "-id"), (Profile, "pk"), (Profile, "-product_id")):
        rows = model.objects.order_by(by)
        assert rows_of(forwards(rows, 2)) == list(rows)
        assert len(list(rows)) == 5


def test_the_position_is_the_public_text():
    row, _ = (ULIDProduct.objects.create() for _ in range(2))
    page = keyset_page(ULIDProduct.objects.order_by("id"), 1)
    assert page.next == f"prod_{row.pk}"


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


@each_scheme
def test_any_other_position_is_refused(scheme):
    model = PRODUCTS[scheme]
    model.objects.create()
    rows = model.objects.order_by("id")
    for text in ("x", "é", "\0", "bad_1", "9" * 5000, " ", "None"):
        for given in ({"after": text}, {"before": text}):
            with pytest.raises(ValueError):  # noqa: PT011
                keyset_page(rows, 3, **given)


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


def test_a_column_that_may_be_null_needs_an_id_in_every_row():
    made = [Order.objects.create(name=str(number)) for number in range(4)]
    rows = Order.objects.order_by("-ulid", "-pk")
    assert rows_of(forwards(rows, 3)) == made[::-1]
    Order.objects.filter(name="2").update(ulid=None)
    assert id_order(rows) is None
    assert id_order(rows.filter(name="1")) is None


def test_the_order_of_the_model_counts_too(monkeypatch):
    assert id_order(ULIDProduct.objects.all()) is None
    monkeypatch.setattr(ULIDProduct._meta, "ordering", ["-id"])
    found = id_order(ULIDProduct.objects.all())
    assert (found.path, found.descending) == ("id", True)
