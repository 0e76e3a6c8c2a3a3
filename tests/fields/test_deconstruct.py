"""Fields in migrations: written down, read back, and found unchanged."""

import copy
from itertools import cycle

import pytest
from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.graph import MigrationGraph
from django.db.migrations.questioner import MigrationQuestioner
from django.db.migrations.state import ProjectState
from django.db.migrations.writer import MigrationWriter, OperationWriter

from django_sortable_ids import fields
from django_sortable_ids.schemes.catalog import options_of
from tests.combinations import in_one_case
from tests.field_classes import CLASSES

OF_ALL = [
    {},
    {"primary_key": True},
    {"unique": True, "null": True, "blank": True},
    {"db_index": True},
    {"prefix": "ord"},
    {"prefix": "ord", "separator": ":"},
    {"prefix": "ord", "previous_prefixes": ["order", ""]},
    {"separator": ":"},
    {"editable": True},
    {"verbose_name": "Number"},
    {"db_column": "code", "help_text": "Help", "serialize": False, "db_comment": "Comment"},
    {"error_messages": {"invalid": "No."}},
]
OF_EACH = {
    fields.UUIDv7Field: [
        {"encoding": "base58"},
        {"storage": "binary"},
        {"storage": "char36"},
        {"accept_other_versions": True},
        {"masked": True},
    ],
    fields.UUIDv6Field: [{"encoding": "hex"}, {"storage": "char32"}],
    fields.CombV13UUIDField: [{"encoding": "sqlserver"}, {"storage": "uuid"}],
    fields.ULIDField: [
        {"storage": "char", "db_collation": "C"},
        {"storage": "varchar", "max_length": 40},
        {"storage": "uuid"},
    ],
    fields.CUIDField: [{"storage": "varchar", "max_length": 30}],
    fields.HexULIDField: [{"storage": "binary"}, {"epoch_ms": 946_684_800_000}],
    fields.KUUIDField: [
        {"precision": "ms"},
        {"reverse": True},
        {"short": True},
        {"epoch_ms": 1_514_764_800_000},
        {"precision": "ms", "reverse": True, "short": True, "prefix": "order"},
        {"storage": "binary"},
    ],
    fields.KSUIDField: [{"precision": "ms"}, {"storage": "char"}],
    fields.SonyflakeField: [
        {"version": 1},
        {"epoch_ms": 0},
        {"sequence_bits": 10, "worker_bits": 12},
    ],
    fields.TSIDField: [
        {"node_bits": 0},
        {"epoch_ms": 0},
        {"encoding": "base32"},
        {"encoding": "decimal"},
    ],
    fields.SnowflakeField: [
        {"layout": "discord"},
        {"layout": "unique_rowid", "worker_bits": 0},
        {"epoch_ms": 1_420_070_400_000},
        {"time_bits": 42, "worker_bits": 5},
        {"bits": 53},
        {"encoding": "base62"},
    ],
    fields.Time64Field: [{"layout": "3+6"}, {"workers": 100}, {"layout": "3+6", "workers": 1000}],
    fields.LexicalSequenceField: [
        {"charset": "numeric"},
        {"charset": "xyz"},
        {"width": 4},
        {"start": "1000", "charset": "numeric", "step": 7},
        {"ignore_case": True},
        {"max_length": 8},
        {"template": "INV-{year}-{number}", "width": 5, "charset": "numeric"},
    ],
}
FIELDS = CLASSES
PLAIN, SEQUENCE = fields.UUIDv7Field, fields.LexicalSequenceField


def _cases():
    """Every option of its own with every class, and with it one of those that all have, in turn:
    these are the business of the base, and so they all meet the plain class, and the one that has
    another base.
    """
    in_turn = cycle(OF_ALL)
    for field_class in FIELDS:
        own = OF_EACH.get(field_class, [])
        of_all = OF_ALL if field_class in (PLAIN, SEQUENCE) else [{}, next(in_turn)]
        for options in [*of_all, *own, *({**next(in_turn), **each} for each in own)]:
            yield pytest.param(field_class, options, id=f"{field_class.__name__} {options}")
    automatic = "UUIDv7AutoField", "ULIDAutoField", "SnowflakeAutoField", "Time64AutoField"
    for field_class in (getattr(fields, name) for name in automatic):
        options = {"primary_key": True, "prefix": "o"}
        yield pytest.param(field_class, options, id=f"{field_class.__name__} {options}")


def now():
    return ProjectState.from_apps(apps)


def changes(before, after):
    """What makemigrations writes for the test app."""
    questioner = MigrationQuestioner(specified_apps={"testapp"})
    found = MigrationAutodetector(before, after, questioner).changes(MigrationGraph())
    return [operation for each in found.get("testapp", []) for operation in each.operations]


def written_and_read(field):
    """What a migration file makes of the field."""
    source, imports = MigrationWriter.serialize(field)
    assert not [line for line in imports if "django_sortable_ids.fields." in line]
    namespace = {}
    exec("\n".join([*imports, f"field = {source}"]), namespace)
    return namespace["field"]


def same(field, other):
    return (
        field.deconstruct()[1:] == other.deconstruct()[1:]
        and field.scheme == other.scheme
        and vars(field.public_text) == vars(other.public_text)
    )


def test_every_field_with_options_of_its_own_is_here():
    assert {field for field in FIELDS if options_of(field.scheme_name)} <= set(OF_EACH)
    assert set(OF_EACH) <= set(FIELDS)


@in_one_case(("field_class", "options"), _cases())
def test_deconstructed_copied_and_written_to_a_migration(field_class, options):
    field = field_class(**options)
    _, path, args, kwargs = field.deconstruct()
    assert path == f"django_sortable_ids.fields.{field_class.__name__}"
    assert args == []
    assert kwargs == options
    others = field_class(*args, **kwargs), field.clone(), copy.copy(field), copy.deepcopy(field)
    for other in others:
        assert same(other, field)
        assert (other.editable, other.primary_key, other.unique) == (
            field.editable,
            field.primary_key,
            field.unique,
        )
    assert same(written_and_read(field), field)


def test_options_that_say_the_usual_are_left_out():
    field = fields.KUUIDField(precision="s", reverse=False, short=False, prefix=None, separator="_")
    assert field.deconstruct()[3] == {}
    assert fields.LexicalSequenceField(charset="alnum_upper", step=1).deconstruct()[3] == {}
    assert fields.SnowflakeField(layout="twitter", epoch_ms=None).deconstruct()[3] == {}
    assert fields.SonyflakeField(version=2).deconstruct()[3] == {}


def test_the_autodetector_finds_no_changes():
    """In what it has written itself, for all models of the tests."""
    state = now()
    for key in [key for key in state.models if key[0] == "testapp"]:
        state.remove_model(*key)
    for operation in changes(state, now()):
        source, imports = OperationWriter(operation, indentation=0).serialize()
        namespace = {}
        lines = ["from django.db import migrations, models", *sorted(imports)]
        exec("\n".join([*lines, f"operation = {source.rstrip().rstrip(',')}"]), namespace)
        namespace["operation"].state_forwards("testapp", state)
    assert set(state.models) == set(now().models)
    assert changes(state, now()) == []
