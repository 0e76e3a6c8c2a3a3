"""Checks ids in the database, page by page: it returns only counts."""

from dataclasses import dataclass
from typing import Any

from django.db import NotSupportedError, connections
from django.db.models import BooleanField, Case, F, IntegerField, Q, QuerySet, Value, When, Window
from django.db.models.expressions import Expression
from django.db.models.functions import Lag

from ...functions.fragments import Fragment
from ...functions.moments import UnixMicroseconds
from ...functions.ticks import is_of_version, tick_of
from ...schemes import ID, TimeScheme
from ..target import Target

Previous = tuple[Any, ID, Any]
"""Key, id and time of the last row whose place in the order counts."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a page, of rows that have a time. "Before" means the previous checked row."""

    rows: int
    given: int
    """Rows with an id."""
    of_version: int
    """Rows with an id of the scheme; a UUID may be of another version."""
    of_time: int
    """Rows with an id of the scheme and of their own tick."""
    checked: int
    """Rows of ``of_time`` whose place in the order counts."""
    ties: int
    """Checked rows that have the time of the row before."""
    repeated: int
    """Checked rows that have the id of the row before."""
    unordered_ties: int
    """Checked rows whose id doesn't sort after the row before, which has the same time."""
    unordered_times: int
    """Checked rows whose id doesn't sort after the row before, which has another time."""
    unordered_concurrent: int
    """Checked rows out of order, of times when the application generated ids as well."""


class _IsOfTick(Fragment):
    """Whether a tick is that of a time in microseconds. One tick is added to both sides, since
    databases divide towards zero."""

    output_field = BooleanField()
    postgresql = sqlite = "({0} + 1 = ({1} - {epoch} + {length}) / {length})"
    mysql = "({0} + 1 = ({1} - {epoch} + {length}) DIV {length})"


class _IsAtMicrosecond(Fragment):
    """As ``_IsOfTick``, for ticks shorter than a microsecond, ``per`` of them in each."""

    output_field = BooleanField()
    postgresql = sqlite = mysql = "({0} = ({1} - {epoch}) * {per})"


