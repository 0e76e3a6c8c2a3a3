"""The base class of all SQL expressions here: a template for each vendor."""

from collections.abc import Iterable
from fractions import Fraction
from string import Formatter
from typing import Any

from django.db import NotSupportedError
from django.db.models import Func
from django.db.models.expressions import Expression

Compiled = tuple[str, tuple[Any, ...]]


class Fragment(Func):
    """An SQL expression with a template for each vendor, or a method that takes the connection and
    returns it.

    A template contains the arguments as ``{0}``, ``{1}`` and so on, as often as it needs, and the
    constants by their keywords. Constants are part of the SQL and not parameters, so that the
    expression of a query matches that of an index, and can be a column's DEFAULT. Per cent signs
    are doubled, as in all SQL with parameters.
    """

    postgresql: Any
    sqlite: Any
    mysql: Any
    """MariaDB and MySQL."""

    def as_sql(  # type: ignore[override]
        self, compiler: Any, connection: Any, **extra: Any
    ) -> Compiled:
        template = getattr(self, connection.vendor, None)
        if template is None:
            raise NotSupportedError(
                f"{type(self).__name__} has SQL for SQLite, PostgreSQL, MariaDB and MySQL, but not "
                f"for {connection.display_name}; use one of these databases"
            )
        return self.fill(template(connection) if callable(template) else template, compiler)

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

    def postgresql(self, connection: Any) -> str:
        return f"({self._places(' || ')})"

    sqlite = postgresql

    def mysql(self, connection: Any) -> str:
        return f"CONCAT({self._places(', ')})"

    def _places(self, separator: str) -> str:
        return separator.join(f"{{{n}}}" for n in range(len(self.get_source_expressions())))


def joined(parts: Iterable[Expression]) -> Expression:
    """The expressions as one text; a single expression as it is."""
    expressions = list(parts)
    return expressions[0] if len(expressions) == 1 else Join(*expressions)


def scaled(sql: str, factor: Fraction, division: str) -> str:
    """SQL for a whole number >= 0 times a factor, rounded down; ``division`` is its operator."""
    if factor.numerator != 1:
        sql = f"({sql} * {factor.numerator})"
    return sql if factor.denominator == 1 else f"({sql} {division} {factor.denominator})"
