"""The base class of all SQL expressions here: a template for each vendor."""

from collections.abc import Iterable
from string import Formatter
from typing import Any

from django.db import NotSupportedError
from django.db.models import Func
from django.db.models.expressions import Expression

Compiled = tuple[str, tuple[Any, ...]]


class Fragment(Func):
    """An SQL expression with a template for each vendor.

    A template contains the arguments as ``{0}``, ``{1}`` and so on, as often as it needs, and the
    constants by their keywords. Constants are part of the SQL and not parameters, so that the
    expression of a query matches that of an index, and can be a column's DEFAULT. Per cent signs
    are doubled, as in all SQL with parameters.
    """

    postgresql = ""
    sqlite = ""
    mysql = ""
    """MariaDB and MySQL."""

    def as_sql(  # type: ignore[override]
        self, compiler: Any, connection: Any, **extra: Any
    ) -> Compiled:
        raise NotSupportedError(
            f"{type(self).__name__} has SQL for SQLite, PostgreSQL, MariaDB and MySQL, but not for "
            f"{connection.display_name}; use one of these databases"
        )

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:
        return self.fill(self.postgresql, compiler)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:
        return self.fill(self.sqlite, compiler)

    def as_mysql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:
        return self.fill(self.mysql, compiler)

    def fill(self, template: str, compiler: Any) -> Compiled:
        """The template filled with the SQL of the arguments, and their parameters in this order."""
        compiled = [compiler.compile(each) for each in self.get_source_expressions()]
        sql: list[str] = []
        params: list[Any] = []
        for literal, name, _, _ in Formatter().parse(template):
            sql.append(literal)
            if name is None:
                continue
            if name.isdigit():
                part, its_params = compiled[int(name)]
                sql.append(part)
                params.extend(its_params)
            else:
                sql.append(str(self.extra[name]))
        return "".join(sql), tuple(params)


class Join(Fragment):
    """Concatenates the arguments, texts or bytes; NULL if one of them is NULL."""

    @property
    def _concatenation(self) -> str:
        return f"({self._places(' || ')})"

    postgresql = sqlite = _concatenation

    @property
    def mysql(self) -> str:  # type: ignore[override]
        return f"CONCAT({self._places(', ')})"

    def _places(self, separator: str) -> str:
        return separator.join(f"{{{n}}}" for n in range(len(self.get_source_expressions())))


def joined(parts: Iterable[Expression]) -> Expression:
    """The expressions as one text; a single expression as it is."""
    expressions = list(parts)
    return expressions[0] if len(expressions) == 1 else Join(*expressions)
