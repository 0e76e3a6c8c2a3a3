"""model_bakery: generates ids, each of its field's own scheme."""

from collections.abc import Callable
from typing import Any

from model_bakery import generators

from ..fields import SortableIDField
from ..fields.of_model import all_field_classes
from ..schemes import ID


def register() -> None:
    for field_class in all_field_classes():
        generators.default_mapping.setdefault(field_class, _generated)


def _generated(generate: Callable[[], ID]) -> ID:
    return generate()


def _generate(field: SortableIDField) -> tuple[str, Any]:
    return "generate", field.generate


_generated.required = [_generate]  # type: ignore[attr-defined]
