"""For tests: ids that are the same in every run, and numbers that stand for ids.

``pytest_plugins = ["django_sortable_ids.testing"]`` in the root ``conftest.py`` gives pytest two
fixtures. PYTEST_DONT_REWRITE: a ``conftest.py`` may import the module, too.
"""

import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

from django.core.exceptions import ValidationError
from django.db import models

from .fields import SortableIDField
from .fields.of_model import id_field
from .schemes import ID, InvalidID, LexicalSequence, TimeScheme
from .schemes.clock_and_randomness import Sources, unix_ns
from .schemes.generator import replaced_sources

__all__ = ["IDClock", "deterministic_ids", "id_for_number", "integer_fixtures"]

_FIRST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_NUMBER = re.compile("[0-9]{1,9}")


class IDClock:
    """The time of new ids: it stands still until it is set, and may be set back."""

    _at: datetime | None = None

    def move_to(self, at: datetime) -> None:
        """Set the time of new ids to ``at``, an aware datetime."""
        unix_ns(at)  # rejects a naive time now, not at the next id
        self._at = at

    def move_by(self, step: timedelta) -> None:
        """Move the time of new ids by ``step``, backwards if it is negative."""
        self.move_to((self._at or datetime.now(UTC)) + step)

    def unix_ns(self) -> int:
        return time.time_ns() if self._at is None else unix_ns(self._at)


@contextmanager
def deterministic_ids(at: datetime | None = None, *, seed: int = 0) -> Iterator[IDClock]:
    """New ids of all schemes carry the time ``at`` (aware); ``seed`` determines their random bits.

    They increase as long as the clock does. Without ``at``, and until the clock is set, they carry
    the current time, which freezegun and time-machine may set. If the clock goes back, no id waits
    and none is refused. This affects the generators of the whole process, which resume afterwards
    where they were. So no other thread may generate ids concurrently.
    """
    clock = IDClock()
    if at is not None:
        clock.move_to(at)
    sources = Sources(
        clock=clock.unix_ns, below=random.Random(seed).randrange, travels=lambda: True
    )
    with replaced_sources(sources):
        yield clock


@contextmanager
def integer_fixtures() -> Iterator[None]:
    """Numbers of up to nine digits, such as ``"pk": 1`` in a fixture, stand for ids.

    The same number is always the same id, so keys and the relations to them match. This holds
    wherever a value is read: in fixtures, in queries such as ``get(pk=1)``, and in foreign keys. A
    number that is an id by itself, as in a ``SnowflakeField``, stays what it is. It affects the
    whole process.
    """
    read, is_canonical = SortableIDField._read, SortableIDField._is_canonical

    def read_number(field: SortableIDField, value: Any) -> Any:
        try:
            return read(field, value)
        except (InvalidID, TypeError):
            if isinstance(value, bool) or not _NUMBER.fullmatch(str(value)):
                raise
            return _numbered(field, int(value))

    def is_id(field: SortableIDField, value: object) -> bool:
        # Any integer is canonical, because save() rejects those that are no ids.
        return is_canonical(field, value) and (
            not isinstance(value, int) or field.scheme.holds(value)
        )

    with mock.patch.multiple(SortableIDField, _read=read_number, _is_canonical=is_id):
        yield


def id_for_number(model: type[models.Model], number: int, *, field: str | None = None) -> ID:
    """The id of the model that ``number`` stands for within ``integer_fixtures``.

    ``field`` names the id if it is not that of ``ids.public_id``. Raises ``SequenceExhausted`` if a
    sequence has no id of that number.
    """
    column = id_field(model, field)
    try:
        value: ID = column.to_python(number)
        return value
    except ValidationError:
        return _numbered(column, number)


def _numbered(field: SortableIDField, number: int) -> ID:
    """The first id of the second ``number`` from the year 2000 on; in a sequence, that number."""
    scheme = field.scheme
    if isinstance(scheme, LexicalSequence):
        return scheme.nth(number)
    assert isinstance(scheme, TimeScheme)
    tick = scheme.tick_from(max(_FIRST_TIME, scheme.earliest) + timedelta(seconds=number))
    return scheme.from_trusted(scheme.layout.between(tick, tick)[0])


if "pytest" in sys.modules:
    import pytest

    @pytest.fixture(name="deterministic_ids")
    def _deterministic_ids() -> Iterator[IDClock]:
        """New ids of 2026-01-01, with the same random bits in every run; the clock can be set."""
        with deterministic_ids(datetime(2026, 1, 1, tzinfo=UTC)) as clock:
            yield clock

    @pytest.fixture(scope="module", name="integer_fixtures")
    def _integer_fixtures() -> Iterator[None]:
        """Numbers stand for ids until the end of the module. It begins before the ``fixtures`` of a
        ``TestCase`` are loaded."""
        with integer_fixtures():
            yield
