"""A generic relation that the check lets pass finds its rows: every key with every object_id."""

from functools import cache
from itertools import product

import pytest
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, models, transaction

from django_sortable_ids import fields
from django_sortable_ids.checks.definitions import check_generic_relations
from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.fields.storage import mariadb_sorts, storage_names
from django_sortable_ids.schemes import TimeScheme
from tests.combinations import each_with
from tests.marks import own_tables
from tests.testapp.models import like

from .test_definitions import define

pytestmark = own_tables

COLUMNS = {
    **{f"char{n}": models.CharField(max_length=n) for n in (10, 18, 19, 26, 32, 35, 36, 255)},
    "text": models.TextField(),
    "smallint": models.SmallIntegerField(),
    "int": models.IntegerField(),
    "positive int": models.PositiveIntegerField(),
    "bigint": models.BigIntegerField(),
    "positive bigint": models.PositiveBigIntegerField(),
    "uuid": models.UUIDField(),
}
"""What an object_id may be, in addition to an id of the key's own kind."""

FIELDS = [
    found
    for name in dir(fields)
    if isinstance(found := getattr(fields, name), type)
    and issubclass(found, SortableIDField)
    and getattr(found, "scheme_name", None)
]


# A UUID, a text that is the digits of one, and an integer: with every object_id in every storage.
# The others are with every object_id in one storage, and in every storage with one of those.
WHOLE = {fields.UUIDv7Field, fields.HexULIDField, fields.SnowflakeField}


@cache
def _stored_in_each_way(field_class):
    return {name: field_class(storage=name) for name in storage_names(field_class().scheme)}


OTHER_KEYS = {
    fields.SnowflakeField: {
        "of 30 bits": fields.SnowflakeField(time_bits=20, worker_bits=0, epoch_ms=0),
        "of Discord": fields.SnowflakeField(layout="discord"),
    }
}


def is_mariadb():
    return connection.vendor == "mysql" and connection.mysql_is_mariadb


def neighbours(field):
    """The largest id that fits, and the one before it: what rounds takes one for the other."""
    scheme = field.scheme
    if isinstance(scheme, TimeScheme):
        largest = scheme.whole_range[1]
        return [scheme.from_int(number) for number in (largest, largest - 1)]
    return [digit * scheme.canonical.length for digit in "98"]


class Seen:
    """What works with two rows of a key, one of which a tag points to."""

    def __init__(self, order, tag, column):
        self.order, self.tag, self.column = order, tag, column

    def know_each_other(self):
        """Has Django find the model, which is in no app, by its content type."""
        self.kind = ContentType.objects.get_for_model(self.order)
        self.kind.model_class = lambda: self.order
        for owner, name in ((self.order, "tags"), (self.tag, f"of {self.column}")):
            owner._meta.get_field(name).get_content_type = lambda *_, **__: self.kind

    def add(self, pk):
        tag = self.tag(content_type_id=self.kind.pk, **{self.column: pk})
        tag.clean_fields(exclude={field.name for field in tag._meta.fields} - {self.column})
        tag.save()
        return tag

    def works(self):
        first, second = neighbours(self.order._meta.pk)
        with transaction.atomic():
            first, second = (self.order.objects.create(id=pk) for pk in (first, second))
            self.know_each_other()
            try:
                with transaction.atomic():
                    return self._works(first, second)
            except (ValidationError, ValueError, TypeError, OverflowError, DatabaseError):
                return False
            finally:
                transaction.set_rollback(True)
                ContentType.objects.clear_cache()

    def _works(self, first, second):
        tags = {self.add(first.pk).pk for _ in range(2)}
        rows, found, kind = self.order.objects, self.tag.objects, self.kind.pk

        def has(row):
            return {tag.pk for tag in row.tags.all()}

        return (
            [getattr(tag, f"of {self.column}") for tag in found.all()] == [first, first]
            and [
                getattr(tag, f"of {self.column}")
                for tag in found.prefetch_related(f"of {self.column}")
            ]
            == [first, first]
            and (has(first), has(second)) == (tags, set())
            and list(rows.filter(tags__isnull=False).distinct()) == [first]
            and list(rows.filter(tags__content_type=kind).distinct()) == [first]
            and list(rows.exclude(tags__content_type=kind)) == [second]
            and {row: has(row) for row in rows.prefetch_related("tags")}
            == {first: tags, second: set()}
            and self._is_deleted_with(first, second)
        )

    def _is_deleted_with(self, first, second):
        other = self.add(second.pk)
        first.delete()
        return list(self.tag.objects.all()) == [other]


def refused(model):
    """Whether the checks refuse it, those of the models and those of the database."""
    found = [*check_generic_relations(model), *check_generic_relations(model, connection)]
    assert len(found) < 2, "said twice"
    return bool(found)


def keys_of(field_class):
    """The fields of a class in every storage that the server takes."""
    found = dict(_stored_in_each_way(field_class))
    if is_mariadb() and "uuid" in found and not mariadb_sorts(found["uuid"].scheme):
        del found["uuid"]  # which sortable_ids.E005 refuses
    return found


@pytest.mark.parametrize("field_class", FIELDS)
def test_what_is_not_refused_works(table, isolated, field_class):
    own = keys_of(field_class)
    candidates = COLUMNS | {f"own {storage}": field for storage, field in own.items()}
    columns = {f"c{n}": name for n, name in enumerate(candidates)}
    attributes = {}
    for column, name in columns.items():
        attributes[column] = candidates[name].clone()
        attributes[column].null = attributes[column].blank = True
        attributes[f"of {column}"] = GenericForeignKey("content_type", column)
    kind = models.ForeignKey(ContentType, models.CASCADE, db_constraint=False, related_name="+")
    tag = table(define("Tag", content_type=kind, **attributes))
    wrong, cells = [], 0
    keys = own | OTHER_KEYS.get(field_class, {})
    pairs = list(product(keys, columns))
    if field_class not in WHOLE:
        pairs = each_with(list(keys), list(columns))
    for storage, key in keys.items():
        name = f"Parcel{len(storage)}{storage[-2:]}"
        real = table(define(name, id=like(key, primary_key=True)))
        for column in (column for of, column in pairs if of == storage):
            isolated.all_models["testapp"].pop(name.lower())
            order = define(
                name,
                id=like(key, primary_key=True),
                tags=GenericRelation(tag, object_id_field=column),
                meta={"managed": False, "db_table": real._meta.db_table},
            )
            isolated.clear_cache()
            works = Seen(order, tag, column).works()
            if not works and not refused(order):
                wrong.append((storage, columns[column]))
            cells += 1
    assert wrong == []
    assert cells >= len(candidates)
