"""Columns of texts with keys: what is replaced, and by which statements."""

import uuid

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.primary_keys.changes import texts
from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = own_tables

TAGGED = """\
CreateModel("Tagged", [
    ("id", BigAutoField(primary_key=True)),
    ("object_id", {column}),
    ("kind_id", IntegerField()),
]),
"""
GENERIC = ("depot_tagged", "object_id", "kind_id")
TEXT = "TextField()"


@pytest.fixture
def kind(db):
    found = ContentType.objects.create(app_label="depot", model="customer")
    yield found
    found.delete()


def create(depot, column=TEXT, **options):
    small.create(depot, more=TAGGED.format(column=column), **options)


def tag(depot, kind, texts):
    tagged = depot.model("Tagged")
    tagged.objects.bulk_create(tagged(object_id=each, kind_id=kind.pk) for each in texts)


def texts_of(depot):
    found = depot.model("Tagged").objects.order_by("pk").values_list("object_id", flat=True)
    return list(found)


def keys(depot):
    return list(depot.model("Customer").objects.order_by("pk").values_list("pk", flat=True))


def by_old(depot):
    return {each.old_id: each.pk for each in depot.model("Customer").objects.all()}


def test_one_statement_replaces_all(depot, kind):
    create(depot)
    before = keys(depot)
    tag(depot, kind, [*map(str, before), *map(str, before), *"gone"])
    small.write_move(depot, generic=[GENERIC])
    with CaptureQueriesContext(
        connection,
    ) as captured:
        depot.migrate()
    updates = [each["sql"] for each in captured if each["sql"].startswith("UPDATE")]
    assert len([each for each in updates if "depot_tagged" in each]) == 1
    known = by_old(depot)
    assert texts_of(depot) == [*(str(known[each]) for each in [*before, *before]), *"gone"]


def test_a_model_of_a_view(depot, kind):
    """The table that it shows has the texts."""
    create(depot)
    before = keys(depot)
    tag(depot, kind, map(str, before))
    execute("CREATE VIEW depot_shown AS SELECT DISTINCT object_id, kind_id FROM depot_tagged")
    try:
        shown = ("depot_shown", "object_id", "kind_id")
        small.write_move(depot, generic=[GENERIC, shown], more="allowed=['*'],")
        depot.migrate()
    finally:
        execute("DROP VIEW depot_shown")
    assert texts_of(depot) == [str(by_old(depot)[each]) for each in before]


@pytest.mark.parametrize("of", ["kind_id", "depot.Customer"])
def test_keys_of_deleted_rows_that_only_adopted_texts_contain(depot, kind, of):
    create(depot)
    before = ["1", "99", "99", "no key"]
    tag(depot, kind, before)
    small.write_move(depot, more=f'texts=[("depot_tagged", "object_id", "{of}")],')
    depot.migrate()
    first, deleted, again, text = texts_of(depot)
    assert (first, again, text) == (str(by_old(depot)[1]), deleted, "no key")
    assert uuid.UUID(deleted) not in keys(depot)
    depot.migrate("0001_step")
    assert texts_of(depot) == before


def test_adopted_texts_are_of_one_model(depot, kind):
    """Not of another one that moves, too, and has a row with such a key."""
    create(depot)
    customer = depot.model("Customer").objects.first()
    depot.model("Order").objects.create(pk=99, name=customer.name, customer=customer)
    tag(depot, kind, ["99"])
    move = small.MOVE.format(
        field="UUIDv7Field(primary_key=True)",
        options=f'created_from="created_at", old={small.OLD}',
        references=[small.REFERENCE],
        generic=[],
    )
    order = f'"depot.Order", "id", UUIDv7Field(primary_key=True), created_at="now", old={small.OLD}'
    both = f"""texts=[("depot_tagged", "object_id", "depot.Customer")], keys=[MovedKey({order}), """
    depot.write(move.replace("keys=[", both), atomic=False)
    depot.migrate()
    [text] = texts_of(depot)
    assert len(text) == 36
    assert text != str(depot.model("Order").objects.get(old_id=99).pk)


def test_what_only_python_reads_as_a_number_is_none(depot, kind):
    create(depot)
    one, *_ = keys(depot)
    others = [
        f"0{one}",
        f" {one}",
        f"+{one}",
        f"{one}_0",
        f"{one}.0",
        "",
        "9" * 300,
        "9" * 19,
        "x%s",
    ]
    tag(depot, kind, others)
    small.write_move(depot, generic=[GENERIC])
    depot.migrate()
    assert texts_of(depot) == others


UUID_KEY = {
    "key": "UUIDField(primary_key=True, default=uuid.uuid4)",
    "before": "import uuid\n",
}
OLD_UUID = 'created_from="created_at", old=UUIDField(null=True, unique=True, editable=False)'


