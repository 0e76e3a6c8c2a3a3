"""What Django's functions get from the column of an id."""

import pytest
from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Concat, JSONObject, Length

from tests.testapp.models import KEYS, STORED_KEYS, TimeflakeTextKey, ULIDTextKey

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("key", [ULIDTextKey, TimeflakeTextKey])
def test_a_column_of_text_has_the_text_on_every_engine(key):
    row = key.objects.create()
    seen = key.objects.annotate(
        cast=Cast("pk", CharField(max_length=64)),
        joined=Concat(Value("id-"), "pk", output_field=CharField()),
        document=JSONObject(id="pk"),
        length=Length("pk"),
    ).get()
    assert (seen.cast, seen.joined) == (row.pk, f"id-{row.pk}")
    assert (seen.document, seen.length) == ({"id": row.pk}, len(row.pk))


@pytest.mark.parametrize("key", [*KEYS, *STORED_KEYS])
def test_a_value_in_an_expression_is_the_id(key):
    row, text = key.objects.create(), str(key.objects.create().pk)
    assert str(key.objects.annotate(k=Value(text)).get(pk=F("k")).pk) == text
    assert key.objects.annotate(k=Value(text)).exclude(pk=F("k")).get() == row
