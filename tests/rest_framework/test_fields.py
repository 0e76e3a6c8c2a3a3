"""The serializer field itself: what it is made of, where it comes from, and its copies."""

import copy
import pickle
from itertools import product

from rest_framework.serializers import ModelSerializer, Serializer

from django_sortable_ids.fields import ULIDField
from django_sortable_ids.filters import IDFilterField
from django_sortable_ids.ids import schema_of
from django_sortable_ids.rest_framework import SortableIDField
from tests.combinations import in_one_case
from tests.field_classes import CLASSES
from tests.malformed import example_of
from tests.store.models import PRODUCTS, Order, id_column

from .support import each_scheme


@in_one_case("field_class", CLASSES)
def test_every_model_field_is_mapped(field_class):
    ours = type("OwnField", (field_class,), {})
    for cls in (field_class, ours):
        column = cls()
        column.set_attributes_from_name("public_id")
        built, kwargs = ModelSerializer().build_standard_field("public_id", column)
        field = built(**kwargs)
        assert (type(field), field.read_only) == (SortableIDField, True)


def test_a_column_that_is_no_key_is_written_by_declaration():
    class DeclaredSerializer(Serializer):
        code = SortableIDField(
            model_field=id_column(Order, "kuuid"), allow_null=True, required=False
        )

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


@each_scheme
def test_copies_work_like_the_original(scheme):
    columns = id_column(PRODUCTS[scheme]), id_column(Order, scheme)
    ways = copy.copy, copy.deepcopy, lambda field: pickle.loads(pickle.dumps(field))
    for column, duplicate in product(columns, ways):
        same = duplicate(SortableIDField(column, read_only=False, help_text="help"))
        text = example_of(column)
        assert same.to_internal_value(text) == column.scheme.example
        assert same.to_representation(column.scheme.example) == text
        assert (same.help_text, same.read_only) == ("help", False)


def test_previous_prefixes():
    """Read wherever public texts are read, and written nowhere."""
    column = ULIDField(prefix="ord", previous_prefixes=["order"], editable=True)
    value = column.scheme.example
    old, present = f"order_{value}", f"ord_{value}"
    rest = SortableIDField(column)
    for text in (old, present):
        assert rest.to_internal_value(text) == value
        assert IDFilterField(id_field=column).clean(text) == value
        assert column.to_python(column.formfield().clean(text)) == value
        assert column.read_for_lookup(text) == value
    assert rest.to_representation(value) == present
    assert old not in str(schema_of(column))
