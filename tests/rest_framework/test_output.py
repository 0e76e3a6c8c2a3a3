"""What leaves: always the public text, whichever way an id gets into an answer."""

import json
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.checks.registry import registry
from django.core.validators import MinValueValidator
from django.db.models.functions import Cast
from django.test.utils import isolate_apps
from django.utils.functional import SimpleLazyObject
from rest_framework.relations import HyperlinkedRelatedField
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import (
    DictField,
    ListField,
    ModelSerializer,
    ReadOnlyField,
    Serializer,
    SlugRelatedField,
)
from rest_framework.test import APIClient, APIRequestFactory

from django_sortable_ids.fields import SnowflakeField, ULIDField
from django_sortable_ids.filters import IDFilterField
from django_sortable_ids.ids import schema_of
from django_sortable_ids.rest_framework import PublicIDField
from tests.combinations import in_one_case
from tests.field_classes import CLASSES
from tests.malformed import example_of
from tests.own_tables import own_model
from tests.store.api import LinkedBasketSerializer, serializer_for
from tests.store.models import (
    PRODUCTS,
    Basket,
    Bundle,
    Order,
    Profile,
    Refund,
    Review,
    ULIDProduct,
    Voucher,
    id_column,
)
from tests.testapp.models import Named

from .support import bare_text_of, each_scheme, full_basket, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()


def shown(serializer, instance, **options):
    """The JSON of an instance, read back as JavaScript would: numbers are told from text."""
    context = {"request": APIRequestFactory().get("/")}
    data = serializer(instance, context=context, **options).data
    return json.loads(JSONRenderer().render(data))


@each_scheme
def test_keys_and_relations(scheme):
    """However the row was loaded."""
    basket, order = full_basket(), full_order()
    product = getattr(basket, scheme)
    Refund.objects.create(**{scheme: order})
    several = f"all_{scheme}"
    texts = sorted(text_of(each) for each in PRODUCTS[scheme].objects.all())
    assert len(texts) == getattr(basket, several).count() == 2
    key, alone, of_order = text_of(product), (scheme, f"{scheme}_id"), text_of(order, scheme)
    for instance, expected in (
        (product, {"id": key, "pk": key}),
        *((each, dict.fromkeys(alone, key)) for each in loaded(basket, scheme)),
        *((each, {several: texts}) for each in loaded(basket, several)),
        *((each, dict.fromkeys(alone, of_order)) for each in loaded(Refund.objects.get(), scheme)),
    ):
        answer = shown(serializer_for(type(instance), *expected), instance)
        if several in answer:
            answer[several].sort()
        assert answer == expected


@each_scheme
def test_texts_that_were_assigned(scheme):
    """To a key and to a foreign key, in the public form and in the bare one."""
    product = PRODUCTS[scheme].objects.create()
    text, names = text_of(product), (scheme, f"{scheme}_id")
    for given in (text, bare_text_of(product)):
        basket = Basket(**{f"{scheme}_id": given})
        assert shown(serializer_for(Basket, *names), basket) == dict.fromkeys(names, text)
        assert shown(serializer_for(type(product), "id"), type(product)(pk=given)) == {"id": text}
        link = shown(LinkedBasketSerializer, Basket(pk=1, **{f"{scheme}_id": given}))[scheme]
        assert link.endswith(f"/{text}/")


def loaded(row, relation):
    """The row, and again with and without its relation."""
    rows = type(row).objects
    return [row, rows.get(), rows.prefetch_related(relation).get()]


def test_an_app_that_is_ready_again_changes_nothing_twice():
    def registered():
        replaced = HyperlinkedRelatedField.get_url, SlugRelatedField.to_internal_value
        return *replaced, vars(Cast)["as_sqlite"], len(registry.get_checks())

    before = registered()
    apps.get_app_config("django_sortable_ids").ready()
    assert registered() == before


@each_scheme
def test_missing_ids_are_null(scheme):
    full_order()
    Order.objects.update(**{scheme: None})
    for row in (Order.objects.get(), Basket.objects.create(), Refund.objects.create()):
        assert shown(serializer_for(type(row), scheme), row) == {scheme: None}


def test_what_has_no_id_is_shown_as_always():
    """Rows that lack it, and serializers of something else than models of Django."""
    slug = SlugRelatedField("ulid", read_only=True)
    assert slug.to_representation(Order(ulid=None)) is None
    row = SimpleNamespace(code="x", other=SimpleNamespace(code="y"))
    meta = type("Meta", (), {"model": SimpleNamespace})
    fields = {"code": ReadOnlyField(), "other": SlugRelatedField("code", read_only=True)}
    assert shown(type("Plain", (Serializer,), {"Meta": meta, **fields}), row) == {
        "code": "x",
        "other": "y",
    }
    assert ReadOnlyField().to_representation(5) == 5
    link = HyperlinkedRelatedField(view_name="x", lookup_field="code", queryset=SimpleNamespace())
    assert link.get_url(SimpleNamespace(pk=""), "x", None, None) is None


