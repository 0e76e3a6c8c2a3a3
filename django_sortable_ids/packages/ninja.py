"""django-ninja: in a ``ModelSchema``, ids and relations to them are public texts."""

from types import NoneType
from typing import Annotated, Any, get_args

from ninja.orm import factory
from pydantic.fields import FieldInfo

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from .pydantic import PublicID

_original = factory.get_schema_field


def register() -> None:
    factory.get_schema_field = _schema_field


def _schema_field(field: Any, *, depth: int = 0, optional: bool = False) -> tuple[Any, FieldInfo]:
    """The type and the options of a model field in a schema, as django-ninja's own function."""
    own_type, options = _original(field, depth=depth, optional=optional)
    if field.is_relation and depth:
        return own_type, options  # a schema of the related model
    target = referenced_id(field)
    if target is None:
        return own_type, options
    text: Any = Annotated[target.scheme.value_type, PublicID(target.model, target.name)]
    if field.one_to_many or field.many_to_many:
        text = list[text]
    may_be_absent = NoneType in get_args(own_type)
    if isinstance(field, SortableIDField) and field.generates_ids:
        may_be_absent = True
        options = FieldInfo(default=None, title=options.title, description=options.description)
    return text | None if may_be_absent else text, options
