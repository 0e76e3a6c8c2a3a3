"""The creation time of an id, decoded by the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import FieldError
from django.db.models import DateTimeField, ForeignKey, Transform
from django.db.models.expressions import Expression

from ..fields import SortableIDField
from ..schemes import TimeScheme
from .fragments import Compiled, Fragment
from .moments import MomentOfTick
from .ticks import tick_of


class _Where(Fragment):
    """The second expression for ids of which ``condition`` holds, NULL for the others."""

    output_field = DateTimeField()
    postgresql = sqlite = mysql = "CASE WHEN {0} {condition} THEN {1} END"


class CreatedAt(Transform):
    """When an id was made, as a ``DateTimeField``: ``CreatedAt("id")``, ``CreatedAt("order__id")``.

    Floored to the scheme's tick and to the microsecond, as ``Scheme.created_at`` is; NULL for NULL,
    and for ids of years past 9999. Where it is compared with a constant, as in
    ``filter(id__created_at__gte=...)``, the id itself is compared and its index used; everywhere
    else the database decodes the id of each row.

    Raises ``FieldError`` for what is no id with a time, ``NotSupportedError`` where the engine
    can't decode the column: SQLite and text in base 62 or 36.
    """

    lookup_name = "created_at"
    output_field = DateTimeField()
    lhs: Any

    @property
    def id_field(self) -> SortableIDField:
        """The field of the column, that of the key where it is a relation's."""
        field = self.lhs.output_field
        while isinstance(field, ForeignKey):
            field = field.target_field
        if not isinstance(field, SortableIDField):
            raise FieldError(f"CreatedAt() takes a sortable id, found {field or self.lhs}")
        return field

    @property
    def scheme(self) -> TimeScheme:
        """The scheme of the ids; ``FieldError`` where they carry no time."""
        scheme = self.id_field.scheme
        if not isinstance(scheme, TimeScheme):
            raise FieldError(f"{self.id_field} is a {scheme.title}: its ids carry no time")
        return scheme

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        compiled: Compiled = compiler.compile(self._decoded(connection))
        return compiled

    def _decoded(self, connection: Any) -> Expression:
        scheme, field = self.scheme, self.id_field
        decoded = MomentOfTick(
            tick_of(self.lhs, field, connection),
            epoch_us=scheme.epoch_ns // 1000,
            tick_ns=scheme.tick_ns,
        )
        bound = self._last_datetime(connection)
        return _Where(self.lhs, decoded, condition=bound) if bound else decoded

    def _last_datetime(self, connection: Any) -> str | None:
        """The condition that an id's time is one that a ``datetime`` can show, where not all are.

        A look at the id itself costs less than one at its time, and comes before any overflow.
        """
        scheme, layout = self.scheme, self.scheme.layout
        # In a zone east of UTC the year 10000 begins earlier.
        margin = timedelta(0 if connection.timezone_name == "UTC" else 1)
        if scheme.latest < _LAST_DAY:
            return None
        tick = scheme.tick(scheme.latest - margin)
        oldest, newest = layout.between(layout.first_tick, tick)
        bound = self.id_field.stored(connection).literal
        if scheme.descending:
            return f">= {bound(oldest, connection)}"
        return f"<= {bound(newest, connection)}"


_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)
