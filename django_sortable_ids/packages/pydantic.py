"""pydantic: a type for the public text of an id."""

from contextlib import suppress
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import PydanticCustomError, core_schema

from ..fields import SortableIDField
from ..fields.of_model import id_field
from ..ids import schema_of
from ..schemes import ID, InvalidID
from ..schemes.errors import encodable

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
            is_input = info.mode == "json" or is_request
            return _parsed(field, value) if is_input else _accepted(field, value)

        def write(value: Any, info: Any) -> Any:
            is_output = info.mode == "json" or _has(info.context, _RESPONSE)
            return field.public_text.shown(value) if is_output else value

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


def _accepted(field: SortableIDField, value: Any) -> ID:
    if isinstance(value, models.Model):
        value = getattr(value, field.attname)
    if isinstance(value, field.scheme.value_type):
        with suppress(InvalidID):
            field.scheme.to_int(value)
            accepted: ID = value
            return accepted
    return _parsed(field, value)


def _parsed(field: SortableIDField, value: Any) -> ID:
    try:
        return field.parse_public(value)
    except ValidationError as error:
        message = encodable(error.messages[0])
        raise PydanticCustomError("invalid_id", "{message}", {"message": message}) from None
