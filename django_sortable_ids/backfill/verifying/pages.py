"""Ids judged by the database, page by page: only counts come back."""

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
    """What is in a page, of rows that have a time."""

    rows: int
    given: int
    """Rows with an id."""
    of_version: int
    """Those whose id is one of the scheme; a UUID may be of another version."""
    of_time: int
    """Those whose id is of the tick of its row, too."""
    judged: int
    """Those of them whose place in the order counts."""
    ties: int
    """Those of them that have the time of the one before."""
    repeated: int
    """Those of them that have the id of the one before."""
    unordered_ties: int
    """Those of them whose id doesn't sort after the one before, though their times are equal."""
    unordered_times: int
    """And such of another time within the tick."""
    unordered_beside: int
    """And such that others may have made."""


class _IsOfTick(Fragment):
    """Whether a tick is that of a time in microseconds; one tick is added to both, since engines
    divide towards zero."""

    output_field = BooleanField()
    postgresql = sqlite = "({0} + 1 = ({1} - {epoch} + {length}) / {length})"
    mysql = "({0} + 1 = ({1} - {epoch} + {length}) DIV {length})"


class _IsAtMicrosecond(Fragment):
    """The same for ticks of less than a microsecond, ``per`` of them in each."""

    output_field = BooleanField()
    postgresql = sqlite = mysql = "({0} = ({1} - {epoch}) * {per})"


class RowCheck:
    """Counts rows of a target.

    ``judged`` says which rows' places in the order count, ``strict`` which rows nobody but the run
    gave ids, and ``ties`` whether equal times were equal when the run gave them. Raises
    ``NotSupportedError`` where the database can't read the time of such ids.
    """

    def __init__(
        self,
        target: Target,
        judged: Q | None = None,
        strict: Q | None = None,
        ties: bool = True,
    ) -> None:
        self.target = target
        self.scheme = target.field.scheme
        self.connection = connections[target.using]
        if not target.times.knows_utc:
            raise NotSupportedError("Python knows the time zone better")
        column = F(target.field.name)
        self.of_version = self._of_version(column)
        self.of_time = self._of_time(column)
        self.judged = judged or Q()
        self.strict = strict or Q()
        self.ties = ties

    def count(self, rows: QuerySet[Any], previous: Previous | None) -> Counts:
        """Counts of the rows, which come after the ``previous`` one."""
        place = [F(self.target.source.name).asc(), *(F(n).asc() for n in self._key_names())]
        lags = {
            name: Window(Lag(column), partition_by=[F("verify_judged")], order_by=place)
            for name, column in (("previous", "verify_id"), ("previous_at", "verify_at"))
        }
        at = F(self.target.source.name)
        judged = self._with_places(rows).annotate(verify_at=at)
        judged = judged.annotate(**{f"verify_{name}": each for name, each in lags.items()})
        names = ("id", "at", "of_version", "of_time", "judged", "strict", "previous", "previous_at")
        inner = judged.order_by().values_list(*(f"verify_{name}" for name in names))
        sql, parameters = inner.query.get_compiler(self.target.using).as_sql()
        sign = ">=" if getattr(self.scheme, "descending", False) else "<="
        before, tie, ends = "verify_previous", "verify_at = verify_previous_at", []
        if previous is not None:
            before = "COALESCE(verify_previous, %s)"
            tie += " OR (verify_previous IS NULL AND verify_at = %s)"
            ends = [self._stored(previous[1]), self.target.stored_time(previous[2])]
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
        """Key, id and time of the last row whose place counts."""
        found = self._with_places(rows).filter(verify_judged=1).order_by(*self.target.order)
        row = self.target.first(found.reverse(), self.target.field.name)
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
        judged = Q(verify_of_time=1) & self.judged
        placed: QuerySet[Any] = self.with_marks(rows).annotate(
            verify_judged=_flag(judged), verify_strict=_flag(self.strict)
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
            # One without a width grows, and then its text doesn't sort as its numbers do.
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
    """1 where all of them hold, else 0; those behind one that doesn't hold aren't calculated."""
    flag: Expression = Value(1)
    for condition in reversed(conditions):
        if condition:
            flag = Case(When(condition, then=flag), default=Value(0), output_field=IntegerField())
    return flag
