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
from tests.combinations import rolled_back
from tests.store.api import serializer_for
from tests.store.models import PRODUCTS, Basket, Order, Refund, Stock, Voucher
from tests.testapp.models import KEYS, around
from tests.testapp.models import Order as DatedOrder

from .values import Hostile

SCHEMES = list(PRODUCTS)
TIMED = [scheme for scheme in SCHEMES if scheme != "sequence"]
api = APIClient()
browser = Client()


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


def _hashes(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


ORDER = ["gt", "gte", "lt", "lte", "range"]
TEXT = ["contains", "icontains", "startswith", "iexact", "regex"]
REFUSALS = {
    **dict.fromkeys(ORDER, (ValidationError,)),
    **dict.fromkeys(TEXT, (FieldError, TypeError)),  # of relations; of other types
}


def lookups(hostile: Hostile) -> None:
    model, path = _path(hostile)
    lookup = hostile.random.choice(
        [*["exact"] * 7, *["in"] * 4, *ORDER, hostile.random.choice(TEXT)]
    )
    values = [hostile.value() for _ in range({"in": 3, "range": 2}.get(lookup, 1))]
    refusals = REFUSALS.get(lookup, ())
    if lookup in REFUSALS and values[0] is None:
        return  # which Django refuses for any field
    if lookup == "range" and not isinstance(field_at(model, path), SortableIDField):
        lookup = "in"  # Django has no ranges of relations
    elif lookup == "in":
        values = [value for value in values if _hashes(value)]
    given = values if lookup in ("in", "range") else values[0]
    way = hostile.random.choice(["filter", "exclude"])
    with contextlib.suppress(*refusals), by_type(*values):
        assert 0 <= getattr(model.objects, way)(**{f"{path}__{lookup}": given}).count() <= 1


def created_at(hostile: Hostile) -> None:
    """What a real ``DateTimeField`` raises is raised, and nothing else."""
    lookup = hostile.random.choice(["exact", "gte", "lt", "date", "date__gte", "year", "year__lte"])
    value = hostile.value()

    def ask(path: str, model: type[models.Model]) -> type[Exception] | None:
        try:
            with rolled_back():
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
    with rolled_back(), contextlib.suppress(ValidationError, IntegrityError), transaction.atomic():
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
    with rolled_back(), contextlib.suppress(*expected), by_type(value), transaction.atomic():
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
    with rolled_back():
        answer = getattr(api, method)(
            f"/store/{name.format(hostile.random.choice(SCHEMES))}/{_segment(text)}/"
        )
    _is_answered(answer)
    if method == "get":
        assert answer.status_code in (200, 404, 301), answer.status_code


JSON, FORM = "application/json", "application/x-www-form-urlencoded"
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
    text, kind = json.dumps(given), JSON
    if hostile.random.random() < 0.05:
        text = hostile.random.choice(BODIES)
    elif name != "linked" and hostile.random.random() < 0.3:
        data = {column: hostile.text() for column in columns if column != "id"}
        text, kind = urlencode(data, errors="surrogatepass"), FORM
    with rolled_back():
        answer = api.post(f"/store/{name}/", text, content_type=kind)
    _is_answered(answer)
    assert answer.status_code in (201, 400), answer.status_code


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
    with rolled_back(), contextlib.suppress(BadRequest):
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
    with rolled_back():
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
    with rolled_back(), refusals, transaction.atomic():
        for each in serializers.deserialize("json", json.dumps([record])):
            each.save()


# The admin


def _list(model: Any) -> str:
    return f"/admin/store/{model._meta.model_name}/"


LISTS = ["q", "q", "o", "p", "id__created_at__date__gte", "id__created_at__gte", "id", "pk__in"]
LISTS += ["id__gt", "id__exact", "id__created_at__date__lte", "e"]


def admin_list(hostile: Hostile) -> None:
    scheme = hostile.random.choice(SCHEMES)
    model = hostile.random.choice([PRODUCTS[scheme], PRODUCTS[scheme], Order, Voucher])
    asked = [*LISTS, f"{scheme}__id__exact"]
    _open(_list(model), {hostile.random.choice(asked): hostile.text() for _ in range(2)})


def admin_page(hostile: Hostile) -> None:
    model = hostile.random.choice([*PRODUCTS.values(), Basket, Voucher, Refund])
    page = hostile.random.choice(["change", "delete", "history"])
    _open(f"{_list(model)}{_segment(hostile.text())}/{page}/", {})


def autocomplete(hostile: Hostile) -> None:
    name = hostile.random.choice(SCHEMES[1::2])
    given = {"app_label": "store", "model_name": "basket", "field_name": name}
    _open("/admin/autocomplete/", given | {"term": hostile.text()})


def _open(url: str, asked: dict[str, str]) -> None:
    with rolled_back():
        _is_answered(browser.get(f"{url}?{urlencode(asked, errors='surrogatepass')}"))


def admin_form(hostile: Hostile) -> None:
    model, names = hostile.random.choice(
        [(Voucher, ["id", "code"]), (Refund, hostile.random.sample(SCHEMES, 3))]
    )
    url = f"{_list(model)}add/"
    if hostile.random.random() < 0.5:
        url = f"{_list(model)}{model.objects.first().pk}/change/"
    _send(url, {name: hostile.text() for name in names})


def admin_action(hostile: Hostile) -> None:
    model = hostile.random.choice([*PRODUCTS.values(), Basket])
    given = {"action": "delete_selected", "_selected_action": hostile.text(), "index": "0"}
    _send(_list(model), given)


def _send(url: str, given: dict[str, str]) -> None:
    data = urlencode(given, errors="surrogatepass")
    with rolled_back():
        _is_answered(browser.post(url, data, content_type=FORM))


SURFACES: dict[Callable[[Hostile], None], int] = {
    lookups: 2050,
    created_at: 500,
    writing: 300,
    many_to_many: 125,
    fields: 1250,
    detail: 250,
    body: 150,
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
