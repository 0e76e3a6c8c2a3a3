"""What SQL sees of an id: its text wherever a function takes text, or an error."""

from decimal import Decimal
from itertools import product

import django
import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import FieldError, ValidationError
from django.db import NotSupportedError, connection, models
from django.db.models import Case, Exists, F, Max, OuterRef, Q, Subquery, Value, When, functions
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, Coalesce, Concat
from django.db.models.lookups import Exact, In
from django.test.utils import isolate_apps

from django_sortable_ids.fields import SortableIDField, ULIDField, UUIDv7Field
from django_sortable_ids.fields.storage import BinaryStorage, UUIDStorage
from django_sortable_ids.functions import AsText
from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.own_tables import Own, tables
from tests.testapp.models import STORED_KEYS, Note, ULIDKey, UUIDv7Key, around

pytestmark = pytest.mark.django_db

TEXT = models.CharField(max_length=64)


class Hash(models.Func):
    """A function of a project."""

    function = "HEX"
    output_field = models.TextField()


SEEN_BY = {
    "cast": Cast("pk", TEXT),
    "cast to an unlimited text": Cast("pk", models.TextField()),
    "wrapped": models.ExpressionWrapper(F("pk"), TEXT),
    "the first of several": Coalesce("pk", Value(""), output_field=TEXT),
    "a part": functions.Substr("pk", 1),
    "joined": Concat(Value(""), "pk", output_field=TEXT),
    "nested": Concat(Value(""), Coalesce("pk", "pk"), output_field=TEXT),
}


def coalesce(value):
    return Coalesce(functions.NullIf("pk", "pk"), Value(value))


def case(value):
    return Case(When(pk__isnull=True, then="pk"), default=Value(value))


def nested(value):
    return Case(When(pk__isnull=False, then=case(value)), default="pk")


def lag(value):
    return models.Window(functions.Lag("pk", 9, Value(value)))