def lengths():
    return {len(str(text)) for (text,) in execute("SELECT object_id FROM depot_tagged")}


def test_a_column_of_uuids(depot, kind):
    """Such a column contains no hyphens on SQLite and MySQL."""
    create(depot, "UUIDField()", **UUID_KEY)
    before = keys(depot)
    gone = uuid.uuid4()
    tag(depot, kind, [*before, gone])
    stored = lengths()
    if stored == {32}:
        execute("UPDATE depot_tagged SET object_id = UPPER(object_id) WHERE id = 1")
    small.write_move(depot, options=OLD_UUID, generic=[GENERIC])
    depot.migrate()
    known = by_old(depot)
    assert texts_of(depot) == [*(known[each] for each in before), gone]
    assert lengths() == stored
    depot.migrate("0001_step")
    assert texts_of(depot) == [*before, gone]
    assert lengths() == stored


def test_keys_that_stay_as_they_are(depot, kind):
    key = "UUIDField(primary_key=True, default=get('uuid7').generate)"
    create(depot, key=key, before="from django_sortable_ids.schemes import get\n")
    before = [*map(str, keys(depot)), "gone"]
    tag(depot, kind, before)
    kept = OLD_UUID.replace('created_from="created_at"', 'convert_from="id"')
    small.write_move(depot, options=kept, generic=[GENERIC])
    depot.migrate()
    assert texts_of(depot) == before == [*map(str, by_old(depot).values()), "gone"]


def test_uuids_become_no_numbers(depot, kind):
    create(depot, "UUIDField()", **UUID_KEY)
    tag(depot, kind, keys(depot))
    small.write_move(depot, "SnowflakeField(primary_key=True)", options=OLD_UUID, generic=[GENERIC])
    with pytest.raises(BackfillError, match="no room: take back"):
        depot.migrate()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="its numbers have 64 bits")
@pytest.mark.parametrize("column", ["IntegerField()", "PositiveIntegerField()"])
def test_numbers_of_32_bits_are_no_room(depot, kind, column):
    create(depot, column)
    tag(depot, kind, keys(depot))
    small.write_move(depot, "SnowflakeField(primary_key=True)", generic=[GENERIC])
    with pytest.raises(
        BackfillError,
        match=r"5 rows .* no room: take back .*, make it BigIntegerField, ",
    ):
        depot.migrate()


def test_numbers_become_numbers(depot, kind):
    create(depot, "PositiveBigIntegerField()")
    before = keys(depot)
    tag(depot, kind, [*before, 99])
    small.write_move(depot, "SnowflakeField(primary_key=True)", generic=[GENERIC])
    depot.migrate()
    known = by_old(depot)
    assert texts_of(depot) == [*(known[each] for each in before), 99]
    depot.migrate("0001_step")
    assert texts_of(depot) == [*before, 99]


CODES = """
from itertools import count

numbers = count(1)


def code():
    return f"Code{next(numbers)}"
"""
OLD_CODE = (
    'created_from="created_at", old=CharField(max_length=9, null=True, unique=True, editable=False)'
)


@pytest.mark.skipif(connection.vendor != "mysql", reason="its texts are equal in all cases")
def test_texts_in_another_case(depot, kind):
    create(depot, key="CharField(max_length=9, primary_key=True, default=code)", before=CODES)
    tag(depot, kind, ["CODE1", "code2", "Code3", "code"])
    small.write_move(depot, options=OLD_CODE, generic=[GENERIC])
    depot.migrate()
    known = by_old(depot)
    assert texts_of(depot) == [*(str(known[f"Code{n}"]) for n in (1, 2, 3)), "code"]


KINDS = [
    "UUIDv7Field(primary_key=True)",
    'UUIDv7Field(primary_key=True, storage="binary")',
    'UUIDv7Field(primary_key=True, storage="char32")',
    'UUIDv7Field(primary_key=True, storage="char36")',
    "ULIDField(primary_key=True)",
    'ULIDField(primary_key=True, storage="char")',
    "KSUIDField(primary_key=True)",
    "SnowflakeField(primary_key=True)",
    "TSIDField(primary_key=True)",
]


@pytest.mark.parametrize("field", KINDS)
def test_texts_are_those_of_the_keys(depot, kind, field, monkeypatch):
    monkeypatch.setattr(texts, "_TEXTS", 2)
    create(depot)
    before = keys(depot)
    tag(depot, kind, [*map(str, before), "gone"])
    small.write_move(depot, field, generic=[GENERIC])
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    known = by_old(depot)
    assert texts_of(depot) == [*(str(known[each]) for each in before), "gone"]
    depot.migrate("0001_step")
    assert keys(depot) == before
    assert texts_of(depot) == [*map(str, before), "gone"]
