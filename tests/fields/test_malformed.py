"""What is no id, on every surface: nothing is found or written, and no answer is an error of ours.

Each surface is a function of the table ``SURFACES``; it meets every scheme of ``tests.store`` and
every value of ``tests.malformed``.
"""

import contextlib
import json
import pickle
import sys
import tracemalloc
import uuid
from base64 import b64encode
from functools import partial
from urllib.parse import quote, urlencode

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core import serializers
from django.core.exceptions import FieldError, ValidationError
from django.core.serializers.base import DeserializationError
from django.db import transaction
from django.db.models import Count, F, FilteredRelation, Q, Value
from django.forms import modelform_factory
from django.http import Http404
from django.shortcuts import get_list_or_404, get_object_or_404
from django.test import Client
from django.urls import reverse
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import AllowAny
from rest_framework.serializers import HyperlinkedModelSerializer, ModelSerializer
from rest_framework.test import APIClient, APIRequestFactory

from django_sortable_ids import ids
from django_sortable_ids.pagination import keyset_page
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from django_sortable_ids.schemes import InvalidID, all_schemes
from tests.combinations import each_with, in_one_case
from tests.malformed import (
    NO_64_BITS,
    OTHER_VERSIONS,
    WRONG_TYPES,
    example_of,
    malformed,
    malformed_values,
)
from tests.rest_framework.support import url
from tests.store.api import serializer_for
from tests.store.models import PRODUCTS, Basket, Order, Refund, id_column
from tests.testapp.models import KEYS, around

pytestmark = pytest.mark.django_db

api = APIClient()
is_refused = partial(pytest.raises, ValidationError, match="is not a valid")


@contextlib.contextmanager
def refused():
    with is_refused(), transaction.atomic():
        yield


class Rows:
    """A product and what refers to it, an order with an id besides its key and a refund of it; and
    another row of each.
    """

    def __init__(self, scheme):
        self.scheme, self.product = scheme, PRODUCTS[scheme]
        self.key, self.column = id_column(self.product), id_column(Order, scheme)
        self.row, self.other = (self.product.objects.create(name=name) for name in ("row", "other"))
        self.basket = Basket.objects.create(**{scheme: self.row})
        self.several.add(self.row)
        self.empty = Basket.objects.create()
        self.order, self.second = Order.objects.create(name="row"), Order.objects.create()
        self.refund = Refund.objects.create(**{scheme: self.order})
        self.free = Refund.objects.create()

    @property
    def several(self):
        return getattr(self.basket, f"all_{self.scheme}")

    @property
    def near(self):
        """Texts that are nearly the id of the row."""
        text = str(self.row.pk)
        return [text + "\n", f" {text}", f"{text} ", text + text, text[:-1] + "!", f"xyz_{text}"]

    def in_turn(self, values):
        """A third of them, another one for each scheme: where each costs queries."""
        return values[[*PRODUCTS].index(self.scheme) % 3 :: 3]

    @property
    def values(self):
        """What is no id of the row's key in Python."""
        return [*self.in_turn(malformed_values(self.key)), *self.near]

    @property
    def few(self):
        """For what runs many queries for each value."""
        return ["", "nonsense", "\n", "\x00", "usr_01KDVDNA00PVDPVDPVDPVDPVDM", *self.near[:2]]

    @property
    def unordered(self):
        """Not a number or a UUID of another version: it has a place in the order of the column."""
        is_integer = self.key.value_type is int
        placed = NO_64_BITS if is_integer else [*OTHER_VERSIONS, 2**64, 2**127]
        return [value for value in self.values if value not in placed]


SURFACES = {}


def surface(check):
    SURFACES[check.__name__] = check
    return check


# Queries


@surface
def exact(of):
    rows = of.product.objects
    for value in of.values:
        for name in ("pk", "id"):
            assert not rows.filter(**{name: value}).exists(), value
            assert list(rows.exclude(**{name: value}).order_by("name")) == [of.other, of.row]
        assert set(rows.filter(~Q(pk=value))) == {of.row, of.other}
        assert list(rows.filter(Q(pk=value) | Q(pk=of.row.pk))) == [of.row]
        assert rows.filter(pk=value).update(name="b") == 0
        assert rows.filter(pk=value).delete() == (0, {})