@pytest.mark.parametrize("key", STORED_KEYS)
class TestEveryKey:
    def test_a_function_that_returns_text_sees_the_text(self, key):
        row = key.objects.create()
        for name, function in SEEN_BY.items():
            if isinstance(row.pk, int) and not isinstance(function, Cast):
                continue  # a number is cast
            assert key.objects.annotate(seen=function).get().seen == str(row.pk), name

    def test_json_has_the_text_or_the_number(self, key):
        row = key.objects.create()
        document = key.objects.annotate(seen=functions.JSONObject(id="pk")).get().seen
        assert document == {"id": row.pk if isinstance(row.pk, int) else str(row.pk)}

    def test_a_generic_reference_is_found(self, key):
        kind = ContentType.objects.get_for_model(key)
        row, other = key.objects.create(), key.objects.create()
        note = Note.objects.create(subject=row)
        Note.objects.create(subject=other)
        for text in (AsText("pk"), Cast("pk", models.CharField(max_length=40))):
            rows = key.objects.filter(pk=row.pk).annotate(text=text).values("text")
            assert Note.objects.get(content_type=kind, object_id__in=rows) == note

    def test_a_text_is_compared_with_the_text_of_the_id(self, key):
        row, other = key.objects.create(), key.objects.create()
        note = Note.objects.create(subject=row)
        notes = Note.objects.filter(object_id=OuterRef("pk"))
        if isinstance(row.pk, int):
            notes = Note.objects.filter(object_id=OuterRef("text"))
        rows = key.objects.annotate(text=AsText("pk"))
        assert rows.get(Exists(notes)) == row
        assert rows.get(~Exists(notes)) == other
        assert rows.annotate(note=Subquery(notes.values("pk")[:1])).get(note=note.pk) == row

    def test_every_lookup_of_a_text_sees_the_text_of_the_id(self, key):
        row = key.objects.create()
        if isinstance(row.pk, int):
            return
        text, other = str(row.pk), key.objects.create()
        Note.objects.create(subject=row, name=text)
        for lookup in ("iexact", "startswith", "endswith", "icontains", "lte", "gte"):
            notes = Note.objects.filter(**{f"object_id__{lookup}": OuterRef("pk")})
            assert key.objects.filter(pk=row.pk).get(Exists(notes)) == row, lookup
        notes = Note.objects.filter(object_id__in=[OuterRef("pk"), "another text"])
        assert key.objects.get(Exists(notes)) == row
        if isinstance(key.id.field.stored(connection), UUIDStorage | BinaryStorage):
            rows = key.objects.filter(pk__in=[OuterRef("object_id"), other.pk])
            assert Note.objects.get(Exists(rows)).name == text
        assert set(key.objects.filter(pk__in=[F("pk"), other.pk])) == {row, other}
        assert key.objects.get(pk__in=[Value(None, key.id.field), other.pk]) == other
        notes = Note.objects.filter(object_id__range=(OuterRef("pk"), OuterRef("pk")))
        assert key.objects.get(Exists(notes)) == row

    def test_an_id_is_compared_with_a_column_of_texts(self, key):
        row, _ = key.objects.create(), key.objects.create()
        Note.objects.create(subject=row)
        if isinstance(row.pk, int):
            return
        assert key.objects.get(pk__in=Note.objects.values("object_id")) == row
        texts = [F("object_id")]
        if isinstance(key.id.field.stored(connection), UUIDStorage | BinaryStorage):
            # MariaDB 11 mixes no collation of a column of texts with that of a CAST.
            texts.append(Cast("object_id", models.TextField()))
        for text in texts:
            notes = Note.objects.annotate(text=text)
            assert key.objects.get(pk__in=notes.values("text")) == row
            assert key.objects.get(Exists(notes.filter(text=OuterRef("pk")))) == row
        of_row = key.objects.filter(pk=OuterRef("object_id"))
        assert Note.objects.filter(Exists(of_row)).count() == 1

    def test_an_id_is_compared_with_a_function_of_texts(self, key):
        row, other = key.objects.create(), key.objects.create()
        Note.objects.create(subject=row, name=f"about {row.pk}")
        if isinstance(row.pk, int):
            return
        about = functions.Substr("name", 7)
        first = Case(When(name="", then="object_id"), default=about)
        for text in (about, functions.Trim(about), Coalesce(about, Value("")), first):
            notes = Note.objects.annotate(text=text)
            assert key.objects.get(pk__in=notes.values("text")) == row, text
            assert key.objects.exclude(Exists(notes.filter(text=OuterRef("pk")))).get() == other
            found = key.objects.filter(pk=OuterRef("text"))
            assert notes.filter(Exists(found)).count() == 1, text

    def test_a_subquery_of_foreign_keys_has_the_ids(self, key):
        children = key._meta.get_field("children").related_model.objects
        row = key.objects.create()
        child = children.create(parent=row)
        parent = Subquery(children.filter(pk=OuterRef("pk")).values("parent")[:1])
        chosen = Case(When(pk=child.pk, then=parent))
        either = Coalesce(parent, "parent")
        for ids in (parent, Coalesce(parent, None), either, chosen, Max(parent)):
            assert children.annotate(id_of=ids).get(pk=child.pk).id_of == row.pk, ids
            assert children.annotate(id_of=ids).filter(id_of=row.pk).get() == child, ids
        if connection.vendor == "postgresql":
            from django.contrib.postgres.expressions import ArraySubquery

            of_row = ArraySubquery(children.filter(parent=OuterRef("pk")).values("parent"))
            assert key.objects.annotate(ids=of_row).get().ids == [row.pk]

    def test_a_subquery_of_ids_has_their_texts(self, key):
        row = key.objects.create()
        note = Note.objects.create(subject=row)
        assert Note.objects.annotate(id_of=Subquery(key.objects.values("pk"))).get().id_of == row.pk
        if isinstance(key.id.field.stored(connection), UUIDStorage | BinaryStorage):
            with pytest.raises(NotSupportedError, match="AsText"):
                Note.objects.filter(object_id__in=key.objects.values("pk")).count()
            text = Subquery(key.objects.values("pk")[:1], output_field=models.CharField())
            if django.VERSION >= (6, 1):  # which wraps the query
                assert Note.objects.annotate(text=text).get().text == str(row.pk)
                return
            with pytest.raises(NotSupportedError, match="AsText"):
                Note.objects.annotate(text=text).get()
        elif not isinstance(row.pk, int):
            assert Note.objects.get(object_id__in=key.objects.values("pk")) == note

    def test_a_reference_has_the_text_of_its_row(self, key):
        parent = key.objects.create()
        child = around(key, "Child").objects.create(parent=parent)
        orphan = around(key, "Child").objects.create()
        texts = around(key, "Child").objects.values_list("pk", AsText("parent"))
        assert dict(texts) == {child.pk: str(parent.pk), orphan.pk: None}

    def test_what_looks_at_no_text_takes_the_column(self, key):
        row = key.objects.create()
        seen = key.objects.annotate(first=Coalesce("pk", "pk"), same=Cast("pk", key.id.field)).get()
        assert (seen.first, seen.same) == (row.pk, row.pk)
        assert key.objects.aggregate(n=models.Count("pk")) == {"n": 1}

    def test_a_value_in_an_expression_is_the_id(self, key):
        row, text = key.objects.create(), str(key.objects.create().pk)
        assert str(key.objects.annotate(k=Value(text)).get(pk=F("k")).pk) == text
        assert key.objects.annotate(k=Value(text)).exclude(pk=F("k")).get() == row

    def test_a_value_that_a_function_gives_is_the_id(self, key):
        key.objects.create()
        other = key.objects.create().pk
        for given in (coalesce, case, nested, lag):
            if given is lag and not connection.features.supports_default_in_lead_lag:
                continue
            rows = key.objects.annotate(seen=given(other)).filter(seen=other)
            assert [row.seen for row in rows] == [other, other], given

    def test_a_value_is_compared_as_an_id(self, key):
        row, other = key.objects.create(), key.objects.create()
        value = Value(row.pk)
        for condition in (
            Exact(F("pk"), row.pk),
            In(F("pk"), [row.pk]),
            Q(pk=value),
            Q(pk__in=[value]),
            Q(pk__range=(value, value)),
            Q(pk__gte=value, pk__lte=value),
            Q(pk__in=RawSQL("id", []), pk=row.pk),
        ):
            assert key.objects.get(condition) == row, condition
        assert key.objects.annotate(k=functions.NullIf("pk", value)).get(k=None) == row
        least, most = sorted([row.pk, other.pk])
        ends = functions.Least("pk", Value(least)), functions.Greatest("pk", Value(most))
        assert {*key.objects.values_list(*ends)} == {(least, most)}

    def test_a_value_that_an_update_computes_is_stored_as_the_id(self, key):
        model = around(key, "Public")
        row, ids = model.objects.create(), [key.objects.create().pk for _ in range(2)]
        first = Case(When(pk=row.pk, then=Value(ids[0])))
        for computed in (first, Coalesce(functions.NullIf("public", "public"), Value(ids[1]))):
            model.objects.update(optional=computed)
            assert model.objects.get(optional=ids.pop(0)) == row


