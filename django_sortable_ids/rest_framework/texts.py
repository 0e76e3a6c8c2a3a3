"""A public text that a query takes for its value."""

from typing import Any, Self

from ..schemes import ID


class ValueText(str):
    """The text, in messages and cursors; the value of the id, in a query."""

    __slots__ = ("_value",)
    _value: ID

    def __new__(cls, text: str, value: ID) -> Self:
        self = super().__new__(cls, text)
        self._value = value
        return self

    def resolve_expression(self, *_args: Any, **_options: Any) -> ID:
        return self._value
