"""What the tests of the backfill share: rows without ids, runs, and what came out of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, connections, models

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.engines.mysql import MySQL
from django_sortable_ids.backfill.engines.postgresql import PostgreSQL
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.backfill.sources.target import Target
from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.fields.times import aware
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.schemes import TimeScheme
from tests import support
from tests.testapp.models import Order

START = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)

FIELDS = [each.name for each in Order._meta.fields if isinstance(each, SortableIDField)]
"""One of every scheme, and a reversed one."""
TIMED = [name for name in FIELDS if isinstance(Order._meta.get_field(name).scheme, TimeScheme)]

KINDS = ["uuid7", "reversed_kuuid", "snowflake", "number"]
"""A UUID, a text whose newest is first, an integer and a sequence: for what depends on no more."""
each_kind = pytest.mark.parametrize("name", KINDS)
each_kind_with_time = pytest.mark.parametrize("name", KINDS[:-1])


def own_models() -> Iterator[type[models.Model]]:
    """Those of the app."""
    return apps.get_app_config("django_sortable_ids").get_models()


def insert(
    model: type[models.Model], rows: Sequence[dict[str, Any]], using: str = "default"
) -> None:
    """Insert rows with the same columns each, as old code does, which knows nothing of ids."""
    connection = connections[using]
    quote = connection.ops.quote_name
    fields = [model._meta.get_field(name) for name in rows[0]]
    columns = ", ".join(quote(field.column) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    stored = [
        [field.get_db_prep_save(row[field.name], connection) for field in fields] for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({places})", stored
        )


def insert_orders(times: Sequence[datetime | None], using: str = "default", **same: Any) -> None:
    """Insert an order for each time, in that order of keys."""
    insert(Order, [{"name": "", "created_at": at, **same} for at in times], using)


def label(name: str) -> str:
    """Of a field of ``Order``, or what already is a label."""
    return name if "." in name else f"testapp.Order.{name}"


def find(name: str, using: str = "default", created_from: str | None = "created_at") -> Target:
    given = {"created_from": created_from} if created_from else {}
    return find_target(label(name), given, using)


def build(name: str, batch_size: int = 5000, using: str = "default") -> plan.Plan:
    return plan.build(find(name, using), batch_size)


def statements_of(planned: plan.Plan) -> list[str]:
    """Whatever writes its rows."""
    return [statement for _, statement in planned.writer.shown_statements]


def fill(
    name: str,
    batch_size: int = 5000,
    progress: Callable[[int], None] = lambda _: None,
    using: str = "default",
) -> run.Result:
    return run.execute(build(name, batch_size, using), progress)


def in_python(monkeypatch: Any) -> None:
    """Have the ids generated in Python, as where the database can't generate them."""
    for engine in (MySQL, PostgreSQL):
        monkeypatch.setattr(engine, "computes", False)


def saved_run(name: str, using: str = "default") -> BackfillRun:
    return BackfillRun.objects.using(using).get(target=label(name))


# What came out, read without the code that wrote it.


def rows(name: str, using: str = "default") -> models.QuerySet[Any]:
    """The rows in the order of (creation time, key)."""
    model = apps.get_model(*label(name).split(".")[:2])
    return models.QuerySet(model, using=using).order_by("created_at", "pk")


def field_of(name: str) -> SortableIDField:
    return rows(name).model._meta.get_field(label(name).split(".")[2])


def ids(name: str, using: str = "default") -> list[Any]:
    return list(rows(name, using).values_list(field_of(name).name, flat=True))


def ids_by_key(name: str) -> dict[Any, Any]:
    return dict(rows(name).values_list("pk", field_of(name).name))


def count_filled(name: str) -> int:
    return sum(value is not None for value in ids(name))


def ranks(name: str, using: str = "default") -> list[int]:
    """A number for each id, which ascends with time."""
    scheme = field_of(name).scheme
    sign = -1 if getattr(scheme, "descending", False) else 1
    return [sign * scheme.to_int(value) for value in ids(name, using)]


def ascends(values: Sequence[Any]) -> bool:
    return all(one < other for one, other in pairwise(values))


def is_strict(name: str, using: str = "default") -> bool:
    """Whether every row has an id, strictly in order."""
    return ascends(ranks(name, using))