@in_one_case(
    "function",
    [
        functions.Lower("pk"),
        functions.Upper("pk"),
        functions.Trim("pk"),
        functions.Reverse("pk"),
        functions.MD5("pk"),
        functions.Collate("pk", "C"),
        Case(When(pk__isnull=False, then="pk"), output_field=TEXT),
        Cast("pk", models.IntegerField()),
        Cast("pk", models.JSONField()),
        Cast("pk", models.BooleanField()),
        models.Func("pk", function="LENGTH", output_field=models.IntegerField()),
        Hash("pk"),
    ],
)
def test_what_would_be_another_value_is_refused(function):
    ULIDKey.objects.create()
    with pytest.raises(NotSupportedError, match=r"write \w+\(AsText\(...\)\)"):
        ULIDKey.objects.annotate(seen=function).get()


def test_a_function_of_a_project_takes_the_text_or_says_that_it_takes_the_column():
    row = ULIDKey.objects.create()
    length = {"function": "LENGTH", "output_field": models.IntegerField()}
    stored = models.ExpressionWrapper(F("pk"), models.BinaryField())
    seen = ULIDKey.objects.annotate(
        text=models.Func(AsText("pk"), **length),
        same=models.Func("pk", "pk", function="COALESCE", output_field=ULIDKey.id.field),
    )
    assert seen.values_list("text", "same").get() == (26, row.pk)
    if connection.vendor != "postgresql":  # LENGTH takes no uuid there
        assert ULIDKey.objects.annotate(bytes=models.Func(stored, **length)).get().bytes == 16


