"""Path converters that also accept old ids."""

import pytest
from django.urls import converters

from django_sortable_ids.converters import id_converter, register
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case

from .models import Country, Device, Gift, Parcel, Purchase, Secret, Unmoved
from .test_views import OLD, moved

pytestmark = pytest.mark.django_db


@in_one_case("model", OLD)
def test_the_view_gets_the_present_value_or_the_old_key(model):
    row = moved(model)
    converter = id_converter(model, accept_old=True)()
    assert converter.to_python(public_id(row)) == row.pk
    assert converter.to_python(str(OLD[model])) == OLD[model]
    assert converter.to_url(row) == public_id(row)


@in_one_case("model", [Purchase, Gift, Parcel, Device, Secret])
def test_what_is_neither_does_not_match(model):
    converter = id_converter(model, accept_old=True)()
    for wrong in ("x", "", "\0", "17x", "9" * 40, "nl"):
        with pytest.raises(ValueError, match="is not a valid"):
            converter.to_python(wrong)


@in_one_case("model", [Purchase, Device, Country])
def test_without_the_option_old_ids_do_not_match(model):
    with pytest.raises(ValueError, match="is not a valid"):
        id_converter(model)().to_python(str(OLD[model]))


def test_before_the_move_nothing_else_matches():
    converter = id_converter(Unmoved, accept_old=True)()
    with pytest.raises(ValueError, match="is not a valid"):
        converter.to_python("17")


def test_every_converter_of_the_project(monkeypatch):
    monkeypatch.setattr(converters, "REGISTERED_CONVERTERS", {})
    converters.get_converters.cache_clear()
    try:
        register(accept_old=True)
        assert converters.get_converters()["purchase_id"].to_python("17") == 17
    finally:
        monkeypatch.undo()
        converters.get_converters.cache_clear()
