"""Ids that were shown under an older mask key are found on every path, whatever the number of keys.

2,000 seeded ids. Those that matter most are the *misleading* ones: their text, read by a newer
key, is an id of our days as well.
"""

import random
import uuid
from datetime import UTC, datetime
from functools import cache

import pytest
from django.contrib.admin import ModelAdmin, site
from django.core.management import call_command
from django.db.models import Count, F, Q, Value
from django.test import RequestFactory
from rest_framework import serializers
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import resolve
from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.mask import MaskKey, mask, unmask
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = pytest.mark.django_db

COUNT = 2_000
SOURCE = random.Random(13)
KEYS = [f"{SOURCE.getrandbits(128):032x}" for _ in range(4)]
GONE = f"{SOURCE.getrandbits(128):032x}"
START_MS = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp() * 1000)
END_MS = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
YEAR_2000_MS = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp() * 1000)
YEAR_2100_MS = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)
requests = APIRequestFactory()


def made_up():
    time, a, b = SOURCE.randrange(START_MS, END_MS), SOURCE.getrandbits(12), SOURCE.getrandbits(62)
    return uuid.UUID(int=time << 80 | 7 << 76 | a << 64 | 2 << 62 | b)


IDS = [made_up() for _ in range(COUNT)]


def text_of(value, key):
    """What a server with that key showed for a key of ``MaskedKey``."""
    number = mask(value.int, MaskKey.from_hex(key))
    return f"msk_{get('uuid7').text_form('base32').format(number)}"


def facade_of(value, key):
    """The same for a ``MaskedPart.code``, whose public text is a plain UUID."""
    return str(uuid.UUID(int=mask(value.int, MaskKey.from_hex(key))))


def is_misleading(value, old, newer):
    facade = mask(value.int, MaskKey.from_hex(old))
    times = (unmask(facade, MaskKey.from_hex(key)) >> 80 for key in newer)
    return any(YEAR_2000_MS <= time < YEAR_2100_MS for time in times)


@cache
def chosen(count):
    """Ids that a newer one of so many keys may misread, and some others."""
    *newer, old = KEYS[:count]
    misleading = [value for value in IDS if is_misleading(value, old, newer)]
    assert len(misleading) >= 12
    return list(dict.fromkeys(misleading[:12] + IDS[:4]))


@pytest.fixture(params=[2, 4], ids=["two keys", "four keys"], autouse=True)
def keys(request, settings):
    """The keys in the settings, the oldest, which showed every text, last."""
    found = KEYS[: request.param]
    settings.SORTABLE_IDS = {"MASK_KEYS": found}
    return found


@pytest.fixture
def old(keys):
    return keys[-1]


@pytest.fixture
def every_row():
    MaskedKey.objects.bulk_create([MaskedKey(id=value) for value in IDS], batch_size=400)


@pytest.fixture
def rows(keys):
    """Rows of ids that a newer key may misread, and of some others."""
    found = chosen(len(keys))
    MaskedKey.objects.bulk_create([MaskedKey(id=value) for value in found])
    return found


def chunks(values, size=50):
    return [values[at : at + size] for at in range(0, len(values), size)]


# Lookups


@pytest.mark.parametrize("keys", [4], indirect=True)
@pytest.mark.usefixtures("every_row")
def test_every_id_is_found(old, django_assert_num_queries):
    texts = {value: text_of(value, old) for value in IDS}
    for part in chunks(IDS):
        given = [texts[value] for value in part]
        equal = Q(*(("pk", text) for text in given), _connector=Q.OR)
        for query in (equal, Q(pk__in=[*given, "bad"])):
            with django_assert_num_queries(1):
                assert set(MaskedKey.objects.filter(query).values_list("pk", flat=True)) == set(
                    part
                )


def test_one_at_a_time(rows, old, django_assert_num_queries):
    whole = MaskedKey.objects.get(pk=rows[0])
    for value in rows:
        text = text_of(value, old)
        with django_assert_num_queries(1):
            assert MaskedKey.objects.get(pk=text).pk == value
        assert not MaskedKey.objects.filter(pk=value).exclude(pk=text).exists()
        assert not MaskedKey.objects.filter(pk=value).exclude(pk__in=[text]).exists()
        assert resolve(text).fetch().pk == value
        assert MaskedKey.objects.filter(pk__pasted=text).count() == 1
        assert MaskedKey.objects.filter(pk__gte=text, pk__lte=text).get().pk == value
        assert MaskedKey.objects.filter(pk=Value(text, MaskedKey._meta.pk)).get().pk == value
        assert list(MaskedKey.objects.in_bulk([text])) == [value]
    mixed = MaskedKey.objects.filter(pk__in=[text_of(whole.pk, old), F("id")])
    assert mixed.count() == len(rows)


def test_through_foreign_keys_one_at_a_time(rows, old, django_assert_num_queries):
    MaskedPart.objects.bulk_create([MaskedPart(whole_id=value) for value in rows])
    for value in rows:
        text = text_of(value, old)
        with django_assert_num_queries(1):
            assert MaskedPart.objects.get(whole=text).whole_id == value
        with django_assert_num_queries(1):
            assert MaskedKey.objects.get(parts__whole=text).pk == value
        assert not MaskedPart.objects.filter(whole_id=value).exclude(whole=text).exists()
        assert MaskedPart.objects.get(whole_id__in=[text]).whole_id == value
        assert MaskedPart.objects.get(whole__pk__in=[text]).whole_id == value
        assert MaskedPart.objects.filter(whole=MaskedKey(pk=text)).get().whole_id == value
        assert MaskedPart.objects.filter(whole__in=[MaskedKey(pk=text)]).get().whole_id == value
    total = MaskedPart.objects.aggregate(n=Count("pk", filter=Q(whole=text_of(rows[0], old))))
    assert total == {"n": 1}