class Text(models.Func):
    """A cast of a project or package, as django-reversion has one."""

    function = "CAST"
    template = "%(function)s(%(expressions)s AS CHAR(26))"
    output_field = models.TextField()


def test_a_cast_to_text_of_a_project_sees_the_text():
    row = ULIDKey.objects.create()
    seen = ULIDKey.objects.annotate(text=Text("pk"))
    assert seen.get(text=row.pk).text == str(row.pk)


def test_a_function_of_a_project_takes_a_native_uuid():
    if not connection.features.has_native_uuid_field:
        pytest.skip("no type for UUIDs")
    row = UUIDv7Key.objects.create()
    joined = models.Func("pk", Value(""), function="CONCAT", output_field=models.TextField())
    assert UUIDv7Key.objects.annotate(text=joined).get().text == str(row.pk)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="its aggregates")
def test_aggregates_of_postgresql_see_the_text():
    from django.contrib.postgres.aggregates import ArrayAgg, JSONBAgg

    first, last = sorted(ULIDKey.objects.create().pk for _ in range(2))
    assert ULIDKey.objects.aggregate(
        document=JSONBAgg("pk", order_by="pk"),
        array=ArrayAgg("pk", order_by="pk"),
    ) == {"document": [first, last], "array": [first, last]}


@pytest.mark.skipif(
    django.VERSION < (6, 0) and connection.vendor != "postgresql",
    reason="PostgreSQL's before Django 6.0",
)
def test_joined_rows_are_texts():
    if django.VERSION < (6, 0):
        from django.contrib.postgres.aggregates import StringAgg

        joined = StringAgg("pk", ",")
    else:
        from django.db.models import StringAgg

        joined = StringAgg("pk", Value(","))

    texts = {ULIDKey.objects.create().pk for _ in range(2)}
    assert set(ULIDKey.objects.aggregate(text=joined)["text"].split(",")) == texts


def test_what_is_no_id_is_refused():
    ULIDKey.objects.create()
    with pytest.raises(FieldError, match="takes a sortable id"):
        ULIDKey.objects.annotate(text=AsText("name")).get()


def test_numbers_of_mixed_types_are_none_of_its_business():
    """Only the expression around them knows the type of the result."""
    ULIDKey.objects.create()
    rows, mixed = ULIDKey.objects, Value(1.5) + Value(Decimal(1))
    wrapped = models.ExpressionWrapper(mixed, models.FloatField())
    assert rows.annotate(number=wrapped).filter(number__lte=mixed).get().number == 2.5
    assert rows.aggregate(n=models.Sum(mixed, output_field=models.FloatField())) == {"n": 2.5}


FORMS = [("id", "id_as_text"), ("id_as_text", "id"), ("id_as_text", "uuid"), ("uuid", "id_as_text")]


