"""The SQL of each vendor that writes the ids of a batch."""

from collections.abc import Sequence
from typing import Any

from django.db.models import DateTimeField
from django.utils.functional import cached_property

from ...db.introspection import is_timestamp
from ..target import Target
from .json_rows import JSONRows
from .kept_columns import KeptColumns, kept_columns


class Statements:
    """What is said to the database about the batches of a target."""

    def __init__(self, target: Target, connection: Any) -> None:
        self.target = target
        self.connection = connection
        self._vendor: str = connection.vendor
        self._table = connection.ops.quote_name(target.model._meta.db_table)
        self._column = connection.ops.quote_name(str(target.field.column))
        self._keys = [connection.ops.quote_name(str(key.column)) for key in target.key_fields]
        self._key_names = [f"key_{n}" for n in range(len(self._keys))]
        self._source_column = connection.ops.quote_name(str(target.source.column))

    @cached_property
    def kept(self) -> KeptColumns:
        """The columns that every UPDATE sets to themselves."""
        return kept_columns(self.connection, self.target.model._meta.db_table)

    def sent(self) -> str:
        """Writes the ids of a batch that Python made: as ``one_by_one`` on SQLite, which is no
        server and takes the least time for it, else one UPDATE with lists as parameters.
        """
        if self._vendor == "sqlite":
            return self.one_by_one()
        made, rows, on = self._listed()
        return self._update(made, rows, f"{on}{self._unmoved}")

    @property
    def compares_times(self) -> bool:
        """Whether ids that Python made are sent with their rows' times."""
        if self._chain or not self.target.own_time:
            return False
        if not isinstance(self.target.source, DateTimeField):
            return False
        return self._vendor == "mysql" or self.target.times.knows_utc

    def one_by_one(self) -> str:
        """Writes one id where there still is none; its parameters are the id and the key."""
        is_row = " AND ".join(f"{key} = %s" for key in self._keys)
        where = f"{is_row} AND {self._column} IS NULL"
        return f"UPDATE {self._table} SET {self._set('%s')} WHERE {where}"

    def _set(self, value: str, table: str = "") -> str:
        """The assignments of every UPDATE, whose table has the alias ``table`` with its dot."""
        return f"{table}{self._column} = {value}{self.kept.assignments(table)}"

    @property
    def _chain(self) -> Sequence[Any]:
        """The parents of the model up to the one that has the time."""
        meta, of_time = self.target.model._meta, self.target.source.model
        return [] if of_time is self.target.model else list(meta.get_base_chain(of_time))

    def _update(self, value: str, rows: str, on: str) -> str:
        """``value`` for the rows that ``rows`` names, where there still is none."""
        if self._vendor == "mysql":
            return (
                f"{self.kept.update} ({rows}) d "
                f"STRAIGHT_JOIN {self._table} t FORCE INDEX (PRIMARY) ON {on} "
                f"SET {self._set(value, 't.')} WHERE t.{self._column} IS NULL"
            )
        return (
            f"UPDATE {self._table} AS t SET {self._set(value)} FROM ({rows}) d "
            f"WHERE {on} AND t.{self._column} IS NULL"
        )

    @property
    def _unmoved(self) -> str:
        """Leaves the rows to the sweep whose time another transaction has changed since it was
        read, where that can be said.
        """
        if not self.compares_times:
            return ""
        return f" AND {self._time_as_read} = d.created"

    @property
    def _time_as_read(self) -> str:
        """The time of a row as the session reads it; the UPDATE may have a zone of its own."""
        time, zone = f"t.{self._source_column}", self.kept.session_zone
        source = self.target.source
        table, column = source.model._meta.db_table, str(source.column)
        if zone is None or not is_timestamp(self.connection, table, column):
            return time
        return f"CONVERT_TZ({time}, '+00:00', '{zone}')"

    def _on_keys(self) -> str:
        pairs = zip(self._keys, self._key_names, strict=True)
        return " AND ".join(f"t.{key} = d.{name}" for key, name in pairs)

    def _listed(self) -> tuple[str, str, str]:
        """The id, the rows and how they are joined, of keys and ids that are parameters."""
        if self._vendor == "postgresql":
            names = [*self._key_names, "id"]
            types = [key.rel_db_type(self.connection) for key in self.target.key_fields]
            types.append(self.target.field.db_type(self.connection))
            if self.compares_times:
                names.append("created")
                types.append(self.target.source.db_type(self.connection))
            pairs = zip(names, types, strict=True)
            lists = ", ".join(f"%({name})s::{kind}[]" for name, kind in pairs)
            rows = f"SELECT * FROM unnest({lists}) u({', '.join(names)})"
            return "d.id", rows, self._on_keys()
        return JSONRows(self.target, self.connection).listed(with_times=self.compares_times)

    def _quote(self, name: str | None) -> str:
        return str(self.connection.ops.quote_name(str(name)))
