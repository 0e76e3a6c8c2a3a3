"""``bulk_create()`` and reading, next to Django's ``UUIDField(default=uuid.uuid4)``.

Each line compares a key with it. ``bulk_create()`` makes the objects, with their ids, and inserts
them all; rows that are read, from the database and as a REST list, refer to as many others. REST
framework leaves the UUID of a relation to its renderer, which writes its text; so the list is
measured with the renderer, too. A round times each of the keys once, in turns another one first.
Shown are medians of the rounds and of their ratios, and the lowest and highest ratio. A profile of
one more ``bulk_create()`` says what part of its time goes to this package.

Run it as ``python -m tests.benchmarks.rows``.
"""

import argparse
import uuid
from collections.abc import Callable, Iterator
from cProfile import Profile
from functools import partial
from pstats import Stats
from statistics import median
from typing import Any

from django.db import models
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import ModelSerializer

from django_sortable_ids import fields

from .support import Row, heading, in_turns, markdown, ratios, seconds, table_of

DJANGOS = "UUIDField"
KEYS: dict[str, Any] = {
    DJANGOS: partial(models.UUIDField, default=uuid.uuid4),
    "UUIDv7Field": fields.UUIDv7Field,
    "UUIDv7AutoField": fields.UUIDv7AutoField,
    "ULIDField": fields.ULIDField,
    "KSUIDField": fields.KSUIDField,
    "SnowflakeField": fields.SnowflakeField,
}


def model_of(name: str, *bases: type[models.Model], **attributes: Any) -> Any:
    meta = type("Meta", (), {"app_label": "benchmarks"})
    given = {"__module__": __name__, "Meta": meta, **attributes}
    return type(name, bases or (models.Model,), given)


class Key:
    """A model with a key, and one that refers to it."""

    def __init__(self, name: str) -> None:
        key = partial(KEYS[name], primary_key=True)
        self.target = model_of(f"{name}Target", Row, id=key())
        to_target = models.ForeignKey(self.target, models.CASCADE)
        self.model = model_of(f"{name}Row", id=key(), target=to_target)
        meta = type("Meta", (), {"model": self.model, "fields": ["id", "target"]})
        self.serializer = type("Serializer", (ModelSerializer,), {"Meta": meta})

    def bulk_create(self, rows: int) -> Any:
        made = (self.target(name="row of a benchmark", amount=number) for number in range(rows))
        return self.target.objects.bulk_create(made)

    def fill(self, rows: int) -> None:
        targets = self.bulk_create(rows)
        self.model.objects.bulk_create(self.model(target=each) for each in targets)

    def values(self) -> Any:
        return list(self.model.objects.values_list("id", flat=True))

    def instances(self) -> Any:
        return list(self.model.objects.all())

    def rest_list(self) -> Any:
        return self.serializer(self.model.objects.all(), many=True).data

    def rest_answer(self) -> Any:
        return JSONRenderer().render(self.rest_list())


READING: dict[str, Callable[[Key], Any]] = {
    "`values_list()`": Key.values,
    "instances": Key.instances,
    "REST list": Key.rest_list,
    "REST list in JSON": Key.rest_answer,
}


def inserting(key: Key, rows: int) -> float:
    """The seconds of one run, into an empty table."""
    key.target.objects.all().delete()
    return seconds(partial(key.bulk_create, rows))


def compared(rows: int, rounds: int) -> str:
    keys = {name: Key(name) for name in KEYS}
    with table_of(*(model for key in keys.values() for model in (key.target, key.model))):
        inserted = in_turns([*keys.values()], rounds, lambda key: inserting(key, rows))
        lines, profile = [*lines_of("`bulk_create()`", inserted)], shares(keys["UUIDv7Field"], rows)
        for key in keys.values():
            key.target.objects.all().delete()
            key.fill(rows)
        for title, read in READING.items():
            works = [partial(read, key) for key in keys.values()]
            lines += lines_of(title, in_turns(works, rounds))
    columns = [f"{rows:,} rows", "`UUIDField`", "here", "ratio", "from"]
    return f"{markdown(columns, lines)}\n{profile}"


def lines_of(title: str, measured: list[list[float]]) -> Iterator[list[str]]:
    found = dict(zip(KEYS, measured, strict=True))
    djangos = found.pop(DJANGOS)
    for name, ours in found.items():
        of_rounds = ratios(ours, djangos)
        yield [
            f"{title}, `{name}`",
            f"{median(djangos) * 1000:.1f} ms",
            f"{median(ours) * 1000:.1f} ms",
            f"{median(of_rounds):.2f}",
            f"{min(of_rounds):.2f} to {max(of_rounds):.2f}",
        ]


def shares(key: Key, rows: int) -> str:
    """What part of a profiled run each method of the field takes, with all that it calls."""
    with Profile() as profile:
        inserting(key, rows)
    stats: Any = Stats(profile)
    lines = [
        [f"`{name}`", f"{cumulative / stats.total_tt:.1%}"]
        for (file, _, name), (_, _, _, cumulative, _) in stats.stats.items()
        if "django_sortable_ids/fields/" in file
        and name in ("get_default", "pre_save", "get_db_prep_save")
    ]
    return markdown(["In the field", "share of a profiled run"], sorted(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000, help="100,000 for bulk_create()")
    parser.add_argument("--rounds", type=int, default=51)
    options = parser.parse_args()
    table = compared(options.rows, options.rounds)
    print(heading(f"Medians of {options.rounds} rounds"))
    print(table)


if __name__ == "__main__":
    main()
