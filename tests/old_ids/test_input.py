"""Old ids in the input of serializers that accept them."""

import pytest
from django.urls import include, path
from rest_framework.relations import (
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import (
    ModelSerializer,
    Serializer,
)
from rest_framework.test import APIRequestFactory

from django_sortable_ids.ids import public_id
from django_sortable_ids.rest_framework import AcceptOldIDs, SortableIDModelSerializer
from tests.combinations import in_one_case
from tests.store.api import serializer_for, viewset_for

from .models import Parcel, Purchase, Receipt
from .test_views import OLD, moved

pytestmark = pytest.mark.django_db
WRONG = (18, "18", "x", "\0", None, True, [], {}, "/purchase/18/", "http://[")
router = SimpleRouter()
for each in OLD:
    router.register(
        each._meta.model_name,
        viewset_for(serializer_for(each, "name")),
        basename=each._meta.model_name,
    )
urlpatterns = [path("", include(router.urls))]


def relations(model):
    """Each kind of relation with such rows, and what stands for one in its input."""
    rows, name = model.objects.exclude(name="hidden"), model._meta.model_name
    key = SlugRelatedField(queryset=rows, slug_field=model._meta.pk.name)
    link = HyperlinkedRelatedField(queryset=rows, view_name=f"{name}-detail")
    yield PrimaryKeyRelatedField(queryset=rows), str
    yield key, str
    yield link, lambda given: f"/{name}/{given}/"


def form(relation, *bases):
    return type("Form", (*bases, Serializer), {"row": relation, "Meta": None})


def read(cls, given):
    made = cls(data={"row": given}, context={"request": APIRequestFactory().get("/")})
    return made.validated_data["row"] if made.is_valid() else None


@pytest.mark.urls(__name__)
@in_one_case("model", [each for each in OLD if each._meta.model_name != "gift"])
def test_relations_accept_old_ids_on_demand(model):
    row = moved(model)
    for relation, shown in relations(model):
        accepting = form(relation, AcceptOldIDs)
        assert read(accepting, shown(OLD[model])) == row, relation
        assert read(accepting, shown(public_id(row))) == row, relation
        assert read(form(relation), shown(OLD[model])) is None, relation
        for wrong in WRONG:
            assert read(accepting, wrong) is None, (relation, wrong)


@pytest.mark.urls(__name__)
def test_rows_outside_of_the_queryset_are_not_found():
    moved(Purchase, "hidden")
    for relation, shown in relations(Purchase):
        assert read(form(relation, AcceptOldIDs), shown(17)) is None


class OnlyHidden(Serializer):
    """Rows of one tenant, as many projects select them."""

    def get_fields(self):
        fields = super().get_fields()
        row = getattr(fields["row"], "child_relation", fields["row"])
        row.queryset = Purchase.objects.filter(name="hidden")
        return fields


@pytest.mark.parametrize(
    ("relation", "many"), [(PrimaryKeyRelatedField, True), (SlugRelatedField, False)]
)
def test_a_queryset_that_another_class_sets_is_kept(relation, many):
    row = moved(Purchase)
    options = {"slug_field": "pk"} if relation is SlugRelatedField else {}
    made = relation(queryset=Purchase.objects.all(), many=many, **options)
    accepting = form(made, AcceptOldIDs, OnlyHidden)
    for each in (17, public_id(row)):
        assert read(accepting, [each] if many else each) is None
    row.name = "hidden"
    row.save()
    for each in (17, public_id(row)):
        assert read(accepting, [each] if many else each) == ([row] if many else row)


@pytest.mark.parametrize("base", [ModelSerializer, SortableIDModelSerializer])
def test_relations_of_a_model(base):
    row = moved(Purchase)
    serializer = serializer_for(Receipt, "purchase", base=type("Base", (AcceptOldIDs, base), {}))
    for given in (17, public_id(row)):
        made = serializer(data={"purchase": given})
        made.is_valid(raise_exception=True)
        assert made.validated_data == {"purchase": row}
    assert serializer(instance=Receipt(purchase=row)).data == {"purchase": public_id(row)}


def test_several_rows():
    row, other = moved(Purchase), Purchase.objects.create(name="other")
    relation = PrimaryKeyRelatedField(queryset=Purchase.objects.all(), many=True)
    assert read(form(relation, AcceptOldIDs), [17, public_id(other)]) == [row, other]
    assert read(form(relation, AcceptOldIDs), [17, 18]) is None


def test_a_number_that_is_a_present_id_and_an_old_one():
    present = Parcel.objects.create(name="present")
    Parcel.objects.create(name="old", old_id=present.pk)
    relation = PrimaryKeyRelatedField(queryset=Parcel.objects.all())
    assert read(form(relation, AcceptOldIDs), str(present.pk)) == present
