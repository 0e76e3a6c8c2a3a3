"""Form fields for the id of a column."""

from typing import TYPE_CHECKING, Any

from django import forms

if TYPE_CHECKING:
    from .base import SortableIDField


class IDFormField(forms.CharField):
    """The text of an id; its initial value may be a UUID or a number."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(None if initial is None else str(initial), data)


class MaskedIDFormField(IDFormField):
    """Shows and accepts the public text and nothing else.

    A form that accepted a bare value and showed its public text would undo the mask: that text
    reveals the times of all ids with the same random bits.
    """

    def __init__(self, *, id_field: "SortableIDField", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._id_field = id_field

    def prepare_value(self, value: Any) -> Any:
        return self._id_field.public_text.shown(value)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if text not in self.empty_values:
            self._id_field.candidates(text)
        return text

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


def without_number_input(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a form field without a number input, which the admin has for integers: it
    takes no letters, and so no public text.
    """
    widget = options.get("widget")
    widget_class = widget if isinstance(widget, type) else type(widget)
    if not issubclass(widget_class, forms.NumberInput):
        return options
    return {name: option for name, option in options.items() if name != "widget"}
