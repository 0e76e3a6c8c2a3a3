"""The move of all keys that have a field for the old one, with every column that refers to them."""

from django.apps import apps
from django.db import migrations

from django_sortable_ids.operations import MigratePrimaryKey, MovedKey
from tests.key_moves.content import references

SOURCES = {
    "User": {"created_from": "date_joined"},
    "Customer": {"created_from": "created_at"},
    "Club": {"created_at": "now"},
    "Order": {"created_from": "customer__created_at"},
    "Parcel": {"created_from": "sent_at"},
    "Event": {"convert_from": "id"},
    "Scan": {"convert_from": "id"},
}
"""Where the times of their new keys come from."""
MODELS = [apps.get_model("graph", name) for name in SOURCES]
LABELS = {(model._meta.db_table, "id"): model._meta.label for model in MODELS}


def moved(model):
    new, old = (model._meta.get_field(name).clone() for name in ("id", "old_id"))
    return MovedKey(model._meta.label, "id", new, old=old, **SOURCES[model.__name__])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("django_sortable_ids", "0001_initial"),
        ("graph", "0002_of_the_database"),
    ]
    operations = [
        MigratePrimaryKey(
            keys=[moved(model) for model in MODELS],
            allowed=["graph_*"],
            references=sorted(
                (*column, LABELS[target]) for column, target in references() if target in LABELS
            ),
            generic=[
                ("django_admin_log", "object_id", "content_type_id"),
                ("graph_comment", "object_id", "content_type_id"),
            ],
        ),
    ]
