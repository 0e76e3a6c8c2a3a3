"""pydantic: a type for the public text of an id. django-ninja has it in each ``ModelSchema``."""

from contextlib import suppress
from types import NoneType
from typing import Annotated, Any, get_args

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from ..fields import SortableIDField
from ..fields.of_model import id_field, referenced_id
from ..ids import schema_of
from ..schemes import ID, InvalidID
from ..schemes.errors import encodable
from . import replace

__all__ = ["PublicID"]

# Keys that django-ninja has in the context of a validation; a response has both.
_REQUEST, _RESPONSE = "request", "response_status"


class PublicID:
    """Annotates the type of an id's value: ``Annotated[uuid.UUID, PublicID("shop.Order")]``.

    JSON has the public text, in both directions; a malformed one is an error of validation. The
    value in Python is that of the model field, also in ``model_dump()``. Python code may pass a
    value, a public text or an instance of the model.

    ``model`` is a model or its label. ``field`` names one of its sortable ids; the default is that
    of ``public_id``.
    """

    def __init__(self, model: type[models.Model] | str, field: str | None = None) -> None:
        self._model = model
        self._name = field

    def _field(self) -> SortableIDField:
        model = apps.get_model(self._model) if isinstance(self._model, str) else self._model
        return id_field(model, self._name)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        field = self._field()

        def read(value: Any, info: ValidationInfo) -> ID:
            # Otherwise Python code may have passed it.
            is_request = _has(info.context, _REQUEST) and not _has(info.context, _RESPONSE)
            if info.mode != "json" and not is_request:
                if isinstance(value, models.Model):
                    value = getattr(value, field.attname)
                with suppress(InvalidID):
                    return field.scheme.from_int(field.scheme.to_int(value))
            try:
                return field.parse_public(value)
            except ValidationError as error:
                message = encodable(error.messages[0])
                raise PydanticCustomError("invalid_id", "{message}", {"message": message}) from None

        def write(value: Any, info: Any) -> Any:
            is_output = info.mode == "json" or _has(info.context, _RESPONSE)
            return field.shown(value) if is_output else value

        return core_schema.with_info_plain_validator_function(
            read,
            serialization=core_schema.plain_serializer_function_ser_schema(write, info_arg=True),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return schema_of(self._field())


def _has(context: Any, key: str) -> bool:
    return isinstance(context, dict) and key in context


def ninja(orm: Any) -> None:
    """django-ninja: in a ``ModelSchema``, ids and relations to them are public texts."""
    replace((orm.factory, "get_schema_field", _schema_field))


def _schema_field(
    usual: Any, field: Any, *, depth: int = 0, optional: bool = False
) -> tuple[Any, FieldInfo]:
    """The type and the options of a model field in a schema, as django-ninja's own function."""
    own_type, options = usual(field, depth=depth, optional=optional)
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