@surface
def annotations(of):
    """What is malformed is of no row: the rows stay."""
    rows, baskets = of.product.objects, Basket.objects
    for value in of.few:
        for lookup, wrong in (("pk", value), ("pk__in", [value])):
            is_it, to_it = Q(**{lookup: wrong}), Q(**{f"{of.scheme}__{lookup}": wrong})
            assert rows.annotate(is_it=is_it).filter(is_it=False).count() == 2
            assert rows.annotate(n=Count("pk", filter=is_it)).filter(n=0).count() == 2
            joined = baskets.annotate(it=FilteredRelation(of.scheme, condition=to_it))
            assert [*joined.values_list("it__name", flat=True)] == [None, None]


@surface
def get(of):
    for value in of.values:
        with pytest.raises(of.product.DoesNotExist):
            of.product.objects.get(pk=value)
        for function in (get_object_or_404, get_list_or_404):
            with pytest.raises(Http404):
                function(of.product, pk=value)


@surface
def members(of):
    rows = of.product.objects
    for value in of.values:
        assert list(rows.filter(pk__in=[value])) == []
        assert set(rows.exclude(pk__in=[value])) == {of.row, of.other}
        for mixed in ([value, of.row.pk], (of.row.pk, value)):
            assert list(rows.filter(pk__in=mixed)) == [of.row], value
            assert list(rows.exclude(pk__in=mixed)) == [of.other], value
    assert list(rows.filter(pk__in=[*of.values, of.row.pk])) == [of.row]
    assert list(pickle.loads(pickle.dumps(rows.filter(pk__in=["nonsense"])))) == []
    assert rows.in_bulk(["nonsense", of.row.pk]) == {of.row.pk: of.row}
    assert list(rows.filter(pk__in=[Value(of.row.pk, output_field=of.key), *of.few])) == [of.row]


def relation(one, other, name, value, right):
    rows = type(one).objects
    assert list(rows.filter(**{name: value})) == [], (name, value)
    assert set(rows.exclude(**{name: value})) == {one, other}, (name, value)
    for mixed in ([value, right], [right, value]):
        assert list(rows.filter(**{f"{name}__in": mixed})) == [one]
        assert list(rows.exclude(**{f"{name}__in": mixed})) == [other]


@surface
def relations(of):
    name = of.scheme
    for value in of.in_turn(of.few):
        for lookup in (name, f"{name}_id", f"{name}__id", f"{name}__pk", f"all_{name}"):
            relation(of.basket, of.empty, lookup, value, of.row.pk)
        relation(of.refund, of.free, name, value, getattr(of.order, name))
        relation(of.row, of.other, "baskets", value, of.basket.pk)
        assert list(of.several.filter(pk=value)) == []
        with pytest.raises(Basket.DoesNotExist):
            Basket.objects.get(**{name: value})


@surface
def order(of):
    paths = "pk", "id", f"baskets__{of.scheme}", f"all_baskets__{of.scheme}__id"
    lookups = each_with(["gt", "gte", "lt", "lte"], paths)
    for value in of.unordered:
        for lookup, name in lookups:
            with is_refused():
                of.product.objects.filter(**{f"{name}__{lookup}": value})
        for bounds in ((value, of.row.pk), (of.row.pk, value), (F("pk"), value)):
            with is_refused():
                of.product.objects.filter(pk__range=bounds)
    for value in OTHER_VERSIONS if of.key.value_type is uuid.UUID else ():
        sides = (of.product.objects.filter(**{f"pk__{side}": value}) for side in ("lt", "gte"))
        assert sum(map(len, sides)) == 2


@surface
def expressions(of):
    for value in malformed_values(of.key):
        if isinstance(value, str):
            with is_refused():
                of.product.objects.filter(pk=Value(value, output_field=of.key)).exists()


# Writing


@surface
def keys(of):
    of.product.objects.all().delete()
    for value in of.in_turn(malformed_values(of.key)):
        with refused():
            of.product(pk=value).save()
        with refused():
            of.product.objects.create(pk=value)
        with refused():
            of.product.objects.bulk_create([of.product(pk=value)])
        with refused():
            of.product.objects.get_or_create(pk=value, name="x")
        if value != "":  # which forms send for an id that is to be generated
            with pytest.raises(ValidationError) as refusal:
                of.product(pk=value, name="a").full_clean()
            assert set(refusal.value.message_dict) == {"id"}
    assert not of.product.objects.exists()


