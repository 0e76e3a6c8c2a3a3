"""The tables of before the move: those of the models, with the old keys instead of the new ones."""

from django.apps import apps
from django.db import migrations, models
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.state import ProjectState

COUNTED = {models.BigIntegerField: models.BigAutoField, models.IntegerField: models.AutoField}


def old_key(field):
    """The key that became the field for it."""
    _, _, args, options = field.deconstruct()
    left = {name: options[name] for name in options.keys() - {"null", "unique", "editable"}}
    return COUNTED.get(type(field), type(field))(*args, **left, primary_key=True)


def before():
    """The operations that create the tables."""
    state = ProjectState.from_apps(apps)
    for label, name in [key for key in state.models if key[0] == "graph"]:
        fields = state.models[label, name].fields
        if "old_id" in fields:
            fields["id"] = old_key(fields.pop("old_id"))
            fields["id"].name = "id"
    others = [key for key in state.models if key[0] != "graph"]
    empty = ProjectState({key: state.models[key] for key in others})
    created = MigrationAutodetector(empty, state)._detect_changes()["graph"]
    return [operation for each in created for operation in each.operations]


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = before()
