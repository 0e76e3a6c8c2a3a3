"""The pages of a row by the public text of an id that is not its key."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.test import Client

from django_sortable_ids.ids import public_id
from tests.store.models import PRODUCTS, Order, Voucher

from .support import each_kind, list_url, page_url

pytestmark = pytest.mark.django_db


@each_kind
def test_a_public_text_redirects_to_the_page_with_the_key(browser, scheme):
    order, _ = Order.objects.create(name="first"), Order.objects.create(name="second")
    for text in (public_id(order, scheme), str(getattr(order, scheme))):
        for page in ("change", "delete", "history"):
            answer = browser.get(page_url(Order, text, page), {"_popup": "1"})
            assert answer.url == f"{page_url(Order, order.pk, page)}?_popup=1", text
            assert browser.get(answer.url).status_code == 200


def test_a_key_comes_before_an_id_of_the_same_digits(browser):
    other = Order.objects.create(name="other", pk=1_000_000_000_000_000_000)
    Order.objects.create(name="first", snowflake=other.pk)
    page = browser.get(page_url(Order, other.pk))
    assert page.context["original"].name == "other"
    other.delete()
    answer = browser.get(page_url(Order, 1_000_000_000_000_000_000))
    assert browser.get(answer.url).context["original"].name == "first"


def test_what_no_row_has_is_djangos_answer(browser):
    order = Order.objects.create()
    texts = [public_id(order, scheme) for scheme in PRODUCTS]
    order.delete()
    for text in (*texts, "ord_", "ord_x", "x", "None", "9" * 40):
        answer = browser.get(page_url(Order, text))
        assert (answer.status_code, answer.url) == (302, "/admin/"), text
        *_, message = get_messages(answer.wsgi_request)
        assert "exist" in message.message


@each_kind
def test_what_a_user_may_not_see_does_not_exist(scheme):
    mine, theirs = (
        Order.objects.create(pk=pk, name=name, tenant=name)
        for pk, name in ((8_000, "mine"), (9_000, "theirs"))
    )
    user = User.objects.create(username="mine", is_staff=True)
    client = Client()
    client.force_login(user)
    assert client.get(page_url(Order, public_id(mine, scheme))).status_code == 403
    user.user_permissions.set(Permission.objects.filter(codename="view_order"))
    answer = client.get(page_url(Order, public_id(mine, scheme)))
    assert answer.url == page_url(Order, mine.pk)
    assert client.get(page_url(Order, public_id(theirs, scheme))).url == "/admin/"


def test_a_row_that_this_user_may_not_view_does_not_exist(browser, monkeypatch):
    orders = [Order.objects.create(name=name) for name in ("open", "secret")]
    model_admin = admin.site.get_model_admin(Order)

    def may(request, obj=None):
        return obj is None or obj.name != "secret"

    for name in ("has_view_permission", "has_change_permission"):
        monkeypatch.setattr(model_admin, name, may)
    targets = [browser.get(page_url(Order, public_id(order, "ulid"))).url for order in orders]
    assert targets == [page_url(Order, orders[0].pk), "/admin/"]


def test_a_post_reaches_the_row(browser):
    order = Order.objects.create(name="before")
    given = {"name": "after", "tenant": "t"}
    answer = browser.post(page_url(Order, public_id(order, "ulid")), given, follow=True)
    assert answer.status_code == 200
    order.refresh_from_db()
    assert order.name == "after"


def test_a_second_id_of_a_row_with_a_sortable_key(browser):
    voucher = Voucher.objects.create(name="row", code=Voucher._meta.get_field("code").generate())
    answer = browser.get(
        f"{list_url(Voucher)}{public_id(voucher, 'code').replace('_', '_5F')}/change/"
    )
    assert answer.url == page_url(Voucher, voucher.pk)
