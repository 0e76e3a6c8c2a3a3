"""Django REST framework: ids as their public text, in and out.

``ModelSerializer`` takes ``SortableIDField`` for a model's own columns by itself, once both apps
are installed; for relations it has no such hook, which is what ``SortableIDModelSerializer`` is
for.
"""

from typing import TYPE_CHECKING, Any, NoReturn

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models
from django.http import Http404
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)

from . import fields
from .instances import id_at, id_field, public_id, read_public
from .schemes import ID

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView[Any]
    KeyField = PrimaryKeyRelatedField[Any]
    SlugField = SlugRelatedField[Any]
    LinkField = HyperlinkedRelatedField[Any]
    ModelSerializer = serializers.ModelSerializer[Any]
else:
    View = object
    KeyField = PrimaryKeyRelatedField
    SlugField = SlugRelatedField
    LinkField = HyperlinkedRelatedField
    ModelSerializer = serializers.ModelSerializer

# What says nothing about a field that only gives.
_INPUT_ARGUMENTS = ("required", "default", "allow_null", "validators")


class SortableIDField(serializers.ModelField):
    """Gives and takes the public text of a model field's id: prefix, encoding and all.

    ``model_field`` is the ``fields.SortableIDField``. A primary key is read-only unless
    ``read_only=False`` says otherwise, so that clients can't choose one.
    """

    model_field: fields.SortableIDField

    def __init__(self, model_field: fields.SortableIDField, **kwargs: Any) -> None:
        if model_field.primary_key and kwargs.setdefault("read_only", True):
            for argument in _INPUT_ARGUMENTS:
                kwargs.pop(argument, None)
        super().__init__(model_field, **kwargs)

    def get_attribute(self, instance: Any) -> Any:
        return serializers.Field.get_attribute(self, instance)

    def to_representation(self, value: ID) -> str:
        return self.model_field.public_text.format(value)

    def to_internal_value(self, data: Any) -> ID:
        return _parse(self.model_field, data)


class SortableIDRelatedField(KeyField):
    """A relation through the key; ``pk_field`` is a ``SortableIDField``."""

    pk_field: "SortableIDField"

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if "pk_value" in kwargs:
            kwargs["pk_value"] = self.pk_field.to_representation(kwargs["pk_value"])
        super().fail(key, **kwargs)


class SortableIDSlugRelatedField(SlugField):
    """A relation through another unique id than the key: a foreign key with ``to_field``."""

    def to_representation(self, obj: Any) -> Any:
        return public_id(obj, self.slug_field)

    def to_internal_value(self, data: Any) -> Any:
        queryset: Any = self.get_queryset()
        value = _parse(id_field(queryset.model, self.slug_field), data)
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

    def get_url(self, obj: Any, view_name: str, request: Any, format: Any) -> Any:
        field = id_at(self.model, self.lookup_field)
        value = getattr(obj, self.lookup_field)
        if field is None or value is None:
            return super().get_url(obj, view_name, request, format)
        text = field.public_text.format(value)
        return self.reverse(
            view_name, kwargs={self.lookup_url_kwarg: text}, request=request, format=format
        )

    def get_object(self, view_name: str, view_args: Any, view_kwargs: Any) -> Any:
        field = id_at(self.model, self.lookup_field)
        if field is not None:
            value = _parse(field, view_kwargs[self.lookup_url_kwarg])
            view_kwargs = view_kwargs | {self.lookup_url_kwarg: value}
        return super().get_object(view_name, view_args, view_kwargs)


class SortableIDHyperlinkedIdentityField(
    SortableIDHyperlinkedRelatedField, HyperlinkedIdentityField
):
    """The URL of the object itself."""


class SortableIDModelSerializer(ModelSerializer):
    """A ``ModelSerializer`` whose relations give and take public texts, too.

    With hyperlinks: ``class OrderSerializer(SortableIDModelSerializer,
    HyperlinkedModelSerializer)``.
    """

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        built = super().build_standard_field(field_name, model_field)
        return _through_key(*built, id_at(model_field.model, model_field.name))

    def build_relational_field(self, field_name: str, relation_info: Any) -> Any:
        field_class, kwargs = super().build_relational_field(field_name, relation_info)
        related = relation_info.related_model
        if field_class is HyperlinkedRelatedField:
            return SortableIDHyperlinkedRelatedField, kwargs | {"model": related}
        slug = kwargs.get("slug_field")
        if slug and isinstance(related._meta.get_field(slug), fields.SortableIDField):
            return SortableIDSlugRelatedField, kwargs
        return _through_key(field_class, kwargs, id_at(related, "pk"))

    def build_nested_field(self, field_name: str, relation_info: Any, nested_depth: int) -> Any:
        nested, kwargs = super().build_nested_field(field_name, relation_info, nested_depth)
        return type(nested.__name__, (SortableIDModelSerializer, nested), {}), kwargs

    def build_property_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        for field in model_class._meta.fields:
            target = id_at(model_class, field.name) if field.attname == field_name else None
            if target is not None:
                return SortableIDField, {"model_field": target, "read_only": True}
        return super().build_property_field(field_name, model_class)

    def build_url_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        field_class, kwargs = super().build_url_field(field_name, model_class)
        if field_class is HyperlinkedIdentityField:
            return SortableIDHyperlinkedIdentityField, kwargs | {"model": model_class}
        return field_class, kwargs


class SortableIDLookupMixin(View):
    """For generic views and viewsets: the id in the URL is a public text and nothing else.

    Without it, a bare id is found as well as one with its prefix. Either way a malformed id is
    404.
    """

    def get_object(self) -> Any:
        argument = self.lookup_url_kwarg or self.lookup_field
        field = id_at(self.get_queryset().model, self.lookup_field)
        if field is None or argument not in self.kwargs:
            return super().get_object()
        given = self.kwargs
        try:
            value = read_public(field, given[argument])
        except ValidationError as error:
            raise Http404(error.messages[0]) from None
        self.kwargs = given | {argument: value}
        try:
            return super().get_object()
        finally:
            self.kwargs = given


def register() -> None:
    """Have ``ModelSerializer`` take ``SortableIDField``; called once, when the app is ready."""
    serializers.ModelSerializer.serializer_field_mapping[fields.SortableIDField] = SortableIDField


def _through_key(field_class: Any, kwargs: Any, key: fields.SortableIDField | None) -> Any:
    if key is None or not issubclass(field_class, PrimaryKeyRelatedField):
        return field_class, kwargs
    if field_class is PrimaryKeyRelatedField:
        field_class = SortableIDRelatedField
    return field_class, kwargs | {"pk_field": SortableIDField(key, read_only=False)}


def _parse(field: fields.SortableIDField, data: Any) -> ID:
    try:
        return read_public(field, data)
    except ValidationError as error:
        # JSON may spell half a surrogate pair, which no answer could be encoded with.
        messages = [text.encode(errors="backslashreplace").decode() for text in error.messages]
        raise serializers.ValidationError(messages, code="invalid") from None
