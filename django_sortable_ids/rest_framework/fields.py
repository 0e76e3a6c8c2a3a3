"""Serializer fields that output and accept public texts, also in serializers that are not ours."""

from contextlib import suppress
from functools import lru_cache
from typing import Any, NoReturn, Self

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.utils import html
from rest_framework.utils.model_meta import get_field_info

from .. import fields as columns
from ..fields.of_model import id_at
from ..ids import schema_of
from ..schemes import ID
from ..schemes.errors import described, encodable

# Arguments without a meaning for a read-only field.
_INPUT_ARGUMENTS = ("required", "default", "validators")


class SortableIDField(serializers.Field):  # type: ignore[type-arg]
    """Outputs and accepts the public text of a model field's id, with its prefix and encoding.

    ``model_field`` is the field of the model. A primary key is read-only, so that clients can't
    choose one, unless ``read_only=False`` is passed.
    """

    model_field: columns.SortableIDField

    def __init__(self, model_field: columns.SortableIDField, **kwargs: Any) -> None:
        if not isinstance(model_field, columns.SortableIDField):
            raise TypeError(
                f"SortableIDField() takes a model's field, such as Order._meta.get_field('id'); "
                f"found {type(model_field).__name__}: {described(model_field)}"
            )
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


class SortableIDRelatedField(PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """A relation through the primary key; ``pk_field`` is a ``SortableIDField``."""

    pk_field: "SortableIDField"

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if self.pk_field is not None and "pk_value" in kwargs:
            # A subclass may already pass the text instead of a value.
            with suppress(ValueError):
                kwargs["pk_value"] = self.pk_field.to_representation(kwargs["pk_value"])
        super().fail(key, **_all_encodable(kwargs))


class SortableIDSlugRelatedField(SlugRelatedField):  # type: ignore[type-arg]
    """A relation through a unique id other than the key, such as a foreign key's ``to_field``."""

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        super().fail(key, **_all_encodable(kwargs))

    def to_representation(self, obj: Any) -> Any:
        value = super().to_representation(obj)
        field = id_at(type(obj), self.slug_field)
        return value if field is None or value is None else field.public_text.format(value)

    def to_internal_value(self, data: Any) -> Any:
        queryset: Any = self.get_queryset()
        field = id_at(queryset.model, self.slug_field)
        if field is None:
            return super().to_internal_value(data)
        value = _parse(field, data)
        try:
            return queryset.get(**{self.slug_field: value})
        except ObjectDoesNotExist:
            self.fail("does_not_exist", slug_name=self.slug_field, value=data)


class SortableIDHyperlinkedRelatedField(HyperlinkedRelatedField):  # type: ignore[type-arg]
    """A hyperlink with the public text of ``lookup_field``, which is a column of ``model``; without
    ``model``, of that to which the relation leads.
    """

    def __init__(
        self,
        view_name: str | None = None,
        *,
        model: type[models.Model] | None = None,
        **kwargs: Any,
    ) -> None:
        self.model = model
        super().__init__(view_name, **kwargs)

    def _id(self) -> columns.SortableIDField | None:
        model = self.model or related_model(self)
        return None if model is None else id_at(model, self.lookup_field)

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


class PublicKey:
    """The ``pk_field`` of every ``PrimaryKeyRelatedField``: what was passed, else one for public
    texts if the key of the related model is a sortable id.
    """

    def __set__(self, relation: Any, pk_field: Any) -> None:
        state = relation.__dict__
        state["pk_field"] = pk_field
        if pk_field is not None:
            state["_pk_field"] = pk_field

    def __get__(self, relation: Any, owner: type) -> Any:
        if relation is None:
            return self
        try:
            return relation.__dict__["_pk_field"]
        except KeyError:
            model = related_model(relation)
            if model is None:
                return None  # not yet in a serializer
            key = id_at(model, "pk")
            pk_field = None if key is None else _KeyField(key, read_only=False)
            relation.__dict__["_pk_field"] = pk_field
            return pk_field


class _KeyField(SortableIDField):
    """The message about an object that doesn't exist contains what this returns for input."""

    def to_internal_value(self, data: Any) -> ID:
        value = super().to_internal_value(data)
        return ValueText(self.to_representation(value), value)


def _create_as(declared: Any, public: type[Any]) -> None:
    """Fields of exactly the class ``declared`` become those of its subclass ``public``; a project's
    own subclass is left alone.
    """
    usual = declared.__new__

    def create(cls: type[Any], *args: Any, **kwargs: Any) -> Any:
        return usual(public if cls is declared else cls, *args, **kwargs)

    declared.__new__ = create


def related_model(relation: Any) -> type[models.Model] | None:
    """The related model; None until the relation is in a serializer, unless it has a queryset."""
    if relation.queryset is not None:
        related: type[models.Model] = relation.queryset.model
        return related
    bound = relation.parent if isinstance(relation.parent, ManyRelatedField) else relation
    model = getattr(getattr(bound.parent, "Meta", None), "model", None)
    for name in () if bound.source in (None, "*") else bound.source.split("."):
        step = get_field_info(model).relations.get(name) if model else None
        model = None if step is None else step.related_model
    return model if isinstance(model, type) and issubclass(model, models.Model) else None


@lru_cache
def combined(base: type[Any], declared: type[Any]) -> Any:
    """``base``, or a class of ``base`` and ``declared`` if that is a subclass of DRF's field."""
    if issubclass(base, declared):
        return base
    return declared if issubclass(declared, base) else type(declared.__name__, (base, declared), {})


PUBLIC_RELATIONS: dict[Any, type[Any]] = {
    SlugRelatedField: SortableIDSlugRelatedField,
    HyperlinkedIdentityField: SortableIDHyperlinkedIdentityField,
    HyperlinkedRelatedField: SortableIDHyperlinkedRelatedField,
}
"""DRF's related fields, and those that output and accept public texts; subclasses come first."""


def register() -> None:
    """Make serializers use these fields; called once, when the app is ready."""
    plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
    plain.serializer_field_mapping[columns.SortableIDField] = MappedSortableIDField
    PrimaryKeyRelatedField.pk_field = PublicKey()  # type: ignore[assignment]
    defaults: list[tuple[Any, str, Any]] = [
        (plain, "serializer_related_to_field", SlugRelatedField),
        (linked, "serializer_related_field", HyperlinkedRelatedField),
        (plain, "serializer_url_field", HyperlinkedIdentityField),
    ]
    for serializer, attribute, default in defaults:
        public = PUBLIC_RELATIONS[default]
        _create_as(default, public)
        # Not a field that the project has set.
        if getattr(serializer, attribute) is default:
            setattr(serializer, attribute, public)