def test_a_link_by_a_relation():
    product = ULIDProduct.objects.create()
    link = HyperlinkedRelatedField(view_name="x", lookup_field="product", queryset=Profile.objects)
    link.reverse = lambda *_, kwargs, **_options: kwargs["product"]
    assert link.get_url(Profile(product=product), "x", None, None) == text_of(product)


def test_validators_of_the_column():
    """REST framework makes arguments of some of them, which a field of ids lacks."""
    own = own_model(
        "Adopted",
        text=ULIDField(storage="varchar", max_length=40, editable=True),
        number=SnowflakeField(editable=True, validators=[MinValueValidator(2**40)]),
    )
    given = serializer_for(own)(data={"text": example_of(ULIDField()), "number": "1"})
    assert not given.is_valid()
    assert set(given.errors) == {"number"}


def test_a_row_that_is_lazy():
    """As ``request.user``, which ``serializer.save(owner=request.user)`` leaves in a row."""
    product = ULIDProduct.objects.create(name="found")
    basket = Basket(ulid=SimpleLazyObject(lambda: product))
    for name, text in (("name", "found"), ("id", text_of(product))):
        slug = SlugRelatedField(name, read_only=True)
        assert shown(serializer_for(Basket, "ulid", ulid=slug), basket) == {"ulid": text}


@each_scheme
def test_nested_rows(scheme):
    basket = full_basket()
    product = getattr(basket, scheme)
    Review.objects.create(basket=basket)
    nested = serializer_for(Basket, scheme, f"all_{scheme}", depth=1)
    everything = shown(nested, basket)
    assert everything[scheme] == {"id": text_of(product), "name": scheme}
    assert {row["id"] for row in everything[f"all_{scheme}"]} == {
        text_of(row) for row in PRODUCTS[scheme].objects.all()
    }
    for depth in (1, 2):
        review = shown(serializer_for(Review, "basket", depth=depth), Review.objects.get())
        inner = review["basket"][scheme]
        assert (inner if depth == 1 else inner["id"]) == text_of(product)


@each_scheme
def test_hyperlinks(scheme):
    basket = full_basket()
    product = getattr(basket, scheme)
    route = url("linked-basket", text_of(basket))
    answer = client.get(route).json()
    assert answer["url"] == f"http://testserver{route}"
    linked = f"http://testserver{url(product._meta.model_name, text_of(product))}"
    assert answer[scheme] == linked
    assert client.get(linked).json()["name"] == scheme
    assert len(answer[f"all_{scheme}"]) == 2
    assert linked in answer[f"all_{scheme}"]


def test_a_hyperlink_through_another_column():
    order = full_order()
    found = client.get(url("linked-order", text_of(order, "uuid7"))).json()
    assert found["url"] == f"http://testserver{url('order-by-ulid', text_of(order, 'ulid'))}"
    assert client.get(found["url"]).json()["name"] == "full"


def test_hyperlinks_cost_no_query(django_assert_num_queries):
    full_basket()
    meta = LinkedBasketSerializer.Meta
    serializer = serializer_for(
        Basket, "url", *PRODUCTS, base=LinkedBasketSerializer, extra_kwargs=meta.extra_kwargs
    )
    row = Basket.objects.get()
    with django_assert_num_queries(0):
        shown(serializer, row)


def test_keys_that_are_relations():
    product = ULIDProduct.objects.create()
    profile = Profile.objects.create(product=product)
    bundle = Bundle.objects.create()
    Review.objects.create(profile=profile, bundle=bundle)
    assert shown(serializer_for(Profile), profile) == {"product": text_of(product), "name": ""}
    assert shown(serializer_for(Bundle, "id", "pk"), bundle) == {
        "id": f"prod_{bundle.id}",
        "pk": f"prod_{bundle.id}",
    }
    review = Review.objects.get()
    assert shown(
        serializer_for(Review, "profile", "bundle", "profile_id", "bundle_id"), review
    ) == {
        "profile": text_of(product),
        "bundle": f"prod_{bundle.id}",
        "profile_id": text_of(product),
        "bundle_id": f"prod_{bundle.id}",
    }
    assert shown(serializer_for(ULIDProduct, "profile", "bundle"), product) == {
        "profile": text_of(product),
        "bundle": None,
    }


# What is taken: the public text of a row that exists. Everything else is 400 and says why


HALF_A_PAIR = "\ud83d"
"""A surrogate without its other half: JSON can spell it, UTF-8 can't."""


def post(name, data):
    return client.post(url(name), data, format="json")


