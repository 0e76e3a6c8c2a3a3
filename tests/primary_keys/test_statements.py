"""The statements that ``sqlmigrate`` and the plan show are those that a migration executes."""

import re
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from tests.marks import own_tables

from . import small

pytestmark = own_tables
_READS = re.compile(
    r"(?:--|SELECT(?! setval)|SHOW|SET |DESCRIBE|EXPLAIN|WITH|BEGIN|COMMIT|SAVEPOINT|RELEASE|"
    r"CHECKSUM|PRAGMA (?!legacy)|INSERT INTO sorted_rows|"
    r"INSERT INTO .sortable_ids_next__|UPDATE .?sortable_ids_next__)"
)
"""Also what fills the new keys, which a comment tells: it depends on the rows."""
_NEXT = re.compile("sortable_ids_next__")
_OWN = re.compile(r"django_sortable_ids_|django_migrations|django_content_type|sorted_rows|auth_")
MORE = """\
CreateModel("Gift", [
    ("id", BigAutoField(primary_key=True)),
    ("to", ManyToManyField("depot.Customer", related_name="+")),
    ("of", ForeignKey("depot.Customer", CASCADE, null=True, related_name="+")),
]),
"""
VIEW = 'RunSQL("CREATE VIEW depot_names AS SELECT id, name FROM depot_customer"),'
TRIGGER = (
    'RunSQL("CREATE TRIGGER depot_trigger BEFORE INSERT ON depot_customer FOR EACH ROW '
    'SET NEW.name = \'x\'", reverse_sql="DROP TRIGGER depot_trigger"),'
)


@contextmanager
def logged():
    """The statements that change something, other than rows of this package and of migrations."""
    found = []

    def note(execute, sql, params, many, context):
        if not _READS.match(sql.lstrip()) and not _OWN.search(sql):
            found.append(_plain(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield found


def _plain(sql):
    return sql.strip().rstrip(";")


def shown(depot, name, **options):
    out = StringIO()
    call_command("sqlmigrate", "depot", name, stdout=out, no_color=True, **options)
    return out.getvalue()


def statements(text):
    return [
        _plain(each)
        for each in re.sub(r"^--.*\n", "", text, flags=re.MULTILINE).split(";\n")
        if _plain(each) and not _READS.match(each.strip())
    ]


def moves(found):
    """Without what is tried at first, on tables without rows."""
    start = next(n for n, each in enumerate(found) if _NEXT.search(each))
    return found[start:]


TEXT_KEY = "CharField(max_length=36, primary_key=True, default=uuid.uuid4)"
OLD_TEXT = "CharField(max_length=36, null=True, unique=True, editable=False)"


@pytest.mark.parametrize(
    ("field", "key", "old"),
    [
        ("UUIDv7Field", "BigAutoField(primary_key=True)", small.OLD),
        ("KSUIDField", TEXT_KEY, OLD_TEXT),
        ("SnowflakeField", "BigAutoField(primary_key=True)", small.OLD),
    ],
)
def test_a_run_executes_what_was_shown(depot, field, key, old):
    more = {"postgresql": VIEW, "mysql": TRIGGER}.get(connection.vendor, "")
    small.create(depot, key, MORE, before="import uuid\n")
    if more:
        depot.write(more)
        depot.migrate()
    name = small.write_move(
        depot,
        field=f"{field}(primary_key=True)",
        options=f'created_from="created_at", old={old}',
        references=[
            small.REFERENCE,
            ("depot_gift_to", "customer_id", "depot.Customer"),
            ("depot_gift", "of_id", "depot.Customer"),
        ],
        more="allowed=['*'],",
    )
    with logged() as nothing:
        expected = statements(shown(depot, name))
    assert nothing == []
    with logged() as found:
        depot.migrate()
    assert moves(found) == expected
    assert any("depot_gift_to" in each for each in expected)
    before = f"{len(depot.names) - 1:04}_step"
    with logged() as nothing:
        expected = statements(shown(depot, name, backwards=True))
    assert nothing == []
    with logged() as found:
        depot.migrate(before)
    assert found[-len(expected) :] == expected


def test_an_undo_after_the_old_keys_were_forgotten(depot, small_move):
    depot.migrate()
    depot.write('RemoveField("customer", "old_id"),')
    depot.migrate()
    text = shown(depot, "0002_step", backwards=True)
    assert "-- The statements depend on depot_customer.old_id, which doesn't exist" in text
    assert statements(text) == []