def times_are_right(name: str, using: str = "default") -> bool:
    """Whether the time of every id is that of its row, floored to the scheme's tick."""
    scheme = field_of(name).scheme
    pairs = rows(name, using).values_list("created_at", field_of(name).name)
    return all(scheme.parts(value)[0] == scheme.tick(aware(created)) for created, value in pairs)


def assert_ascends(name: str, places: Sequence[tuple[datetime, Any, Any]]) -> None:
    """Rows of (time, key, id): each id has its time, and they ascend as (time, key)."""
    scheme, places = field_of(name).scheme, sorted(places, key=lambda row: row[:2])
    if isinstance(scheme, TimeScheme):
        assert all(scheme.parts(value)[0] == scheme.tick(at) for at, _, value in places)
    sign = -1 if getattr(scheme, "descending", False) else 1
    assert ascends([sign * scheme.to_int(value) for _, _, value in places])


def after_batch(number: int, action: Callable[[], object]) -> Callable[[int], None]:
    """What does it after the batch of that number."""
    batches = 0

    def progress(filled: int) -> None:
        nonlocal batches
        batches += 1
        if batches == number:
            action()

    return progress


def concurrently(batch: int, action: Callable[[], object]) -> Callable[[int], None]:
    """As ``after_batch``, on another connection."""
    return after_batch(batch, lambda: support.elsewhere(action))


class Stop(Exception):
    """Somebody pulls the plug."""


def stop_after(batches: int) -> Callable[[int], None]:
    def stop() -> None:
        raise Stop

    return after_batch(batches, stop)


# The command


def command(*arguments: str, **options: Any) -> list[str]:
    """The lines that the command prints; a field of ``Order`` may be named without its model."""
    return support.printed("backfill_ids", *_labels(arguments), **options).splitlines()


def refusal(*arguments: str, **options: Any) -> str:
    """The error that the command ends with."""
    return support.refusal("backfill_ids", *_labels(arguments), **options)


def _labels(arguments: Sequence[str]) -> list[str]:
    return [label(each) if each in FIELDS else each for each in arguments]


# Tables that no migration has made, and models of them, for as long as a test needs both


TIME = {"postgresql": "timestamptz", "mysql": "datetime(6)", "sqlite": "datetime"}
KEY = {
    "postgresql": "bigint PRIMARY KEY",
    "mysql": "bigint PRIMARY KEY",
    "sqlite": "integer PRIMARY KEY",
}


@contextmanager
def in_registry(*names: str) -> Iterator[None]:
    """Have the models of these names, which the block defines in the app ``shop``, forgotten."""
    try:
        yield
    finally:
        for name in names:
            apps.all_models["shop"].pop(name.lower(), None)
        apps.clear_cache()


def define(name: str, table: str, managed: bool = True, **fields: Any) -> type[models.Model]:
    """A model of the app ``shop``."""
    meta = type("Meta", (), {"app_label": "shop", "db_table": table, "managed": managed})
    content = {"Meta": meta, "__module__": "tests.backfill.shop.models", **fields}
    return type(name, (models.Model,), content)


@contextmanager
def legacy_table(
    name: str, table: str, columns: str, rows: Sequence[Any] = (), to: str = "", **fields: Any
) -> Iterator[type[models.Model]]:
    """A table that was written by hand, with these rows in the columns ``to``, and its model."""
    quoted = connection.ops.quote_name(table)
    support.execute(f"CREATE TABLE {quoted} ({columns})")
    try:
        if rows:
            insert_into(quoted.replace("%", "%%"), rows, to)
        with in_registry(name):
            yield define(name, table, managed=False, **fields)
    finally:
        support.execute(f"DROP TABLE {quoted}")


def insert_into(table: str, rows: Sequence[Any], columns: str) -> None:
    places = ", ".join(["%s"] * len(rows[0]))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


def naive(at: datetime) -> datetime | str:
    """A time as raw SQL has it: MariaDB, MySQL and SQLite have no zones."""
    if connection.vendor == "postgresql":
        return at
    return str(at.replace(tzinfo=None))


def sortable(model: type[models.Model]) -> SortableIDField:
    return next(each for each in model._meta.fields if isinstance(each, SortableIDField))
