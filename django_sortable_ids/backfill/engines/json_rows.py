"""Rows that MariaDB and MySQL read from one parameter of JSON."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ...db import tables
from ..target import Target


class JSONRows:
    """Keys and ids of a batch, and maybe times: a list for each row, in this order."""

    def __init__(self, target: Target, connection: Any) -> None:
        self.target = target
        self.connection = connection
        self._fields = [*target.key_fields, target.field]
        self._names = [*(f"key_{n}" for n in range(len(target.key_fields))), "id"]

    def listed(self, *, with_times: bool) -> tuple[str, str, str]:
        """The id, the rows, and how they are joined to the table ``t``."""
        columns = ", ".join(
            f"{name} {self._json_type(field)} PATH '$[{position}]'"
            for position, (name, field) in enumerate(zip(self._names, self._fields, strict=True))
        )
        if with_times:
            columns += f", created DATETIME(6) PATH '$[{len(self._fields)}]'"
        rows = f"SELECT * FROM JSON_TABLE(%(rows)s, '$[*]' COLUMNS ({columns})) listed"
        *keys, made = (
            self._value(field, f"d.{name}")
            for name, field in zip(self._names, self._fields, strict=True)
        )
        collations = self._collations()
        quote = self.connection.ops.quote_name
        on = " AND ".join(
            f"t.{quote(str(field.column))} = {key}{collations.get(str(field.column), '')}"
            for field, key in zip(self._fields, keys, strict=False)
        )
        return made, rows, on

    def parameter(self, rows: Iterable[Sequence[Any]]) -> str:
        """The JSON of rows as the driver would be given them."""
        return json.dumps([list(map(_plain, row)) for row in rows], default=str)

    def _json_type(self, field: Any) -> str:
        kind = self._kind(field)
        if "int" in kind:
            return "BIGINT UNSIGNED" if "unsigned" in kind else "BIGINT"
        return "VARCHAR(512)"

    def _value(self, field: Any, text: str) -> str:
        kind = self._kind(field)
        if "binary" in kind or "blob" in kind:
            return f"UNHEX({text})"
        return f"CAST({text} AS UUID)" if kind == "uuid" else text

    def _kind(self, field: Any) -> str:
        return str(field.rel_db_type(self.connection)).lower()

    def _collations(self) -> dict[str, str]:
        """What the key's columns of text are compared by: that of a JSON_TABLE is another one, and
        the server wouldn't know which to take.
        """
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT column_name, collation_name FROM information_schema.columns "
                "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s "
                "AND character_set_name IS NOT NULL",
                tables.split(self.connection, self.target.model._meta.db_table),
            )
            return {name: f" COLLATE {collation}" for name, collation in cursor.fetchall()}


def _plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value