def test_rows_are_changed_and_deleted_by_old_texts(rows, old):
    texts = [text_of(value, old) for value in rows]
    assert MaskedKey.objects.filter(pk=texts[0]).update(name="a") == 1
    assert MaskedKey.objects.filter(pk__in=texts).update(name="b") == len(rows)
    assert MaskedKey.objects.filter(pk__in=texts).delete()[0] == len(rows)


# Values that are written


def test_a_foreign_key_takes_the_row_that_there_is(rows, old):
    part = MaskedPart.objects.create()
    for value in rows:
        text = text_of(value, old)
        part.whole_id = text
        part.save()
        assert part.whole.pk == value
        assert MaskedPart.objects.values_list("whole_id", flat=True).get() == value
        part.clean_fields(exclude=["name", "other"])
        assert part.whole_id == value
    MaskedPart.objects.update(whole=text_of(rows[0], old))
    assert MaskedPart.objects.get().whole_id == rows[0]
    MaskedPart.objects.bulk_create([MaskedPart(whole_id=text_of(rows[1], old))])
    assert MaskedPart.objects.filter(whole_id=rows[1]).exists()


def test_a_foreign_key_to_another_column(rows, old):
    MaskedPart.objects.bulk_create([MaskedPart(code=value) for value in rows])
    for value in rows:
        text = facade_of(value, old)
        made = MaskedPart.objects.create(other_id=text)
        assert MaskedPart.objects.get(pk=made.pk).other_id == value
        assert MaskedPart.objects.get(code=text).code == value
        assert MaskedPart.objects.get(other=text) == made


def test_a_key_that_is_saved_again_is_its_row(rows, old):
    for value in rows:
        MaskedKey(pk=text_of(value, old), name="c").save(force_update=True)
    assert MaskedKey.objects.count() == len(rows)
    assert MaskedKey.objects.filter(name="c").count() == len(rows)


def test_to_python_is_the_row_that_there_is(rows, old):
    field = MaskedKey._meta.pk
    for value in rows:
        text = text_of(value, old)
        assert field.to_python(text) == field.parse_public(text) == value


def test_where_no_row_has_it_the_one_of_our_days_is_taken(keys, old):
    field = MaskedKey._meta.pk
    sure = [value for value in IDS[:200] if not is_misleading(value, old, keys[:-1])]
    assert all(field.to_python(text_of(value, old)) == value for value in sure)


def test_what_a_client_made_up_is_shown_as_it_was_given(keys):
    text = facade_of(made_up(), keys[0])
    part = MaskedPart.objects.create(code=text)
    assert MaskedPart._meta.get_field("code").public_text.format(part.code) == text


def test_fixtures_take_old_texts(rows, old, tmp_path):
    parts = [
        {"model": "testapp.maskedpart", "pk": at, "fields": {"whole": text, "code": str(value)}}
        for at, value in enumerate(rows, 1)
        for text in [text_of(value, old)]
    ]
    file = tmp_path / "parts.json"
    file.write_text(str(parts).replace("'", '"'))
    call_command("loaddata", file, verbosity=0)
    assert set(MaskedPart.objects.values_list("whole_id", flat=True)) == set(rows)


# Forms, the admin, REST


def test_admin(rows, old):
    admin = ModelAdmin(MaskedKey, site)
    request = RequestFactory().get("/")
    for value in rows:
        assert admin.get_object(request, text_of(value, old)).pk == value


class PlainPart(serializers.ModelSerializer):
    class Meta:
        model = MaskedPart
        fields = ("whole", "other", "code")
        read_only_fields = ("code",)


class PlainKey(serializers.ModelSerializer):
    class Meta:
        model = MaskedKey
        fields = ("name",)


class PlainKeys(ModelViewSet):
    queryset = MaskedKey.objects.all()
    serializer_class = PlainKey


def test_plain_serializers_and_viewsets(rows, old):
    MaskedPart.objects.bulk_create([MaskedPart(code=value) for value in rows])
    view = PlainKeys.as_view({"get": "retrieve"})
    for value in rows:
        serializer = PlainPart(data={"whole": text_of(value, old), "other": facade_of(value, old)})
        assert serializer.is_valid(), serializer.errors
        assert serializer.validated_data["whole"].pk == value
        assert serializer.validated_data["other"].code == value
        assert view(requests.get("/"), pk=text_of(value, old)).status_code == 200


# Keys that are gone


def test_ids_of_a_key_that_is_gone_are_nobody_s(rows):
    view = PlainKeys.as_view({"get": "retrieve"})
    for value in rows:
        text = text_of(value, GONE)
        assert not MaskedKey.objects.filter(pk=text).exists()
        assert view(requests.get("/"), pk=text).status_code == 404


def test_with_one_key_nothing_is_asked_but_the_query(settings, django_assert_num_queries):
    settings.SORTABLE_IDS = {"MASK_KEYS": KEYS[:1]}
    row = MaskedKey.objects.create()
    text = text_of(row.pk, KEYS[0])
    with django_assert_num_queries(0):
        assert MaskedKey._meta.pk.to_python(text) == row.pk
    with django_assert_num_queries(1) as captured:
        assert MaskedKey.objects.get(pk=text) == row
    assert " IN " not in captured.captured_queries[0]["sql"]
