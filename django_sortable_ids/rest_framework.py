"""Django REST framework: ids as their public text, in and out.

``ModelSerializer`` takes ``SortableIDField`` for a model's own columns by itself, once both apps
are installed; for relations it has no such hook, which is what ``SortableIDModelSerializer`` is
for.
"""

from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.http import Http404
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    RelatedField,
    SlugRelatedField,
)

from . import fields
from .ids import id_at, read_public
from .rest_relations import all_encodable, encodable, masked_id, model_at, related_model, replace
from .schemes import ID

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    from .rest_pagination import SortableIDCursorPagination as SortableIDCursorPagination

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
        if self.pk_field is not None and "pk_value" in kwargs:
            # A subclass may name the text that it was given.
            with suppress(ValueError):
                kwargs["pk_value"] = self.pk_field.to_representation(kwargs["pk_value"])
        super().fail(key, **all_encodable(kwargs))


class SortableIDSlugRelatedField(SlugField):
    """A relation through another unique id than the key: a foreign key with ``to_field``."""

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        super().fail(key, **all_encodable(kwargs))

    def to_representation(self, obj: Any) -> Any:
        value = super().to_representation(obj)
        field = self._id_of(type(obj))
        return value if field is None or value is None else field.public_text.format(value)

    def _id_of(self, model: type[models.Model]) -> fields.SortableIDField | None:
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

    def _id(self) -> fields.SortableIDField | None:
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
            # What is no URL at all, such as "http://[" or half of a surrogate pair.
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


class MaskedKeyRelatedField(SortableIDRelatedField):
    """What a plain ``ModelSerializer`` has: ``PrimaryKeyRelatedField``, but for masked keys."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.pk_field is None:
            del self.pk_field  # which is then found when it is asked for

    @cached_property
    def pk_field(self) -> Any:  # type: ignore[override]
        key = masked_id(related_model(self), "pk")
        return None if key is None else SortableIDField(key, read_only=False)


class MaskedSlugRelatedField(SortableIDSlugRelatedField):
    """What a plain ``ModelSerializer`` has: ``SlugRelatedField``, but for masked ids."""

    def _id_of(self, model: type[models.Model]) -> fields.SortableIDField | None:
        return masked_id(model, self.slug_field)


class MaskedHyperlinkedRelatedField(SortableIDHyperlinkedRelatedField):
    """What a plain ``HyperlinkedModelSerializer`` has: DRF's field, but for masked ids."""

    def __init__(self, view_name: str | None = None, **kwargs: Any) -> None:
        super(SortableIDHyperlinkedRelatedField, self).__init__(view_name, **kwargs)

    @cached_property
    def model(self) -> Any:  # type: ignore[override]
        return related_model(self)

    def _id(self) -> fields.SortableIDField | None:
        return masked_id(self.model, self.lookup_field)


class MaskedHyperlinkedIdentityField(MaskedHyperlinkedRelatedField, HyperlinkedIdentityField):
    """The URL of the object itself."""


class SortableIDModelSerializer(ModelSerializer):
    """A ``ModelSerializer`` whose relations give and take public texts, too: those of the model,
    and the related fields of DRF that the class declares.

    With hyperlinks: ``class OrderSerializer(SortableIDModelSerializer,
    HyperlinkedModelSerializer)``.
    """

    def get_fields(self) -> Any:
        found = super().get_fields()
        return type(found)(
            (name, _declared(field, field.source or name, self.Meta.model))
            for name, field in found.items()
        )

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        built = super().build_standard_field(field_name, model_field)
        return _through_key(*built, id_at(model_field.model, model_field.name))

    def build_relational_field(self, field_name: str, relation_info: Any) -> Any:
        field_class, kwargs = super().build_relational_field(field_name, relation_info)
        related = relation_info.related_model
        if field_class in (HyperlinkedRelatedField, MaskedHyperlinkedRelatedField):
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
        if field_class in (HyperlinkedIdentityField, MaskedHyperlinkedIdentityField):
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


def __getattr__(name: str) -> Any:
    # DRF's paginators are imported when a view needs them, and not when the app starts.
    if name == "SortableIDCursorPagination":
        from .rest_pagination import SortableIDCursorPagination

        return SortableIDCursorPagination
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register() -> None:
    """Have ``ModelSerializer`` take these fields; called once, when the app is ready."""
    serializers.ModelSerializer.serializer_field_mapping[fields.SortableIDField] = SortableIDField
    plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
    replace(plain, "serializer_related_field", PrimaryKeyRelatedField, MaskedKeyRelatedField)
    replace(plain, "serializer_related_to_field", SlugRelatedField, MaskedSlugRelatedField)
    replace(plain, "serializer_url_field", HyperlinkedIdentityField, MaskedHyperlinkedIdentityField)
    link = MaskedHyperlinkedRelatedField
    replace(linked, "serializer_related_field", HyperlinkedRelatedField, link)


def _through_key(field_class: Any, kwargs: Any, key: fields.SortableIDField | None) -> Any:
    if key is None or not issubclass(field_class, PrimaryKeyRelatedField):
        return field_class, kwargs
    key_field = SortableIDField(key, read_only=False)
    return _mixed(SortableIDRelatedField, field_class), kwargs | {"pk_field": key_field}


def _declared(field: Any, source: str, model: type[models.Model]) -> Any:
    """A field that a serializer of the model declares, with public texts in place of ids."""
    if isinstance(field, ManyRelatedField):
        child = field.child_relation
        made = _declared_relation(child, model_at(child, source, model))
        if made is not child:
            field.child_relation = made
            made.bind(field_name="", parent=field)
        return field
    if isinstance(field, RelatedField):
        return _declared_relation(field, model_at(field, source, model))
    if type(field) in (serializers.ReadOnlyField,):
        target = id_at(model, source.replace(".", LOOKUP_SEP))
        if target is not None:
            return SortableIDField(target, **field._kwargs | {"read_only": True})
    return field


def _declared_relation(relation: Any, related: type[models.Model] | None) -> Any:
    if related is None:
        return relation
    base: Any
    more: dict[str, Any] = {}
    match relation:
        case PrimaryKeyRelatedField(pk_field=None):
            base, target = SortableIDRelatedField, id_at(related, "pk")
            more["pk_field"] = target and SortableIDField(target, read_only=False)
        case SlugRelatedField():
            base, target = SortableIDSlugRelatedField, id_at(related, relation.slug_field)
        case SortableIDHyperlinkedRelatedField():
            return relation
        case HyperlinkedRelatedField():
            is_own = isinstance(relation, HyperlinkedIdentityField)
            base = (
                SortableIDHyperlinkedIdentityField if is_own else SortableIDHyperlinkedRelatedField
            )
            target = id_at(related, relation.lookup_field)
            more["model"] = related
        case _:
            return relation
    if target is None:
        return relation
    return _mixed(base, relation.__class__)(*relation._args, **relation._kwargs | more)


@lru_cache
def _mixed(base: type[Any], usual: type[Any]) -> Any:
    """The class of a field that does what ``base`` does, where a subclass was to be used."""
    if usual is MaskedKeyRelatedField or issubclass(base, usual):
        return base
    return usual if issubclass(usual, base) else type(usual.__name__, (base, usual), {})


def _parse(field: fields.SortableIDField, data: Any) -> ID:
    try:
        return read_public(field, data)
    except ValidationError as error:
        messages = [encodable(text) for text in error.messages]
        raise serializers.ValidationError(messages, code="invalid") from None
