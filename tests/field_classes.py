"""The field classes that a model can have, one for each scheme."""

from django_sortable_ids import fields
from django_sortable_ids.fields import SortableAutoField, SortableIDField


def _is_of_a_scheme(field_class: type) -> bool:
    return hasattr(field_class, "scheme_name") and not issubclass(field_class, SortableAutoField)


CLASSES: list[type[SortableIDField]] = [
    each for each in (getattr(fields, name) for name in fields.__all__) if _is_of_a_scheme(each)
]
