"""Ids judged by the database, page by page: only counts come back."""

from dataclasses import dataclass
from typing import Any

from django.db import NotSupportedError, connections
from django.db.models import BooleanField, Case, F, IntegerField, Q, QuerySet, Value, When, Window
from django.db.models.expressions import Expression
from django.db.models.functions import Lag

from ..functions.fragments import Fragment
from ..functions.moments import UnixMicroseconds
from ..functions.ticks import is_of_version, tick_of
from ..schemes import ID, TimeScheme
from .target import Target
from .times import knows_utc


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
    unordered: int
    """Those of them whose id doesn't sort behind the one before."""
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


class Judge:
    """Counts rows of a target.

    ``judged`` says which rows' places in the order count, and ``strict`` which rows nobody but the
    run gave ids. Raises ``NotSupportedError`` where the database can't read the time of such ids.
    """

    def __init__(self, target: Target, judged: Q | None = None, strict: Q | None = None) -> None:
        self.target = target
        self.scheme = target.field.scheme
        self.connection = connections[target.using]
        if not knows_utc(self.connection):
            raise NotSupportedError("Python knows the time zone better")
        column = F(target.field.name)
        self.of_version = self._of_version(column)
        self.of_time = self._of_time(column)
        self.judged = judged or Q()
        self.strict = strict or Q()

    def count(self, rows: QuerySet[Any], previous: ID | None) -> Counts:
        """Counts of the rows, which come behind one with the id ``previous``."""
        place = [F(self.target.source.name).asc(), *(F(n).asc() for n in self._key_names())]
        judged = self._with_places(rows).annotate(
            verify_previous=Window(
                Lag("verify_id"), partition_by=[F("verify_judged")], order_by=place
            )
        )
        names = ("id", "of_version", "of_time", "judged", "strict", "previous")
        inner = judged.order_by().values_list(*(f"verify_{name}" for name in names))
        sql, parameters = inner.query.get_compiler(self.target.using).as_sql()
        sign = ">=" if getattr(self.scheme, "descending", False) else "<="
        before = "verify_previous" if previous is None else "COALESCE(verify_previous, %s)"
        unordered = f"verify_judged = 1 AND verify_id {sign} {before}"
        counts = f"""
            SELECT COUNT(*), COUNT(verify_id), SUM(verify_of_version), SUM(verify_of_time),
                SUM(verify_judged),
                SUM(CASE WHEN {unordered} THEN verify_strict ELSE 0 END),
                SUM(CASE WHEN {unordered} THEN 1 - verify_strict ELSE 0 END)
            FROM ({sql}) verify
        """
        stored = [] if previous is None else [self._stored(previous)] * 2
        with self.connection.cursor() as cursor:
            cursor.execute(counts, [*stored, *parameters])
            return Counts(*(int(count or 0) for count in cursor.fetchone()))

    def last(self, rows: QuerySet[Any]) -> tuple[Any, ID] | None:
        """Key and id of the last row whose place counts."""
        found = self._with_places(rows).filter(verify_judged=1).order_by(*self.target.order)
        row = self.target.first(found.reverse(), self.target.field.name)
        return (row[1], row[2]) if row else None

    def with_marks(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows with ``verify_id``, ``verify_of_version`` and ``verify_of_time``."""
        marked: QuerySet[Any] = rows.annotate(
            verify_id=F(self.target.field.name),
            verify_of_version=_flag(self.of_version),
            verify_of_time=_flag(self.of_version, self.of_time),
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
        if not isinstance(scheme, TimeScheme) or not scheme.layout.frame.version:
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
