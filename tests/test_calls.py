"""How many calls into the package one more id costs. A call is a twentieth of what an id takes."""

from functools import partial

import pytest
from django.db import connection
from rest_framework.serializers import ModelSerializer

from django_sortable_ids.ids import public_id
from django_sortable_ids.schemes.clock_and_randomness import Sources
from django_sortable_ids.schemes.generator import replaced_sources

from .figures import traced
from .testapp.models import KSUIDKey, MaskedKey, SnowflakeKey, ULIDKey, UUIDv7Key

FEW, MANY = 8, 108


def generate(model, count):
    scheme = model._meta.pk.scheme
    return [scheme.generate() for _ in range(count)]


def create(model, count):
    return [model() for _ in range(count)]


def insert(model, count):
    return model.objects.bulk_create(create(model, count))


def read(model, count):
    return list(model.objects.all()[:count])


def show(model, count):
    class Serializer(ModelSerializer):
        class Meta:
            fields = ["pk"]

    Serializer.Meta.model = model
    return Serializer(read(model, count), many=True).data


def find(model, count):
    return [model.objects.get(pk=public_id(row)) for row in read(model, count)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "most"),  # most calls of the six functions above, in their order, on any database
    [
        (UUIDv7Key, [1, 3, 12, 2, 4, 53]),
        (ULIDKey, [1, 3, 17, 2, 6, 51]),
        (KSUIDKey, [2, 4, 19, 2, 6, 53]),
        (SnowflakeKey, [1, 3, 10, 0, 6, 47]),
        (MaskedKey, [1, 3, 12, 2, 22, 93]),
    ],
)
def test_calls_of_one_more_id(model, most):
    if connection.vendor == "mysql" and connection.features.has_native_uuid_field:
        most = [calls + 4 for calls in most]  # MariaDB's driver gives UUIDs as texts with hyphens
    found = []
    with replaced_sources(Sources(clock=lambda: 1_800_000_000_000_000_000)):
        insert(model, MANY)
        for work in (generate, create, insert, read, show, find):
            few, many = (len(traced(partial(work, model, count))) for count in (FEW, MANY))
            found.append((many - few) // (MANY - FEW))
    assert all(calls <= bound for calls, bound in zip(found, most, strict=True)), found