def messages(part):
    """All messages of a refusal, whatever they are nested in."""
    if isinstance(part, str):
        return [part]
    if not isinstance(part, dict | list):
        assert part.status_code == 400, part.content
        part = part.json()
    inner = part.values() if isinstance(part, dict) else part
    return [message for each in inner for message in messages(each)]


@each_scheme
def test_a_number_is_refused_and_a_string_asked_for(scheme):
    product = PRODUCTS[scheme].objects.create()
    for number in (product.pk if isinstance(product.pk, int) else 12, 1.5):
        refused = post("basket", {"name": "new", scheme: number})
        what, advice = messages(refused)
        assert "Expected a text such as" in what
        assert advice == "Send the id as a string: JavaScript rounds large numbers in JSON."
    assert len(messages(post("basket", {"name": "new", scheme: True}))) == 1


def test_a_key_may_be_only_input():
    column = id_column(PRODUCTS["ulid"])
    field = PublicIDField(column, write_only=True)
    assert (field.read_only, field.write_only, field.required) == (False, True, True)
    assert field.run_validation(example_of(column)) == column.scheme.example


@each_scheme
def test_a_column_of_keys_without_a_foreign_key(scheme):
    """A model has a plain field for it; an old number is refused, and not stored as a UUID."""

    class VisitSerializer(Serializer):
        product_id = PublicIDField(id_column(PRODUCTS[scheme]), read_only=False)

    product = PRODUCTS[scheme].objects.create()
    output = {"product_id": text_of(product)}
    assert VisitSerializer({"product_id": product.pk}).data == output
    accepted = VisitSerializer(data=output)
    assert (accepted.is_valid(), accepted.validated_data) == (True, {"product_id": product.pk})
    assert not VisitSerializer(data={"product_id": 17}).is_valid()


def test_a_list_of_keys_is_input():
    class VisitSerializer(Serializer):
        products = ListField(child=PublicIDField(id_column(PRODUCTS["ulid"])))
        named = DictField(child=PublicIDField(id_column(PRODUCTS["ulid"])), required=False)

    product = PRODUCTS["ulid"].objects.create()
    text = text_of(product)
    for given in ({"products": [text]}, {"products": [], "named": {"first": text}}):
        accepted = VisitSerializer(data=given)
        assert accepted.is_valid(), accepted.errors
        assert accepted.data == given
        assert str(accepted.validated_data).count(f"'{product.pk}'") == 1
    assert not VisitSerializer(data={"products": ["bad"]}).is_valid()


@isolate_apps("tests.testapp")
def test_an_id_that_python_generates_may_be_left_out():
    class Ticket(Named):
        public = ULIDField(unique=True, editable=True)

        class Meta:
            app_label = "testapp"

    class TicketSerializer(ModelSerializer):
        class Meta:
            model = Ticket
            fields = ("name", "public")

    filled = TicketSerializer(data={"name": "new"})
    assert filled.is_valid(), filled.errors
    assert filled.validated_data == {"name": "new"}


@each_scheme
def test_relations_come_in_as_they_go_out(scheme):
    """To keys, by their text and by their link, and to another unique id."""
    first, second = (PRODUCTS[scheme].objects.create() for _ in range(2))
    other, order = full_order(), full_order()
    several = f"all_{scheme}"
    link = f"http://testserver{url(first._meta.model_name, text_of(first))}"
    for route, given, one, many in (
        ("basket", {scheme: text_of(first), several: [text_of(second)]}, first, [second]),
        ("linked-basket", {scheme: link, several: [link]}, first, [first]),
        ("refund", {scheme: text_of(order, scheme)}, order, []),
    ):
        created = post(route, {"name": "new", **given})
        assert created.status_code == 201, created.content
        assert created.json() | given == created.json()
        row = (Refund if route == "refund" else Basket).objects.get()
        assert getattr(row, scheme) == one != other
        assert not many or list(getattr(row, several).all()) == many
        if route == "basket":
            again = client.put(url(route, text_of(row)), created.json(), format="json")
            assert (again.status_code, again.json()) == (200, created.json())
        row.delete()


@each_scheme
def test_an_unknown_id_is_refused_as_it_was_given(scheme):
    product, order = PRODUCTS[scheme].objects.create(), full_order()
    key, text = text_of(product), text_of(order, scheme)
    product.delete()
    order.delete()
    for data in ({scheme: key}, {f"all_{scheme}": [key]}):
        (message,) = messages(post("basket", data))
        assert message == f'Invalid pk "{key}" - object does not exist.'
    (message,) = messages(post("refund", {scheme: text}))
    assert message == f"Object with {scheme}={text} does not exist."


