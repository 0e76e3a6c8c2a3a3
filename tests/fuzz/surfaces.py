"""The ways in: each takes a source of hostile values and uses one; what it raises is a fault."""

import contextlib
import json
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib.auth.models import User
from django.core import serializers
from django.core.exceptions import BadRequest, FieldError, ValidationError
from django.core.serializers.base import DeserializationError
from django.db import IntegrityError, models, transaction
from django.forms import modelform_factory
from django.test import Client
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import AllowAny
from rest_framework.test import APIClient, APIRequestFactory

from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.fields.of_model import field_at
from django_sortable_ids.ids import resolve
from tests.store.api import serializer_for
from tests.store.models import PRODUCTS, Basket, Order, Refund, Stock, Voucher
from tests.testapp.models import KEYS, around
from tests.testapp.models import Order as DatedOrder

from .values import Hostile

SCHEMES = list(PRODUCTS)
TIMED = [scheme for scheme in SCHEMES if scheme != "sequence"]
api = APIClient()
browser = Client()


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """What is written is taken back, and an error of the database is one of this value alone."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def make_rows() -> None:
    """A row of every kind, for what finds something by chance, or all of it by mistake."""
    products = {name: model.objects.create(name=name) for name, model in PRODUCTS.items()}
    basket = Basket.objects.create(name="b", **products)
    for name, product in products.items():
        getattr(basket, f"all_{name}").add(product)
    order = Order.objects.create(name="o")
    Refund.objects.create(**dict.fromkeys(SCHEMES, order))
    Voucher.objects.create()
    Stock.objects.create(place=1)
    DatedOrder.objects.create()
    root = User.objects.create(username="root", is_staff=True, is_superuser=True)
    browser.force_login(root)


def _path(hostile: Hostile) -> tuple[Any, str]:
    """A model, and the path to an id: of its own, behind a relation, or behind many."""
    scheme = hostile.random.choice(SCHEMES)
    return hostile.random.choice(
        [
            (PRODUCTS[scheme], "pk"),
            (PRODUCTS[scheme], "id"),
            (Order, scheme),
            (Basket, scheme),
            (Basket, f"{scheme}__id"),
            (Basket, f"all_{scheme}"),
            (Basket, f"all_{scheme}__pk"),
            (PRODUCTS[scheme], "baskets"),
            (Refund, scheme),
            (Refund, f"{scheme}__{scheme}"),
            (Stock, "shelf"),
            (Stock, "label"),
        ]
    )


# The ORM


@contextlib.contextmanager
def by_type(*values: Any) -> Iterator[None]:
    """A value of a type that no id has is an error that names it; a text never is."""
    try:
        yield
    except TypeError as error:
        if "expected an id of" not in str(error) or all(
            isinstance(value, str | uuid.UUID | None) for value in values
        ):
            raise


def equality(hostile: Hostile) -> None:
    model, path = _path(hostile)
    value = hostile.value()
    way = hostile.random.choice(["filter", "exclude"])
    with by_type(value):
        assert 0 <= getattr(model.objects, way)(**{path: value}).count() <= 1


def membership(hostile: Hostile) -> None:
    model, path = _path(hostile)
    values = [hostile.value() for _ in range(3)]
    values = [value for value in values if _hashes(value)]
    way = hostile.random.choice(["filter", "exclude"])
    with by_type(*values):
        assert 0 <= getattr(model.objects, way)(**{f"{path}__in": values}).count() <= 1


def _hashes(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def order(hostile: Hostile) -> None:
    model, path = _path(hostile)
    lookup = hostile.random.choice(["gt", "gte", "lt", "lte", "range"])
    value = hostile.value()
    if value is None:
        return  # which Django refuses for any field
    values = (value,)
    if lookup == "range":
        values = value = (value, hostile.value())
        if not isinstance(field_at(model, path), SortableIDField):
            lookup = "in"  # Django has no ranges of relations
    with contextlib.suppress(ValidationError), by_type(*values):
        model.objects.filter(**{f"{path}__{lookup}": value}).count()


def text_lookups(hostile: Hostile) -> None:
    model, path = _path(hostile)
    lookup = hostile.random.choice(["contains", "icontains", "startswith", "iexact", "regex"])
    with contextlib.suppress(FieldError, TypeError):  # of relations and regex; of other types
        model.objects.filter(**{f"{path}__{lookup}": hostile.value()}).count()


def created_at(hostile: Hostile) -> None:
    """What a real ``DateTimeField`` raises is raised, and nothing else."""
    lookup = hostile.random.choice(["exact", "gte", "lt", "date", "date__gte", "year", "year__lte"])
    value = hostile.value()

    def ask(path: str, model: type[models.Model]) -> type[Exception] | None:
        try:
            with undone():
                model._default_manager.filter(**{f"{path}__{lookup}": value}).count()
        except Exception as error:
            return type(error)
        return None

    usual = ask("created_at", DatedOrder)
    scheme = hostile.random.choice(TIMED)
    model, path = hostile.random.choice([(PRODUCTS[scheme], "id"), (Basket, f"{scheme}__id")])
    found = ask(f"{path}__created_at", model)
    assert found in (usual, None), f"{found}, and {usual} of a DateTimeField"


def writing(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    value = hostile.value()
    with undone(), contextlib.suppress(ValidationError, IntegrityError), transaction.atomic():
        match hostile.random.randrange(5):
            case 0:
                PRODUCTS[scheme].objects.create(id=value)
            case 1:
                Order.objects.update(**{scheme: value})
            case 2:
                Order.objects.bulk_create([Order(**{scheme: value})])
            case 3:
                Order(**{scheme: value}).full_clean()
            case 4:
                Basket.objects.update(**{f"{scheme}_id": value})
        Basket.objects.count()


def many_to_many(hostile: Hostile) -> None:
    basket = Basket.objects.first()
    manager = getattr(basket, f"all_{hostile.random.choice(SCHEMES)}")
    value = hostile.value()
    # As every manager of Django does for what has no hash.
    expected = (ValidationError, IntegrityError) if _hashes(value) else (ValidationError, TypeError)
    with undone(), contextlib.suppress(*expected), by_type(value), transaction.atomic():
        hostile.random.choice([manager.add, manager.remove, lambda each: manager.set([each])])(
            value
        )


def fields(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    field: Any = hostile.random.choice([PRODUCTS[scheme]._meta.pk, Order._meta.get_field(scheme)])
    value = hostile.value()
    for function in (field.to_python, field.parse_public):
        with contextlib.suppress(ValidationError):
            function(value)
    with contextlib.suppress(ValidationError, LookupError):
        resolve(value)


# REST


def _segment(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def _is_answered(answer: Any) -> None:
    assert answer.status_code < 500, answer.status_code


def detail(hostile: Hostile) -> None:
    name = hostile.random.choice(["{}", "plain/{}", "orders/{}", "baskets", "vouchers", "refunds"])
    text = hostile.text()
    method = hostile.random.choice(["get", "get", "get", "patch", "put", "delete", "options"])
    with undone():
        answer = getattr(api, method)(
            f"/store/{name.format(hostile.random.choice(SCHEMES))}/{_segment(text)}/"
        )
    _is_answered(answer)
    if method == "get":
        assert answer.status_code in (200, 404, 301), answer.status_code


BODIES = [
    f'{{"ulid": 1{"0" * 5_000}}}',
    f'{{"ulid": {"[" * 400}1{"]" * 400}}}',
    *("[]", "[{}]", "null", '"x"', "{", "", "\ufeff{}", '{"all_ulid": {}}', '{"ulid": 1e999}'),
    *('{"ulid": NaN}', '{"ulid": -Infinity}', '{"ulid": "\\ud800"}', '{"ulid": "\\u0000"}'),
    '{"ulid": "a", "ulid": "b"}',
]
"""What ``json.dumps`` does not write."""


def body(hostile: Hostile) -> None:
    name = hostile.random.choice(["baskets", "refunds", "vouchers", "linked"])
    columns = ["code", "id"] if "voucher" in name else hostile.random.sample(SCHEMES, 3)
    if name in ("baskets", "linked"):
        columns += [f"all_{hostile.random.choice(SCHEMES)}"]
    given = {}
    for column in columns:
        value = hostile.json()
        if name == "linked" and hostile.random.random() < 0.7:
            value = hostile.random.choice(["/store/ulid/", "http://", "http://testserver/store/"])
            value += hostile.text()
        given[column] = [value] if column.startswith("all_") else value
    text = json.dumps(given)
    if hostile.random.random() < 0.05:
        text = hostile.random.choice(BODIES)
    with undone():
        answer = api.post(f"/store/{name}/", text, content_type="application/json")
    _is_answered(answer)
    assert answer.status_code in (201, 400), answer.status_code


def form_body(hostile: Hostile) -> None:
    name = hostile.random.choice(["baskets", "refunds", "vouchers"])
    columns = ["code"] if "voucher" in name else hostile.random.sample(SCHEMES, 2)
    data = urlencode({column: hostile.text() for column in columns}, errors="surrogatepass")
    with undone():
        answer = api.post(f"/store/{name}/", data, content_type="application/x-www-form-urlencoded")
    _is_answered(answer)


class _Pages(CursorPagination):
    page_size = 1


def query(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    model, column = hostile.random.choice([(PRODUCTS[scheme], "id"), (Order, scheme)])
    attributes = {
        "queryset": model._default_manager.order_by("pk"),
        "serializer_class": serializer_for(model, "name"),
        "permission_classes": [AllowAny],
        "filter_backends": [SearchFilter, OrderingFilter],
        "search_fields": [hostile.random.choice(["", "^", "=", "$"]) + column, "name"],
        "ordering_fields": "__all__",
        "pagination_class": type("Pages", (_Pages,), {"ordering": column}),
    }
    asked = hostile.random.choice(["search", "ordering", "cursor", "cursor", "page", column])
    text = hostile.text()
    if asked == "cursor" and hostile.random.random() < 0.9:
        text = _cursor(hostile, text)
    asked_for = urlencode({asked: text}, errors="surrogatepass")
    view = type("View", (ListAPIView,), attributes).as_view()
    # A pattern of "$id" is a bad request, which Django answers outside the view.
    with undone(), contextlib.suppress(BadRequest):
        _is_answered(view(APIRequestFactory().get(f"/?{asked_for}")))


def _cursor(hostile: Hostile, text: str) -> str:
    tokens = {"p": text}
    if hostile.random.random() < 0.3:
        tokens |= {hostile.random.choice(["r", "o"]): hostile.random.choice(["1", text])}
    return b64encode(urlencode(tokens, errors="surrogatepass").encode()).decode()


# Forms and fixtures


def forms(hostile: Hostile) -> None:
    match hostile.random.randrange(3):
        case 0:
            model: Any = around(hostile.random.choice(KEYS), "Public")
            names = ["public", "to"]
        case 1:
            model, names = Voucher, ["id", "code"]
        case _:
            scheme = hostile.random.choice(SCHEMES)
            model, names = Basket, [scheme, f"all_{scheme}"]
    form_class: Any = modelform_factory(model, fields=[*names, "name"])
    data = {name: hostile.text() for name in names} | {"name": "x"}
    data |= {name: [data[name]] for name in names if name.startswith("all_")}
    with undone():
        form = form_class(data)
        form.as_p()
        if form.is_valid():
            form.save()


def fixtures(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    model = hostile.random.choice(["basket", "order", PRODUCTS[scheme]._meta.model_name])
    values = {"name": "x"}
    if model == "basket":
        values |= {scheme: hostile.json(), f"all_{scheme}": [hostile.json()]}
    elif model == "order":
        values |= {scheme: hostile.json()}
    record = {"model": f"store.{model}", "fields": values}
    if model != "order":
        record["pk"] = hostile.json()
    refusals = contextlib.suppress(DeserializationError, ValidationError, IntegrityError)
    with undone(), refusals, transaction.atomic():
        for each in serializers.deserialize("json", json.dumps([record])):
            each.save()


# The admin


def _list(model: Any) -> str:
    return f"/admin/store/{model._meta.model_name}/"


def admin_list(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    model = hostile.random.choice([PRODUCTS[scheme], PRODUCTS[scheme], Order, Voucher])
    names = ["q", "q", "o", "p", "id__created_at__date__gte", "id__created_at__gte", "id", "pk__in"]
    names += ["id__gt", "id__exact", "id__created_at__date__lte", "e", f"{scheme}__id__exact"]
    asked = {hostile.random.choice(names): hostile.text() for _ in range(2)}
    with undone():
        _is_answered(browser.get(f"{_list(model)}?{urlencode(asked, errors='surrogatepass')}"))


def admin_page(hostile: Hostile) -> None:
    model = hostile.random.choice([*PRODUCTS.values(), Basket, Voucher, Refund])
    page = hostile.random.choice(["change", "delete", "history"])
    with undone():
        _is_answered(browser.get(f"{_list(model)}{_segment(hostile.text())}/{page}/"))


def admin_form(hostile: Hostile) -> None:
    model, names = hostile.random.choice(
        [(Voucher, ["id", "code"]), (Refund, hostile.random.sample(SCHEMES, 3))]
    )
    url = f"{_list(model)}add/"
    if hostile.random.random() < 0.5:
        url = f"{_list(model)}{model.objects.first().pk}/change/"
    data = urlencode({name: hostile.text() for name in names}, errors="surrogatepass")
    with undone():
        _is_answered(browser.post(url, data, content_type="application/x-www-form-urlencoded"))


def admin_action(hostile: Hostile) -> None:
    model = hostile.random.choice([*PRODUCTS.values(), Basket])
    given = {"action": "delete_selected", "_selected_action": hostile.text(), "index": "0"}
    data = urlencode(given, errors="surrogatepass")
    with undone():
        _is_answered(
            browser.post(_list(model), data, content_type="application/x-www-form-urlencoded")
        )


def autocomplete(hostile: Hostile) -> None:
    name = hostile.random.choice(SCHEMES[1::2])
    given = {"app_label": "store", "model_name": "basket", "field_name": name}
    given |= {"term": hostile.text()}
    with undone():
        _is_answered(
            browser.get(f"/admin/autocomplete/?{urlencode(given, errors='surrogatepass')}")
        )


SURFACES: dict[Callable[[Hostile], None], int] = {
    equality: 750,
    membership: 400,
    order: 700,
    text_lookups: 200,
    created_at: 500,
    writing: 300,
    many_to_many: 125,
    fields: 1250,
    detail: 250,
    body: 100,
    form_body: 50,
    query: 175,
    forms: 100,
    fixtures: 150,
    admin_list: 15,
    admin_page: 25,
    admin_form: 10,
    admin_action: 12,
    autocomplete: 12,
}
"""Each way in, and its share of 5,000 values or more."""