class Mixed(Own):
    """Ids next to columns of other kinds."""

    id = UUIDv7Field(primary_key=True)
    same = UUIDv7Field(null=True)
    parent = models.ForeignKey("self", models.CASCADE, null=True)
    ulid = ULIDField(null=True)
    id_as_text = UUIDv7Field(null=True, storage="char36")
    uuid = models.UUIDField(null=True)
    text = models.CharField(max_length=64, null=True)  # noqa: DJ001
    lower = models.GeneratedField(
        expression=functions.Lower("text"), output_field=TEXT, db_persist=True
    )
    bytes = models.BinaryField(null=True)
    number = models.BigIntegerField(null=True)
    document = models.JSONField(null=True)

    class Meta(Own.Meta):
        abstract = True


@pytest.fixture
def mixed():
    with isolate_apps("tests.testapp"):

        class Row(Mixed):
            pass

        with tables(Row):
            yield Row


@own_tables
class TestAssigned:
    def test_an_id_in_a_column_of_another_kind_is_refused(self, mixed):
        pk = mixed.objects.create(text="a", id_as_text=None).pk
        sources = F("id"), F("parent"), Coalesce("same", "id")
        for target, source in product(["text", "number", "document", "id_as_text"], sources):
            with pytest.raises(NotSupportedError, match=rf"{target} can't be set to .*AsText"):
                mixed.objects.update(**{target: source})
            row = mixed.objects.get(pk=pk)
            setattr(row, target, source)
            with pytest.raises(NotSupportedError, match="AsText"):
                row.save()

    def test_another_value_in_the_column_of_an_id_is_refused(self, mixed):
        mixed.objects.create()
        sources = "text", "number", "id_as_text"
        for target, source in product(["same", "parent", "id"], sources):
            with pytest.raises(NotSupportedError, match="assign ids that Python has read"):
                mixed.objects.update(**{target: F(source)})

    def test_subqueries_are_refused_in_updates_and_inserts(self, mixed):
        row = mixed.objects.create(text="a")
        ids, texts = (mixed.objects.values(name)[:1] for name in ("id", "text"))
        refused = [
            lambda: mixed.objects.create(text=Subquery(ids)),
            lambda: mixed.objects.create(same=Subquery(texts)),
            lambda: mixed.objects.bulk_create([mixed(), mixed(text=Subquery(ids))]),
        ]
        if connection.vendor != "mysql":  # which reads no table that it updates
            refused += [
                lambda: mixed.objects.update(text=Subquery(ids)),
                lambda: mixed.objects.update(same=texts),
            ]
        for statement in refused:
            with pytest.raises(NotSupportedError, match="can't be set to"):
                statement()
        assert mixed.objects.get().text == "a"
        if connection.vendor != "mysql":
            made = mixed.objects.create(same=Subquery(ids))
            assert mixed.objects.get(same=row.pk) == made

    def test_what_fits_is_stored(self, mixed):
        row = mixed.objects.create()
        mixed.objects.update(
            text=AsText("id"),
            id_as_text=AsText("id"),
            same=F("id"),
            parent=F("id"),
            bytes=F("bytes"),
        )
        text, pk = str(row.pk), row.pk
        assert mixed.objects.values_list("text", "id_as_text", "same", "parent").get() == (
            text,
            pk,
            pk,
            pk,
        )
        assert mixed.objects.get(same=pk, parent=pk, id_as_text=pk, text=text) == row
        mixed.objects.update(same=Case(When(text=text, then="id")), text=F("id_as_text"))
        assert mixed.objects.get(same=pk, text=text) == row

    def test_the_text_of_a_value_is_stored_as_the_id(self, mixed):
        row, other = mixed.objects.create(), mixed.objects.create()
        mixed.objects.filter(pk=row.pk).update(same=Value(str(other.pk)))
        made = mixed.objects.create(parent_id=Value(str(row.pk)), ulid=Value("7" + 25 * "0"))
        assert mixed.objects.get(same=other.pk) == row
        assert mixed.objects.get(parent=row, ulid="7" + 25 * "0") == made
        with pytest.raises(ValidationError, match="valid UUIDv7"):
            mixed.objects.update(same=Value("no id"))

    def test_ids_of_different_forms_are_not_compared(self, mixed):
        mixed.objects.create(same=None, id_as_text=None)
        for one, other in FORMS:
            self.check_not_compared(mixed, one, other)

    def check_not_compared(self, mixed, one, other):
        fields = {each.name: each for each in mixed._meta.fields}
        first = Case(When(pk__isnull=True, then=other), default=one, output_field=fields[one])
        rows = mixed.objects.annotate(first=first)
        queries = [
            mixed.objects.filter(**{one: F(other)}),
            mixed.objects.filter(**{f"{one}__gt": F(other)}),
            mixed.objects.filter(**{f"{one}__in": mixed.objects.values(other)}),
            mixed.objects.filter(Exists(mixed.objects.filter(**{one: OuterRef(other)}))),
            *([rows] if isinstance(fields[one], SortableIDField) else []),
        ]
        for query in queries:
            with pytest.raises(NotSupportedError, match=r"compared or combined with .*AsText"):
                list(query)

    def test_the_texts_of_ids_of_different_forms_are_compared(self, mixed):
        row, _ = mixed.objects.create(), mixed.objects.create()
        mixed.objects.update(id_as_text=AsText("id"))
        assert mixed.objects.get(id=row.pk, id_as_text=AsText("id")) == row
        assert mixed.objects.get(pk=row.pk, same__in=[AsText("same"), None]) == row

    def test_a_generated_text_is_compared_with_the_text_of_the_id(self, mixed):
        row, _ = mixed.objects.create(), mixed.objects.create()
        mixed.objects.filter(pk=row.pk).update(text=functions.Upper(AsText("id")))
        assert mixed.objects.get(lower=F("id")) == mixed.objects.get(id=F("lower")) == row
        assert mixed.objects.get(pk__in=mixed.objects.values("lower")) == row

    def test_a_text_that_is_cast_to_an_id_finds_it(self, mixed):
        row = mixed.objects.create()
        mixed.objects.update(text=AsText("id"), same=F("id"))
        assert mixed.objects.get(same=Cast("text", UUIDv7Field())) == row
        of_outer = mixed.objects.filter(id=Cast(OuterRef("text"), mixed.id.field))
        assert mixed.objects.get(Exists(of_outer)) == row
        selected = mixed.objects.annotate(made=Cast("text", UUIDv7Field()))
        if connection.features.has_native_uuid_field:
            assert selected.get().made == row.pk
        else:
            with pytest.raises(NotSupportedError, match="can't cast"):
                selected.get()

    def test_a_text_that_is_cast_to_a_varchar(self, mixed):
        ulid = ULIDField().generate()
        mixed.objects.create(text=ulid)
        wide = ULIDField(storage="varchar", max_length=40)
        assert mixed.objects.annotate(made=Cast("text", wide)).get().made == ulid

    def test_a_member_of_a_document_is_compared_with_the_text_of_the_id(self, mixed):
        if connection.vendor == "postgresql":
            pytest.skip("it has no operator between jsonb and text")
        row, _ = mixed.objects.create(ulid=ULIDField().generate()), mixed.objects.create()
        mixed.objects.filter(pk=row.pk).update(document={"id": str(row.pk), "ulid": row.ulid})
        for condition in (
            {"document__id": F("id")},
            {"document__ulid": F("ulid")},
            {"id": F("document__id")},
            {"document__id__in": [F("id"), F("text")]},
            {"document__ulid__startswith": F("ulid")},
        ):
            assert mixed.objects.filter(**condition).get() == row, condition
