"""Serializer fields that output and accept public texts."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.utils import html

from .. import fields as columns
from ..fields.of_model import id_at
from ..json_schema import schema_of
from ..schemes import ID
from ..schemes.errors import encodable

if TYPE_CHECKING:
    Field = serializers.Field[Any, Any, Any, Any]
    KeyField = PrimaryKeyRelatedField[Any]
    SlugField = SlugRelatedField[Any]
    LinkField = HyperlinkedRelatedField[Any]
else:
    Field = serializers.Field
    KeyField = PrimaryKeyRelatedField
    SlugField = SlugRelatedField
    LinkField = HyperlinkedRelatedField

# Arguments without a meaning for a read-only field.
_INPUT_ARGUMENTS = ("required", "default", "validators")


class SortableIDField(Field):
    """Outputs and accepts the public text of a model field's id, with its prefix and encoding.

    ``model_field`` is the field of the model. A primary key is read-only, so that clients can't
    choose one, unless ``read_only=False`` is passed.
    """

    model_field: columns.SortableIDField

    def __init__(self, model_field: columns.SortableIDField, **kwargs: Any) -> None:
        if model_field.primary_key and kwargs.setdefault("read_only", True):
            for argument in _INPUT_ARGUMENTS:
                kwargs.pop(argument, None)
        self.model_field = model_field
        super().__init__(**kwargs)

    @property
    def _spectacular_annotation(self) -> dict[str, Any]:
        """What drf-spectacular's ``extend_schema_field`` would set."""
        return {"field": schema_of(self.model_field)}

    def get_value(self, dictionary: Any) -> Any:
        """Like that of any field, but a blank input of a form is none, and not NULL."""
        if html.is_html_input(dictionary) and dictionary.get(self.field_name) == "":
            return empty
        return super().get_value(dictionary)

    def to_representation(self, value: ID) -> str:
        return self.model_field.public_text.format(value)

    def to_internal_value(self, data: Any) -> ID:
        return _parse(self.model_field, data)


class MappedSortableIDField(serializers.ModelField):
    """What ``ModelSerializer`` calls for a column: it passes ``model_field`` to a ``ModelField``.

    It gives a ``SortableIDField``, which is none: drf-spectacular describes each ``ModelField`` by
    the type of its column.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return SortableIDField(*args, **kwargs)


class SortableIDRelatedField(KeyField):
    """A relation through the primary key; ``pk_field`` is a ``SortableIDField``."""

    pk_field: "SortableIDField"

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if self.pk_field is not None and "pk_value" in kwargs:
            # A subclass may already pass the text instead of a value.
            with suppress(ValueError):
                kwargs["pk_value"] = self.pk_field.to_representation(kwargs["pk_value"])
        super().fail(key, **_all_encodable(kwargs))


class SortableIDSlugRelatedField(SlugField):
    """A relation through a unique id other than the key, such as a foreign key's ``to_field``."""

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        super().fail(key, **_all_encodable(kwargs))

    def to_representation(self, obj: Any) -> Any:
        value = super().to_representation(obj)
        field = self._id_of(type(obj))
        return value if field is None or value is None else field.public_text.format(value)

    def _id_of(self, model: type[models.Model]) -> columns.SortableIDField | None:
        return id_at(model, self.slug_field)

    def to_internal_value(self, data: Any) -> Any:
        queryset: Any = self.get_queryset()
        field = self._id_of(queryset.model)
        if field is None:
            return super().to_internal_value(data)
        value = _parse(field, data)
        try:
            return queryset.get(**{self.slug_field: value})
        except ObjectDoesNotExist:
            self.fail("does_not_exist", slug_name=self.slug_field, value=data)


class SortableIDHyperlinkedRelatedField(LinkField):
    """A hyperlink with the public text of ``lookup_field``, which is a column of ``model``."""

    def __init__(
        self, view_name: str | None = None, *, model: type[models.Model], **kwargs: Any
    ) -> None:
        self.model = model
        super().__init__(view_name, **kwargs)

    def _id(self) -> columns.SortableIDField | None:
        return id_at(self.model, self.lookup_field)

    def get_url(self, obj: Any, view_name: str, request: Any, format: Any) -> Any:
        field = self._id()
        value = getattr(obj, self.lookup_field)
        if field is None or value is None:
            return super().get_url(obj, view_name, request, format)
        text = field.public_text.format(value)
        return self.reverse(
            view_name, kwargs={self.lookup_url_kwarg: text}, request=request, format=format
        )

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except ValueError:
            # Not a URL at all, such as "http://[" or half of a surrogate pair.
            self.fail("no_match")

    def get_object(self, view_name: str, view_args: Any, view_kwargs: Any) -> Any:
        field = self._id()
        if field is not None:
            value = _parse(field, view_kwargs[self.lookup_url_kwarg])
            view_kwargs = view_kwargs | {self.lookup_url_kwarg: value}
        return super().get_object(view_name, view_args, view_kwargs)


class SortableIDHyperlinkedIdentityField(
    SortableIDHyperlinkedRelatedField, HyperlinkedIdentityField
):
    """The URL of the object itself."""


def _parse(field: columns.SortableIDField, data: Any) -> ID:
    try:
        return field.parse_public(data)
    except ValidationError as error:
        messages = [encodable(text) for text in error.messages]
        raise serializers.ValidationError(messages, code="invalid") from None


def _all_encodable(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a message, which may contain input."""
    return {
        key: encodable(value) if isinstance(value, str) else value for key, value in params.items()
    }
