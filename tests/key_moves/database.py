"""The project's own database: its migrations, and rows as they are before the move."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

if TYPE_CHECKING:
    from .rows import Rows

BEFORE, AFTER = "0002", "0003"
_MIGRATIONS = ["django_sortable_ids", ("graph", BEFORE), "admin"]


def create() -> None:
    """Create the database with the migrations before the move; one of that name is dropped."""
    create_empty()
    for each in _MIGRATIONS:
        call_command("migrate", *([each] if isinstance(each, str) else each), verbosity=0)


def create_empty() -> None:
    """Create the database without tables; one of that name is dropped."""
    drop()
    if connection.vendor != "sqlite":
        with connection._nodb_cursor() as cursor:
            charset = " CHARACTER SET utf8mb4" if connection.vendor == "mysql" else ""
            name = connection.ops.quote_name(_name())
            cursor.execute(f"CREATE DATABASE {name}{charset}")


def drop() -> None:
    connection.close()
    if connection.vendor == "sqlite":
        Path(_name()).unlink(missing_ok=True)
        return
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.ops.quote_name(_name())}")


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def migrate(to: str) -> None:
    call_command("migrate", "graph", to, verbosity=0)


def state() -> Any:
    """The models of the migrations that are applied."""
    loader = MigrationLoader(connection)
    return loader.project_state(list(loader.applied_migrations)).apps


def insert(rows: "Rows") -> None:
    """Insert rows into the tables of before the move, which are emptied."""
    models = state()
    with connection.constraint_checks_disabled():
        with transaction.atomic():
            _empty(models)
            for name, found in rows.items():
                for model, values in _stored(models, name, found):
                    _save(model, values)
        connection.check_constraints()


def _save(model: Any, values: dict[str, Any]) -> None:
    if not {*values} - {each.attname for each in model._meta.fields}:
        model(**values).save_base(raw=True, force_insert=True)
        return
    # Migrations don't know the foreign keys of an unmanaged model.
    quote = connection.ops.quote_name
    names, places = ", ".join(map(quote, values)), ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        sql = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({places})"
        cursor.execute(sql, list(values.values()))


def _empty(models: Any) -> None:
    own = models.get_app_config("graph").get_models(include_auto_created=True)
    for model in (models.get_model("admin", "LogEntry"), *own):
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")


def _stored(models: Any, name: str, found: list[dict[str, Any]]) -> Iterator[Any]:
    """The model of each row, and the values of its fields."""
    name, _, many = name.partition(".")
    model = models.get_model("admin" if name == "LogEntry" else "graph", name)
    if many:
        yield from ((getattr(model, many).through, each) for each in found)
        return
    for row in found:
        values = dict(row)
        values[model._meta.pk.attname] = values.pop("pk")
        kind = values.pop("kind", None)
        if kind:
            wanted = {"app_label": "graph", "model": kind.lower()}
            values["content_type_id"] = ContentType.objects.get_or_create(**wanted)[0].pk
        match name:
            case "User":
                values["username"] = f"user {row['mark']}"
            case "Vip" | "GoldVip":
                del values["mark"]
            case "LogEntry":
                values |= {"action_flag": 1, "object_repr": str(values.pop("mark"))}
        yield model, values
