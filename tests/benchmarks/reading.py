"""Reading ids: from the database, and as a REST list of rows with a relation.

Each line compares a key with a ``UUIDField`` of Django, in a table whose rows refer to as many
others. REST framework leaves the UUID of a relation to its renderer, which writes its text; so the
list is measured with the renderer, too. A round times each of the keys once. Shown are medians of
the rounds and of their ratios.

Run it as ``python -m tests.benchmarks.reading``.
"""

import argparse
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

from django.db import models
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import ModelSerializer

from django_sortable_ids.fields import (
    KSUIDField,
    SnowflakeField,
    ULIDField,
    UUIDv7AutoField,
    UUIDv7Field,
)

from .support import heading, in_turns, markdown, ratios, table_of

KEYS: dict[str, Any] = {
    "UUIDField": lambda: models.UUIDField(primary_key=True, default=uuid.uuid4),
    "UUIDv7Field": lambda: UUIDv7Field(primary_key=True),
    "UUIDv7AutoField": lambda: UUIDv7AutoField(primary_key=True),
    "ULIDField": lambda: ULIDField(primary_key=True),
    "KSUIDField": lambda: KSUIDField(primary_key=True),
    "SnowflakeField": lambda: SnowflakeField(primary_key=True),
}


def model_of(name: str, **fields: Any) -> Any:
    meta = type("Meta", (), {"app_label": "benchmarks"})
    return type(name, (models.Model,), {"__module__": __name__, "Meta": meta, **fields})


class Key:
    """A model with a key, and one that refers to it."""

    def __init__(self, name: str) -> None:
        self.target = model_of(f"{name}Target", id=KEYS[name]())
        to_target = models.ForeignKey(self.target, models.CASCADE)
        self.model = model_of(f"{name}Row", id=KEYS[name](), target=to_target)
        meta = type("Meta", (), {"model": self.model, "fields": ["id", "target"]})
        self.serializer = type("Serializer", (ModelSerializer,), {"Meta": meta})

    def fill(self, rows: int) -> None:
        targets = self.target.objects.bulk_create(self.target() for _ in range(rows))
        self.model.objects.bulk_create(self.model(target=each) for each in targets)

    def values(self) -> Any:
        return list(self.model.objects.values_list("id", flat=True))

    def instances(self) -> Any:
        return list(self.model.objects.all())

    def rest_list(self) -> Any:
        return self.serializer(self.model.objects.all(), many=True).data

    def rest_answer(self) -> Any:
        return JSONRenderer().render(self.rest_list())


MEASURED: dict[str, Callable[[Key], Any]] = {
    "`values_list()`": Key.values,
    "instances": Key.instances,
    "REST list": Key.rest_list,
    "REST list in JSON": Key.rest_answer,
}


def compared(rows: int, rounds: int) -> str:
    keys = {name: Key(name) for name in KEYS}
    with table_of(*(model for key in keys.values() for model in (key.target, key.model))):
        for key in keys.values():
            key.fill(rows)
        lines = [line for title in MEASURED for line in lines_of(title, keys, rounds)]
    return markdown([f"{rows:,} rows", "`UUIDField`", "here", "ratio"], lines)


def lines_of(title: str, keys: dict[str, Key], rounds: int) -> Iterator[list[str]]:
    works = [partial(MEASURED[title], key) for key in keys.values()]
    found = dict(zip(keys, in_turns(works, rounds), strict=True))
    djangos = found.pop("UUIDField")
    for name, ours in found.items():
        yield [
            f"{title}, `{name}`",
            f"{median(djangos) * 1000:.1f} ms",
            f"{median(ours) * 1000:.1f} ms",
            f"{median(ratios(ours, djangos)):.2f}",
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=51)
    options = parser.parse_args()
    table = compared(options.rows, options.rounds)
    print(heading(f"Medians of {options.rounds} rounds"))
    print(table)


if __name__ == "__main__":
    main()