class RowCheck:
    """Counts the rows of a target.

    ``checked``: the rows whose place in the order counts. ``strict``: the rows that got their ids
    from the run alone. ``ties``: whether times that are equal now were equal during the run. Raises
    ``NotSupportedError`` if the database can't read the time of such ids.
    """

    def __init__(
        self,
        target: Target,
        checked: Q | None = None,
        strict: Q | None = None,
        ties: bool = True,
    ) -> None:
        self.target = target
        self.scheme = target.field.scheme
        self.connection = connections[target.using]
        if not target.times.knows_utc:
            raise NotSupportedError("only Python knows the time zone")
        column = F(target.field.name)
        self.of_version = self._of_version(column)
        self.of_time = self._of_time(column)
        self.checked = checked or Q()
        self.strict = strict or Q()
        self.ties = ties

    def count(self, rows: QuerySet[Any], previous: Previous | None) -> Counts:
        """The counts of ``rows``, which follow the ``previous`` row."""
        place = [F(self.target.source.name).asc(), *(F(n).asc() for n in self._key_names())]
        lags = {
            name: Window(Lag(column), partition_by=[F("verify_judged")], order_by=place)
            for name, column in (("previous", "verify_id"), ("previous_at", "verify_at"))
        }
        at = F(self.target.source.name)
        placed = self._with_places(rows).annotate(verify_at=at)
        placed = placed.annotate(**{f"verify_{name}": each for name, each in lags.items()})
        names = ("id", "at", "of_version", "of_time", "judged", "strict", "previous", "previous_at")
        inner = placed.order_by().values_list(*(f"verify_{name}" for name in names))
        sql, parameters = inner.query.get_compiler(self.target.using).as_sql()
        sign = ">=" if getattr(self.scheme, "descending", False) else "<="
        before, tie, ends = "verify_previous", "verify_at = verify_previous_at", []
        if previous is not None:
            before = "COALESCE(verify_previous, %s)"
            tie += " OR (verify_previous IS NULL AND verify_at = %s)"
            ends = [self._stored(previous[1]), self.target.times.parameter(previous[2])]
        if not self.ties:
            tie, ends = "1 = 0", ends[:1]
        unordered = f"verify_judged = 1 AND verify_id {sign} verify_before"
        order = f"""CASE WHEN {unordered} THEN CASE WHEN verify_id = verify_before THEN 'repeated'
            WHEN verify_tie = 1 THEN 'tie' ELSE 'time' END END"""
        wrong = ", ".join(
            f"SUM(CASE {order} WHEN '{each}' THEN verify_strict ELSE 0 END)"
            for each in ("repeated", "tie", "time")
        )
        counts = f"""
            SELECT COUNT(*), COUNT(verify_id), SUM(verify_of_version), SUM(verify_of_time),
                SUM(verify_judged), SUM(verify_judged * verify_tie * verify_strict), {wrong},
                SUM(CASE WHEN {unordered} THEN 1 - verify_strict ELSE 0 END)
            FROM (
                SELECT placed.*, {before} AS verify_before,
                    CASE WHEN {tie} THEN 1 ELSE 0 END AS verify_tie
                FROM ({sql}) placed
            ) verify
        """
        with self.connection.cursor() as cursor:
            cursor.execute(counts, [*ends, *parameters])
            return Counts(*(int(count or 0) for count in cursor.fetchone()))

    def last(self, rows: QuerySet[Any]) -> Previous | None:
        """Key, id and time of the last checked row."""
        checked = self._with_places(rows).filter(verify_judged=1).order_by(*self.target.order)
        row = self.target.first(checked.reverse(), self.target.field.name)
        return (row[1], row[2], row[0]) if row else None

    def of_other_times(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows with an id of another time."""
        marked: QuerySet[Any] = self.with_marks(rows).filter(verify_of_version=1, verify_of_time=0)
        return marked

    def with_marks(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows with ``verify_id``, ``verify_of_version`` and ``verify_of_time``."""
        marked: QuerySet[Any] = rows.annotate(
            verify_id=F(self.target.field.name),
            verify_of_version=_flag(self.of_version),
            verify_of_time=_flag(self.of_version, self.target.has_shown_time, self.of_time),
        )
        return marked

    def _with_places(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        checked = Q(verify_of_time=1) & self.checked
        placed: QuerySet[Any] = self.with_marks(rows).annotate(
            verify_judged=_flag(checked), verify_strict=_flag(self.strict)
        )
        return placed

    def _key_names(self) -> list[str]:
        return [field.attname for field in self.target.key_fields]

    def _stored(self, value: ID) -> Any:
        return self.target.field.get_db_prep_value(value, self.connection, prepared=True)

    def _of_version(self, column: Any) -> Expression | Q:
        given = Q(**{f"{self.target.field.name}__isnull": False})
        scheme = self.scheme
        if not isinstance(scheme, TimeScheme) or not scheme.layout.template.version:
            return given
        return given & Q(is_of_version(column, self.target.field, self.connection))

    def _of_time(self, column: Any) -> Expression | Q:
        scheme = self.scheme
        if not isinstance(scheme, TimeScheme):
            # Ids of a sequence without a width grow longer; their text sorts unlike their numbers.
            raise NotSupportedError(f"the database can't compare ids of a {scheme.title}")
        arguments = (
            tick_of(column, self.target.field, self.connection),
            UnixMicroseconds(F(self.target.source.name)),
        )
        epoch = scheme.epoch_ns // 1000
        if scheme.tick_ns < 1000:
            return _IsAtMicrosecond(*arguments, epoch=epoch, per=1000 // scheme.tick_ns)
        return _IsOfTick(*arguments, epoch=epoch, length=scheme.tick_ns // 1000)


def _flag(*conditions: Expression | Q) -> Expression:
    """1 where all conditions hold, else 0; those after one that doesn't hold are not evaluated."""
    flag: Expression = Value(1)
    for condition in reversed(conditions):
        if condition:
            flag = Case(When(condition, then=flag), default=Value(0), output_field=IntegerField())
    return flag
