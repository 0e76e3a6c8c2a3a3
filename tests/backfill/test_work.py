"""A row takes as much work in a large table as in a small one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from django_sortable_ids.backfill import verify, writer
from django_sortable_ids.backfill.sources import target
from tests.support import execute

from .shop.models import PairKey
from .support import SECOND, START, fill, find, insert, rows

pytestmark = pytest.mark.django_db

FEW, MANY = 100, 600
BATCH = 20
EVERY = 100
"""So many of SQLite's instructions are a step: to count each one takes long."""
LABELS = [
    "shop.Adopted.public_id",
    "shop.PairKey.public_id",
]


class Work:
    """Steps of the database's so far: rows that it read, on SQLite its own instructions."""

    def __init__(self) -> None:
        self._steps = 0

    @property
    def steps(self) -> int:
        if connection.vendor == "sqlite":
            return self._steps
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(
                    "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables"
                )
                return int(cursor.fetchone()[0])
            cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
            return sum(int(count) for _, count in cursor.fetchall())

    def __enter__(self) -> "Work":
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(self._step, EVERY)
        return self

    def __exit__(self, *_: object) -> None:
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(None, EVERY)

    def _step(self) -> None:
        self._steps += 1


def steps_of(action: Callable[[], object]) -> int:
    with Work() as work:
        before = work.steps
        action()
        return work.steps - before


@pytest.fixture
def large_tables() -> Iterator[None]:
    """As the planner takes them for: it would rather read small ones as a whole."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        yield


def table(label: str, count: int) -> None:
    model = apps.get_model(*label.split(".")[:2])
    model.objects.all().delete()
    values = [{"created_at": START + i // 3 * SECOND} for i in range(count)]
    if model is PairKey:
        values = [{**each, "shop": i // 7, "number": i} for i, each in enumerate(values)]
    insert(model, values)
    if connection.vendor != "mysql":  # where it would end the transaction, and InnoDB counts itself
        execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def of_a_run(label: str, _: int) -> int:
    return steps_of(lambda: fill(label, BATCH))


def of_verifying(label: str, _: int) -> int:
    fill(label)
    return steps_of(lambda: verify.verify(find(label)))


def of_late_rows(label: str, count: int) -> int:
    fill(label)
    late = [row.pk for row in rows(label)[: count - 1 : 4]]
    rows(label).filter(pk__in=late).update(public_id=None)
    return steps_of(lambda: fill(label))


@pytest.mark.parametrize("work", [of_a_run, of_verifying, of_late_rows])
@pytest.mark.parametrize("label", LABELS)
def test_a_row_takes_as_much_in_a_large_table_as_in_a_small_one(
    label: str, work: Callable[[str, int], int], large_tables: None, monkeypatch: Any
) -> None:
    monkeypatch.setattr(target, "PAGE", BATCH)
    monkeypatch.setattr(writer, "LATE_ROWS", BATCH // 4)
    steps = []
    for count in (FEW, MANY):
        table(label, count)
        steps.append(work(label, count) / count)
    assert steps[1] < 1.4 * steps[0]