@each_scheme
def test_a_malformed_hyperlink_is_refused(scheme):
    model = PRODUCTS[scheme]
    product = model.objects.create()
    route = url(model._meta.model_name)
    unknown = f"{route}{text_of(product)}/"
    product.delete()
    for link in ("x", "http://", f"{route}x", route, url("basket", "x"), unknown, "\x00"):
        assert messages(post("linked-basket", {scheme: link}))
    (message,) = messages(post("linked-basket", {scheme: f"{route}x/"}))
    assert example_of(id_column(model)) in message


NO_URLS = ["http://[", "https://[::1", "http://\ud800/", HALF_A_PAIR, "/%ff%fe", "http:\n"]


@in_one_case("link", NO_URLS)
def test_what_is_no_url_is_refused(link):
    route = url("ulidproduct")
    for text in (link, f"{route}{link}/", f"http://testserver{route}{link}/"):
        data = {"ulid": text, "all_ulid": [text]}
        body = json.dumps(data)
        answer = client.post(url("linked-basket"), body, content_type="application/json")
        assert answer.status_code == 400, answer.content
        assert set(answer.json()) == set(data)


def test_a_relation_to_a_key_that_is_a_relation():
    product, bundle = ULIDProduct.objects.create(), Bundle.objects.create()
    profile = Profile.objects.create(product=product)
    serializer = serializer_for(Review, "profile", "bundle")
    given = {"profile": text_of(product), "bundle": f"prod_{bundle.pk}"}
    filled = serializer(data=given)
    assert filled.is_valid(), filled.errors
    review = filled.save()
    assert (review.profile, review.bundle) == (profile, bundle)
    for wrong in (product.pk, "x", 1, f"ord_{product.pk}"):
        refused = serializer(data={"profile": wrong, "bundle": wrong})
        assert not refused.is_valid()
        assert set(refused.errors) == {"profile", "bundle"}


def test_the_row_of_a_key_that_is_a_relation_is_made_from_the_text():
    product = ULIDProduct.objects.create()
    filled = serializer_for(Profile)(data={"product": text_of(product), "name": "new"})
    assert filled.is_valid(), filled.errors
    assert filled.save().product == product
    assert not serializer_for(Profile)(data={"product": product.pk}).is_valid()


def test_a_unique_id_that_clients_may_set():
    text = example_of(id_column(Voucher, "code"))
    created = post("voucher", {"name": "new", "code": text})
    assert (created.status_code, created.json()["code"]) == (201, text)
    assert Voucher.objects.get().code == text.removeprefix("code_")
    (message,) = messages(post("voucher", {"name": "second", "code": text}))
    assert "already exists" in message
    for wrong in ("x", f"vou_{text}", 1, [text]):
        message, *_ = messages(post("voucher", {"code": wrong}))
        assert text in message
    again = client.put(url("voucher", created.json()["id"]), created.json(), format="json")
    assert (again.status_code, again.json()) == (200, created.json())
    for nothing in ({}, {"code": None}):
        assert post("voucher", nothing).json()["code"].startswith("code_")


# The serializer field itself


@in_one_case("field_class", CLASSES)
def test_every_model_field_is_mapped(field_class):
    ours = type("OwnField", (field_class,), {})
    for cls in (field_class, ours):
        column = cls()
        column.set_attributes_from_name("public_id")
        built, kwargs = ModelSerializer().build_standard_field("public_id", column)
        field = built(**kwargs)
        assert (type(field), field.read_only) == (PublicIDField, True)


def test_a_column_that_is_no_key_is_written_by_declaration():
    class DeclaredSerializer(Serializer):
        code = PublicIDField(model_field=id_column(Order, "kuuid"), allow_null=True, required=False)

    text = example_of(id_column(Order, "kuuid"))
    filled = DeclaredSerializer(data={"code": text})
    assert filled.is_valid(), filled.errors
    assert filled.validated_data == {"code": text.removeprefix("ord:")}
    assert filled.data == {"code": text}
    for nothing, validated in (({}, {}), ({"code": None}, {"code": None})):
        filled = DeclaredSerializer(data=nothing)
        assert filled.is_valid(), filled.errors
        assert filled.validated_data == validated
    refused = DeclaredSerializer(data={"code": text.removeprefix("ord:")})
    assert not refused.is_valid()
    (error,) = refused.errors["code"]
    assert (error.code, text in error) == ("invalid", True)


def test_previous_prefixes():
    """Read wherever public texts are read, and written nowhere."""
    column = ULIDField(prefix="ord", previous_prefixes=["order"], editable=True)
    value = column.scheme.example
    old, present = f"order_{value}", f"ord_{value}"
    rest = PublicIDField(column)
    for text in (old, present):
        assert rest.to_internal_value(text) == value
        assert IDFilterField(id_field=column).clean(text) == value
        assert column.to_python(column.formfield().clean(text)) == value
        assert column.read_for_lookup(text) == value
    assert rest.to_representation(value) == present
    assert old not in str(schema_of(column))