@surface
def columns(of):
    name, before = of.scheme, getattr(of.order, of.scheme)
    for value in of.in_turn(malformed_values(of.column)):
        setattr(of.order, name, value)
        with refused():
            of.order.save(update_fields=[name])
        with refused():
            Order.objects.update(**{name: value})
        with refused():
            Order.objects.bulk_update([of.order], [name])
        if value != "":
            with pytest.raises(ValidationError) as refusal:
                Order(name="a", tenant="a", **{name: value}).full_clean()
            assert set(refusal.value.message_dict) == {name}
        defaults = {name: lambda value=value: value}
        with refused():
            Order.objects.update_or_create(pk=of.order.pk, defaults=defaults)
    of.order.refresh_from_db()
    assert getattr(of.order, name) == before


@surface
def foreign_keys(of):
    name = f"{of.scheme}_id"
    for value in of.in_turn(malformed_values(of.key)):
        if value == "":
            continue  # Django's foreign keys save it as NULL.
        setattr(of.empty, name, value)
        with refused():
            of.empty.save()
        for given in (name, of.scheme):
            with refused():
                Basket.objects.update(**{given: value})
        with refused():
            Basket.objects.bulk_update([of.empty], [of.scheme])
        with refused():
            Basket.objects.create(**{name: value})
        with pytest.raises(ValidationError):
            of.empty.full_clean()


@surface
def many_to_many_relations(of):
    for value in of.in_turn(malformed_values(of.key)):
        for write in (of.several.add, lambda value: of.several.set([value])):
            with pytest.raises(ValidationError) as refusal, transaction.atomic():
                write(value)
            assert f"“{shown(value)}” is not a valid" in refusal.value.messages[0]
        of.several.remove(value)
    assert list(of.several.all()) == [of.row]


def shown(value):
    """As messages show it."""
    return "int" if value == 10**5000 else str(value)[:80]


@surface
def python(of):
    for field in (of.key, of.column):
        kind = field.scheme.title
        if (
            field.masked or field.public_text.full_prefix
        ):  # A right id without them is one of the scheme.
            kind = f"{field.model._meta.verbose_name} {field.verbose_name}"
        for value in malformed_values(field):
            with pytest.raises(ValidationError) as refusal:
                field.to_python(value)
            title = f"“{shown(value)}” is not a valid {kind}"
            expected = f"{title}. Expected a text such as {example_of(field)}."
            assert (refusal.value.messages, refusal.value.code) == ([expected], "invalid")


@surface
def public_texts(of):
    for field in (of.key, of.column):
        wrong = ["", None, 1.5, field.scheme.example, *malformed(field)]
        if field.prefix:
            lead = field.public_text.full_prefix
            wrong += [lead, lead + example_of(field), example_of(field).replace(lead[-1], "-", 1)]
        for value in of.in_turn(wrong):
            if str(value) != example_of(field):
                with is_refused():
                    field.parse_public(value)
                with pytest.raises((ValidationError, LookupError)):
                    ids.resolve(value)


@surface
def fixtures(of):
    label = f"store.{of.product._meta.model_name}"
    for text in malformed(of.key):
        if text == str(of.key.scheme.example):
            continue  # as fixtures have it
        for row in (
            {"model": label, "pk": text, "fields": {}},
            {"model": "store.basket", "fields": {of.scheme: text}},
            {"model": "store.basket", "fields": {f"all_{of.scheme}": [text]}},
        ):
            with pytest.raises(DeserializationError, match="is not a valid"):
                list(serializers.deserialize("json", json.dumps([row])))


# Pages


@surface
def forms(of):
    form_class = modelform_factory(Basket, fields=[of.scheme, f"all_{of.scheme}"])
    for text in of.in_turn(malformed(of.key)):
        if text.strip() and text != str(of.key.scheme.example):
            form = form_class({of.scheme: text, f"all_{of.scheme}": [text]})
            assert set(form.errors) == {of.scheme, f"all_{of.scheme}"}, text


def segment(text):
    return quote(text, safe="", errors="surrogatepass")


def browser():
    client = Client()
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    return client


