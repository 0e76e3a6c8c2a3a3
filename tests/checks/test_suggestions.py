"""A typo in a name is answered with the nearest name that exists."""

import pytest
from django.core.exceptions import FieldDoesNotExist
from django.core.management import CommandError, call_command

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.ids import public_id, resolve
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (["testapp.Order.uuid"], "uuid7"),
        (["testapp.Order.uuid7", "--created-from", "craeted_at"], "created_at"),
        (["testapp.Ordr", "--primary-key"], "testapp.Order"),
        (["tstapp", "--primary-key"], "testapp"),
    ],
)
def test_names_of_the_command(arguments, nearest):
    with pytest.raises(CommandError, match=rf"; nearest: {nearest}(\.|$)"):
        call_command("backfill_ids", *arguments)


def test_an_option_of_a_field():
    with pytest.raises(TypeError, match=r"^UUIDv7Field: .* 'prefx'; nearest: prefix$"):
        UUIDv7Field(prefx="ord")
    with pytest.raises(TypeError, match=r"argument 'version'$"):  # of other fields
        UUIDv7Field(version=4)
    (wrong,) = UUIDv7Field(encoding="bse32").wrong_options
    assert wrong.message.endswith("; nearest: base32")


def test_a_prefix_and_a_field_in_code():
    field = Order._meta.get_field("uuid7")
    with pytest.raises(FieldDoesNotExist, match=r"; nearest: uuid7$"):
        public_id(Order(), "uuid_7")
    with pytest.raises(LookupError, match="has no known prefix"):
        resolve(f"zzz_{field.scheme.example}")
