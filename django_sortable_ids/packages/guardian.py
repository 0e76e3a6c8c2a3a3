"""django-guardian: finds objects by permissions whose ``object_pk`` is the text of an id.

It compares that text with the key in the database, which may store the key as bytes. For such keys,
the texts are read first and become ids in Python.
"""

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import connection, models
from django.db.models import lookups
from guardian import shortcuts

from ..fields import SortableIDField
from ..fields.of_model import id_at, referenced_id
from ..fields.values.storage import UUIDStorage

if TYPE_CHECKING:
    from django.db.models.lookups import In
    from django.db.models.lookups import In as InRelation

    ExpressionWrapper = models.ExpressionWrapper[models.F]
else:
    ExpressionWrapper = models.ExpressionWrapper
    In = SortableIDField.get_class_lookups()["in"]
    InRelation = models.ForeignObject.get_class_lookups()["in"]

_usual_handler = shortcuts._handle_pk_field
_usual_restriction = shortcuts.filter_perms_queryset_by_objects


def register() -> None:
    """Replace guardian's comparison with keys; called once, at start."""
    shortcuts._handle_pk_field = _handle_pk_field
    shortcuts.filter_perms_queryset_by_objects = _filter_perms_queryset_by_objects
    SortableIDField.register_lookup(InObjectTexts)
    models.ForeignObject.register_lookup(InObjectTextsOfRelation)


class ObjectTexts(ExpressionWrapper):
    """The column of a permission that has the texts of keys."""

    def __init__(self, expression: Any) -> None:
        super().__init__(models.F(expression), output_field=models.CharField())


class _ReadsTexts(lookups.In):
    """Reads the texts of ``ObjectTexts`` when the query is compiled."""

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        selected = getattr(self.rhs, "annotation_select", {}).values()
        if not any(isinstance(each, ObjectTexts) for each in selected):
            return super().as_sql(compiler, connection)
        rows = self.rhs.get_compiler(connection=connection).results_iter()
        target = referenced_id(self.lhs.output_field)
        assert target is not None, "other keys have no ObjectTexts"
        found = lookups.In(self.lhs, list(_ids(target, rows)))
        return compiler.compile(found)


def _ids(field: SortableIDField, rows: Any) -> Iterator[Any]:
    for (text,) in rows:
        with suppress(ValidationError):  # another row's, from before its key was a sortable id
            yield field.to_python(text)


class InObjectTexts(_ReadsTexts, In):
    pass


class InObjectTextsOfRelation(_ReadsTexts, InRelation):
    pass


def _handle_pk_field(queryset: Any) -> Any:
    """What makes a text of ``object_pk`` comparable with the model's key."""
    return ObjectTexts if _is_stored_otherwise(queryset.model) else _usual_handler(queryset)


def _filter_perms_queryset_by_objects(permissions: Any, objects: Any) -> Any:
    """The permissions for these objects, or more: guardian then filters the objects themselves."""
    if isinstance(objects, models.QuerySet) and _is_stored_otherwise(objects.model):
        return permissions
    return _usual_restriction(permissions, objects)


def _is_stored_otherwise(model: type[models.Model]) -> bool:
    """Whether the key is a sortable id that guardian can't compare with its text."""
    field = id_at(model, "pk")
    if field is None or field.scheme.value_type is int:
        return False
    as_django = isinstance(field.stored(connection), UUIDStorage)
    return not (as_django and field.scheme.value_type is uuid.UUID)