@surface
def the_admin(of):
    client, pages = browser(), ["change", "delete", "history"]
    listed = reverse(f"admin:store_{of.product._meta.model_name}_changelist")
    # A few: a page takes as long as a hundred queries.
    for text, page in each_with([*of.in_turn(malformed(of.key))[::4], *of.near[1:3]], pages):
        if text == str(of.key.scheme.example) or "\n" in text:
            continue
        answer = client.get(f"{listed}{segment(text)}/{page}/")
        assert (answer.status_code, answer.url) == (302, "/admin/"), text
        *_, message = get_messages(answer.wsgi_request)
        assert "exist" in message.message
    assert b"<script>alert" not in client.get("/admin/").content
    assert client.get(f"{listed}%0A/change/").status_code == 404


# REST


@surface
def detail_pages(of):
    for number, text in enumerate(of.in_turn(malformed(of.key))):
        answer = api.get(url(of.product._meta.model_name, segment(text)))
        assert answer.status_code == 404, text
        method = ("put", "patch", "delete")[number % 3]
        if number % 2:
            route = url(of.product._meta.model_name, segment(text))
            answer = getattr(api, method)(route, {"name": "changed"}, format="json")
            assert answer.status_code == 404, text
        else:
            answer = api.get(url(f"plain-{of.scheme}", segment(text)))
            assert answer.status_code == 404, text
    assert {row.name for row in of.product.objects.all()} == {"row", "other"}


class Pages(CursorPagination):
    page_size = 2


class OwnPages(SortableIDCursorPagination):
    page_size = 2


@surface
def cursors(of):
    for model, name in ((of.product, "id"), (Order, of.scheme)):
        field = id_column(model, name)
        # Both forms are read by filter().
        wrong = {*malformed(field)} - {str(field.scheme.example)}
        turns = [{}, {"r": 1}, {"o": 5}]
        for text, more, ordering in each_with(of.in_turn(sorted(wrong)), turns, [name, f"-{name}"]):
            options = {
                "queryset": model.objects.order_by("pk"),
                "serializer_class": serializer_for(model, "name"),
                "permission_classes": [AllowAny],
            }
            tokens = urlencode({"p": text, **more}, errors="surrogatepass")
            cursor = urlencode({"cursor": b64encode(tokens.encode()).decode()})
            for pages in (Pages, OwnPages):
                options["pagination_class"] = type("Own", (pages,), {"ordering": ordering})
                view = type("View", (ListAPIView,), options).as_view()
                answer = view(APIRequestFactory().get(f"/?{cursor}"))
                assert answer.status_code == 404, text


@surface
def positions(of):
    rows = of.product.objects.order_by("id")
    for text in malformed(of.key):
        for given in ({"after": text}, {"before": text}):
            with pytest.raises(ValueError):  # noqa: PT011
                keyset_page(rows, 3, **given)


@pytest.mark.parametrize("check", SURFACES.values(), ids=SURFACES)
def test_what_is_malformed_is_refused_and_finds_nothing(check):
    @in_one_case("scheme", PRODUCTS)
    def for_each(scheme):
        check(Rows(scheme))

    for_each()


# Bodies of REST, which have an id of each scheme at once.


def bodies(columns):
    """Data with a malformed text for each column; each text is that of a third of the columns."""
    texts = [*enumerate((name, malformed(column)) for name, column in columns.items())]
    for start in range(0, max(len(found) for _, (_, found) in texts), 3):
        yield {name: found[(start + turn) % len(found)] for turn, (name, found) in texts}
    for wrong in WRONG_TYPES:
        yield dict.fromkeys(columns, wrong)


TO_KEYS = {name: id_column(model) for name, model in PRODUCTS.items()}
TO_COLUMNS = {name: id_column(Order, name) for name in PRODUCTS}
BODIES = {
    "of a key": ("basket", Basket, TO_KEYS),
    "of another unique id": ("refund", Refund, TO_COLUMNS),
}


def errors_of(serializer, given):
    made = serializer(data=given, context={"request": APIRequestFactory().get("/")})
    assert not made.is_valid()
    return json.loads(json.dumps(made.errors))


def assert_named(errors, given, columns):
    assert set(errors) == set(given)
    for name, messages in errors.items():
        example = example_of(columns[name.removeprefix("all_")])
        assert f"such as {example}." in str(messages), name


@pytest.mark.parametrize(("route", "model", "columns"), BODIES.values(), ids=BODIES)
def test_relations_in_a_body_are_refused_with_an_example(route, model, columns):
    plain, linked = (
        serializer_for(model, *columns, base=base)
        for base in (ModelSerializer, HyperlinkedModelSerializer)
    )
    for given in bodies(columns):
        text = json.dumps(given)
        answer = api.post(url(route), text, content_type="application/json")
        assert answer.status_code == 400, given
        assert_named(answer.json(), given, columns)
        for name, messages in answer.json().items():
            text = shown(given[name]).encode("utf-8", "backslashreplace").decode()
            assert text in messages[0]
        for serializer in (plain, linked):
            assert set(errors_of(serializer, given)) == set(given)
    assert not model.objects.exists()


