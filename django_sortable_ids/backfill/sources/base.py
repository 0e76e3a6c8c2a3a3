"""What all sources of creation times have in common.

A source is a subclass of ``Source``, each kind in one file. It owns the arguments that name it, the
order of the rows, their times, the ids that it knows, and what a plan and ``--verify`` expect.
``SOURCES`` in ``find.py`` lists those that ``find`` chooses; the others are for single callers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.sql import Query

from ...fields import SortableIDField
from ...functions.time_columns import TimeColumn, time_range
from ...schemes import ID, Scheme, TimeScheme
from ...schemes.clock_and_randomness import MICROSECOND, UNIX_EPOCH

if TYPE_CHECKING:
    from ...models import BackfillRun
    from ..verification import Page, StoredID
    from ..verify import Checker
    from .target import Target

Row = tuple[Any, Any]
"""Place and key."""


Given = dict[str, str]
"""The arguments that name a source, by their names. Runs and moves store them so."""


CREATED_FROM = {
    "metavar": "FIELD",
    "help": "the field with the rows' creation times: a DateTimeField or a DateField, also of a "
    "related row (order__created_at); or pk, with --start and --end",
}


def as_words(given: Given) -> str:
    """The arguments as they are written on the command line."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column to fill, the arguments that name its source, and its last run."""

    model: type[models.Model]
    """A model of the project, or of a migration's state."""
    field: SortableIDField
    using: str
    given: Given
    last: BackfillRun | None
    missing: QuerySet[Any]
    """The rows that need ids."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """How far an id may be from the time of its row, as ``--verify`` sees it."""

    earlier: timedelta = timedelta(minutes=1)
    """The application generates an id, and the creation time of its row, within this time."""
    later: timedelta = timedelta(minutes=1)
    about_times: str = "of their rows' times"
    """The text about the times if all is well; empty if they are not compared."""
    may_be_edited: bool = True
    """Whether an edit of times explains ids of another time."""


class _OuterJoins(Query):
    def is_nullable(self, field: models.Field[Any, Any]) -> bool:
        return True


@dataclass(frozen=True)
class Source(ABC):
    """Where the creation times of a table's rows come from.

    The *place* of a row is the value that its time is derived from, such as a time, an old id or a
    key. Every source in ``SOURCES`` has ``named_by``, ``between`` and ``load_place``; with an
    argument, ``arguments`` and ``options``, which a run stores to resume; ``at``, if its rows have
    times of their own; ``times``, if places are values of a ``DateTimeField``; ``known_ids``, if it
    knows them; ``check_places``, if a place may give no id; ``needs_sort``, if no index has its
    order; ``selected_place``, ``compared``, and the annotation in ``rows`` and ``outer_rows``, if
    its place is not the value of a column.
    """

    model: type[models.Model]
    field: models.Field[Any, Any]
    """The field of the places. In a related row, its name is the whole path, which works in
    lookups, orders and values like the name of a column."""
    using: str

    arguments: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The arguments of ``backfill_ids`` that name it, as argparse takes them. Its ``options`` have
    the same names."""

    @classmethod
    def check(cls, given: Given) -> None:
        """Raise ``WrongArguments`` for arguments that contradict each other, and ``BackfillError``
        for values that no rows can have."""

    @classmethod
    def named_by(cls, wanted: Wanted) -> Source | None:
        """This source, if the arguments name it."""
        return None

    @classmethod
    def given_by(cls, options: Mapping[str, Any]) -> Given:
        """The arguments of a run with these stored options."""
        return {name: options[name] for name in cls.arguments if options.get(name)}

    @property
    def options(self) -> dict[str, Any]:
        """The values that a run stores: the arguments, and all that must not change between the
        start of a run and its resumption."""
        return {}

    @property
    def as_arguments(self) -> str:
        """The arguments that name this source; empty if none does."""
        return as_words(self.given_by(self.options))

    @property
    def times(self) -> TimeColumn | None:
        """How to read and compare the places, if they are values of a ``DateTimeField``."""
        return None

    @property
    def own_times(self) -> TimeColumn | None:
        """``times``, if they are in the row itself: the database can compute with them."""
        return None if self.needs_sort else self.times

    @property
    def described(self) -> str:
        """The times, as the plan names them."""
        return self.field.name

    @property
    def notes(self) -> Sequence[str]:
        """More about the times, as lines of the plan."""
        return ()

    @property
    def read_models(self) -> Iterable[type[models.Model]]:
        """The models whose rows it needs: row-level security may hide some."""
        return dict.fromkeys([self.model, self.field.model])

    comes_last = False
    """Whether a run fills these rows after all others: it locks them, and its cursor stays."""

    # The order of the rows

    @property
    def needs_sort(self) -> bool:
        """Whether the rows are sorted for a run, since no index can have their order."""
        return False

    @property
    def rows(self) -> QuerySet[Any]:
        """Every row with its place, without managers, which may hide some."""
        return QuerySet(self.model, using=self.using)

    @property
    def outer_rows(self) -> QuerySet[Any]:
        """``rows`` and those whose related row is gone, to find rows without a place: Django's join
        leaves them out if their foreign key is not NULL."""
        return QuerySet(self.model, _OuterJoins(self.model), self.using)

    @property
    def selected_place(self) -> Any:
        """The place in ``values_list()``: a name or an expression."""
        return self.field.name

    @property
    def order(self) -> tuple[str, ...]:
        """The order of the rows in ``order_by()``, which ends in the key."""
        return self.field.name, "pk"

    def after(self, place: Any, pk: Any) -> Q:
        """The rows after one in the order, written so that an index on the time is used."""
        return self.compared("gte", place) & (self.compared("gt", place) | Q(pk__gt=pk))

    def before(self, place: Any, pk: Any) -> Q:
        """The rows before one in the order, written so that an index on the time is used."""
        return self._within(place, Q(pk__lt=pk))

    def until(self, place: Any, pk: Any) -> Q:
        """Like ``before``, with the row itself."""
        return self._within(place, Q(pk__lte=pk))

    def _within(self, place: Any, at_place: Q) -> Q:
        """The rows of earlier places, and the rows of that place that match ``at_place``."""
        return self.compared("lte", place) & (self.compared("lt", place) | at_place)

    def compared(self, sign: str, place: Any) -> Q:
        """The rows whose place compares so: "gte", "gt", "lte", "lt" or "exact"."""
        return Q(**{f"{self.field.name}__{sign}": place})

    # The times of the rows

    def at(self, place: Any) -> datetime:
        """The aware creation time of a row at that place."""
        raise AssertionError("these rows have no known times")

    @abstractmethod
    def between(self, start: datetime | None, end: datetime | None) -> Q:
        """The rows of ``start <= time < end``, both aware; None means no bound."""

    @abstractmethod
    def load_place(self, saved: str) -> Any:
        """A place that was stored as text."""

    @property
    def shown_range(self) -> tuple[datetime, datetime] | None:
        """The times that Python can represent, end excluded; None if there are no others, such as
        -infinity or BC."""
        return None

    def time_range(self, scheme: Scheme) -> tuple[datetime, datetime] | None:
        """The times for which the scheme has ids, end excluded; None if it has no bounds."""
        if self.is_by_time and isinstance(scheme, TimeScheme):
            return time_range(scheme)
        return self.shown_range

    @property
    def has_shown_time(self) -> Q:
        """Whether a row has a time that Python can represent."""
        has_time = Q(**{f"{self.field.name}__isnull": False})
        return has_time & self.between(*self.shown_range) if self.shown_range else has_time

    def microseconds(self, places: Iterable[Any]) -> Iterator[int]:
        """The Unix times of places in order, in microseconds."""
        times, last, time = self.times, None, None
        for place in places:
            if time is None or place != last:  # several rows may share one
                last = place
                time = times.unix(place) if times else (self.at(place) - UNIX_EPOCH) // MICROSECOND
            yield time

    def shown_place(self, place: Any) -> str:
        """The place in samples and in examples of ``--verify``."""
        return self.at(place).isoformat()

    def named(self, row: Row) -> str:
        """The row in errors."""
        return f"{self.model._meta.label} {row[1]}, created at {self.at(row[0])}"

    # The ids of the rows

    is_by_time = True
    """Whether a row gets an id of its time, for which the scheme needs room."""

    def known_ids(self, target: Target, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on other rows; None if ids are generated.
        Raises ``BackfillError``, naming a row, if it has none."""
        return None

    differs = " (an example: the last digits will differ)"
    """How the final ids differ from the samples of the plan, as text."""

    has_samples = True
    """Whether ``known_ids`` are known without a change of the database."""

    # Checks

    def check_places(self, target: Target) -> None:
        """Raise ``BackfillError``, naming a row, for a place, not NULL, that gives no id. Its time
        is checked afterwards."""

    @property
    def warnings(self) -> Sequence[str]:
        """Facts that may surprise, but don't stop the backfill."""
        meaning = self.times.meaning if self.times else ""
        return [meaning] if meaning else []

    @property
    def expected(self) -> Expectation:
        """How near to their times ids must be."""
        return Expectation()

    def compare(
        self, checker: Checker, page: Page, ids: Sequence[StoredID | None], *, is_of_run: bool
    ) -> None:
        """Compare the ids of a page with what this source expects; ``is_of_run`` says that the run
        has reached these rows."""
        checker.compare_times(page, ids, is_of_run=is_of_run)


class InOrderOfKeys(Source):
    """Its rows are in the order of the primary key, which has an index. Their ids need no times."""

    is_by_time = False

    @property
    def order(self) -> tuple[str, ...]:
        return ("pk",)

    def after(self, place: Any, pk: Any) -> Q:
        return Q(pk__gt=pk)

    def _within(self, place: Any, at_place: Q) -> Q:
        return at_place

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        return Q()

    def load_place(self, saved: str) -> Any:
        return self.field.to_python(saved)