# Of their own


@pytest.mark.parametrize("key", KEYS, ids=lambda model: model.__name__)
def test_text_lookups_find_a_whole_id_and_nothing_else(key):
    row, other = key.objects.create(), key.objects.create()
    child = around(key, "Child").objects.create(parent=row)
    for lookup in TEXT_LOOKUPS:
        for text in (str(row.pk), key._meta.pk.public_text.format(row.pk)):
            assert list(key.objects.filter(**{f"id__{lookup}": text})) == [row]
            assert list(key.objects.exclude(**{f"id__{lookup}": text})) == [other]
            assert list(type(child).objects.filter(**{f"parent__id__{lookup}": text})) == [child]
            for part in (text[:-1], text[1:5], "", "%", "x"):
                assert not key.objects.filter(**{f"id__{lookup}": part}).exists()
        with pytest.raises(FieldError, match="take a text, not an expression"):
            key.objects.filter(**{f"id__{lookup}": F("name")})
    assert set(key.objects.exclude(id__iexact=None)) == {row, other}
    assert not key.objects.filter(id__iexact=None).exists()
    with pytest.raises(ValueError, match="Cannot use None"):
        key.objects.filter(id__icontains=None)


TEXT_LOOKUPS = [
    *("contains", "icontains", "startswith", "istartswith", "endswith", "iendswith"),
    *("iexact", "regex", "iregex", "search"),
]


# What is huge


SIZE = 10_000_000
LITTLE = 1_000_000
"""Bytes that a refusal may take: a few thousand, and a pattern that Python compiles again."""
MANY = 100_000


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture(scope="module", params=["text", "digits", "lead", "numbers", "bytes", "containers"])
def huge(request):
    """Values of a kind. They are made once, and are no parameters: pytest would write them out."""
    match request.param:
        case "text":
            return ["x" * SIZE, "\x00" * SIZE, "🦄" * SIZE, "-" * SIZE, " " * SIZE, "\n" * SIZE]
        case "digits":
            return ["9" * SIZE, "0" * SIZE, "a" * SIZE, "A" * SIZE, "१" * SIZE]
        case "lead":
            return [lead + "0" * SIZE for lead in ("prod_", "prod:", "ord_", "ord:", "_", ":")]
        case "numbers":
            return [10**5000, -(10**5000), 1 << MANY, -(1 << MANY), 1e308]
        case "bytes":
            return [kind(b"7" * SIZE) for kind in (bytes, bytearray, memoryview)]
    some = dict.fromkeys(range(MANY), "x" * SIZE)
    return [nested(MANY), ["x" * SIZE], some, set(some), frozenset(some), [some], tuple(some)]


@pytest.fixture
def no_limit_of_digits():
    """A project may have switched off what keeps Python from writing out huge integers."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(limit)


def refuse(function, *arguments, error=(ValidationError, LookupError, InvalidID)):
    """Asserts that the message is short and that making it takes little memory."""
    with pytest.raises(error):
        function(*arguments)  # caches are filled
    tracemalloc.start()
    try:
        function(*arguments)
    except error as refusal:
        message = str(refusal)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LITTLE, function
    assert len(message) < 700, function


@pytest.mark.usefixtures("no_limit_of_digits")
def test_what_is_huge_is_refused_at_the_cost_of_what_is_small(huge):
    """And in a short message. The cost is counted in memory: a time would depend on the machine."""
    fields = [id_column(model) for model in PRODUCTS.values()]
    fields += [id_column(Order, name) for name in PRODUCTS]
    for value in huge:
        refuse(ids.resolve, value)
        for field in fields:
            refuse(field.to_python, value, error=ValidationError)
            refuse(field.parse_public, value, error=ValidationError)
        for scheme in all_schemes():
            for encoding in (None, *scheme.encodings):
                refuse(scheme.parse, value, encoding, error=InvalidID)
            for function in (scheme.to_int, scheme.from_int, scheme.from_bytes, scheme.format):
                refuse(function, value, error=InvalidID)
