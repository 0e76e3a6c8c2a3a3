"""Public texts in all serializers: a field for ids, and methods of REST framework's own fields for
relations and for what is only read. Relations that accept old ids, too."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.relations import (
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.utils import html
from rest_framework.utils.model_meta import get_field_info

from .. import fields as columns
from ..fields.of_model import id_at
from ..ids import is_converted, schema_of
from ..old_ids import Leftmost, old_row
from ..packages import replace
from ..schemes import ID, InvalidID
from ..schemes.errors import encodable

if TYPE_CHECKING:
    Serializer = serializers.Serializer[Any]
else:
    Serializer = object


class PublicIDField(serializers.Field):  # type: ignore[type-arg]
    """Outputs and accepts the public text of a model field's id, with its prefix and encoding.

    ``model_field`` is the field of the model. A primary key is read-only, so that clients can't
    choose one, unless ``read_only=False`` or ``write_only=True`` is passed.
    """

    model_field: columns.SortableIDField

    def __init__(self, model_field: columns.SortableIDField, **kwargs: Any) -> None:
        is_key_of_output = model_field.primary_key and not kwargs.get("write_only")
        self._is_chosen_by_nobody = is_key_of_output and "read_only" not in kwargs
        if is_key_of_output and kwargs.setdefault("read_only", True):
            for argument_of_input in ("required", "default", "validators"):
                kwargs.pop(argument_of_input, None)
        self.model_field = model_field
        super().__init__(**kwargs)

    @property
    def _spectacular_annotation(self) -> dict[str, Any]:
        """What drf-spectacular's ``extend_schema_field`` would set."""
        return {"field": schema_of(self.model_field)}

    def bind(self, field_name: str, parent: Any) -> None:
        super().bind(field_name, parent)
        # A member of a list or dictionary is an id that exists: else it would be left out.
        is_member = isinstance(parent, serializers.ListField | serializers.DictField)
        self.read_only = self.read_only and not (is_member and self._is_chosen_by_nobody)

    def get_value(self, dictionary: Any) -> Any:
        """Like ``get_value`` of any field, but a blank input of a form is none, and not NULL."""
        if html.is_html_input(dictionary) and dictionary.get(self.field_name) == "":
            return empty
        return super().get_value(dictionary)

    def to_representation(self, value: ID) -> Any:
        try:
            return self.model_field.public_text.format(value)
        except InvalidID:  # a text that was assigned to the row
            return self.model_field.shown(value)

    def to_internal_value(self, data: Any) -> ID:
        return _parse(self.model_field, data)


class MappedPublicIDField(serializers.ModelField):
    """What ``ModelSerializer`` calls for a column: it passes ``model_field`` to a ``ModelField``.

    ``__new__`` returns a ``PublicIDField``, which isn't a ``ModelField``: drf-spectacular describes
    each of those by the type of its column.
    """

    def __new__(cls, model_field: columns.SortableIDField, **kwargs: Any) -> Any:
        passed = kwargs.pop("validators", ())
        # REST framework makes arguments of some validators, and of ``max_length``.
        for limit in ("max_length", "min_length", "max_value", "min_value"):
            kwargs.pop(limit, None)
        if model_field.generates_ids:
            kwargs.setdefault("required", False)
        of_model = [validator for validator in model_field.validators if validator not in passed]
        return PublicIDField(model_field, validators=[*passed, *of_model], **kwargs)


def _parse(field: columns.SortableIDField, data: Any) -> ID:
    try:
        return field.parse_public(data)
    except ValidationError as error:
        messages = [encodable(text) for text in error.messages]
        if isinstance(data, int | float) and not isinstance(data, bool):
            messages += [_("Send the id as a string: JavaScript rounds large numbers in JSON.")]
        raise serializers.ValidationError(messages, code="invalid") from None


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
    texts if the key of the related model is a sortable id."""

    def __set__(self, relation: Any, pk_field: Any) -> None:
        if isinstance(pk_field, PublicIDField):
            pk_field = _KeyField(pk_field.model_field, read_only=False)
        if pk_field is not None:
            relation.__dict__["_pk_field"] = pk_field

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


class _KeyField(PublicIDField):
    """The message about an object that doesn't exist contains what this returns for input."""

    def to_internal_value(self, data: Any) -> ID:
        value = super().to_internal_value(data)
        return ValueText(self.to_representation(value), value)


def related_model(relation: Any) -> type[models.Model] | None:
    """The related model of Django; None until a relation without a queryset is in a serializer."""
    if relation.queryset is not None:
        related: type[models.Model] | None = getattr(relation.queryset, "model", None)
        return related
    bound = relation.parent if isinstance(relation.parent, ManyRelatedField) else relation
    model = _model_of(bound)
    for name in () if bound.source in (None, "*") else bound.source.split("."):
        step = get_field_info(model).relations.get(name) if model else None
        model = None if step is None else step.related_model
    return model


def _model_of(field: Any) -> type[models.Model] | None:
    model = getattr(getattr(field.parent, "Meta", None), "model", None)
    return model if isinstance(model, type) and issubclass(model, models.Model) else None


# Methods of REST framework's own fields, so that its subclasses in a project have them too


def register() -> None:
    """Make all serializers use public texts; called once, when REST framework is imported."""
    PrimaryKeyRelatedField.pk_field = PublicKey()  # type: ignore[assignment]
    replace(
        (serializers.ModelSerializer, "build_standard_field", _column),
        (SlugRelatedField, "to_representation", _slug),
        (SlugRelatedField, "to_internal_value", _row_of_slug),
        (HyperlinkedRelatedField, "get_url", _url),
        (HyperlinkedRelatedField, "get_object", _row_of_url),
        (HyperlinkedRelatedField, "to_internal_value", _row_of_link),
        (serializers.ReadOnlyField, "to_representation", _read_only),
    )


def _column(usual: Any, serializer: Any, name: str, column: Any) -> Any:
    """The field of a column. The serializer may have a mapping from before ``register``."""
    serializer.serializer_field_mapping.setdefault(columns.SortableIDField, MappedPublicIDField)
    return usual(serializer, name, column)


def _slug(usual: Any, relation: Any, row: Any) -> Any:
    """The public text of an id other than the key, such as a foreign key's ``to_field``."""
    value = usual(relation, row)
    field = id_at(row._meta.model, relation.slug_field) if isinstance(row, models.Model) else None
    return value if field is None else field.shown(value)


def _row_of_slug(usual: Any, relation: Any, data: Any) -> Any:
    rows, slug = relation.get_queryset(), relation.slug_field
    field = id_at(rows.model, slug) if isinstance(rows, models.QuerySet) else None
    if field is None:
        return usual(relation, data)
    try:
        return rows.get(**{slug: _parse(field, data)})
    except ObjectDoesNotExist:
        relation.fail("does_not_exist", slug_name=slug, value=data)


def _url(usual: Any, relation: Any, row: Any, view_name: str, request: Any, format: Any) -> Any:
    field = _id_in_url(relation)
    value: Any = field and getattr(row, relation.lookup_field)
    if field is None or value is None:
        return usual(relation, row, view_name, request, format)
    kwargs = {relation.lookup_url_kwarg: field.shown(getattr(value, "pk", value))}
    return relation.reverse(view_name, kwargs=kwargs, request=request, format=format)


def _row_of_url(usual: Any, relation: Any, view_name: str, view_args: Any, view_kwargs: Any) -> Any:
    field, name = _id_in_url(relation), relation.lookup_url_kwarg
    *namespaces, view = view_name.split(":")
    if field is not None and not is_converted(name, view, namespaces):
        view_kwargs = {**view_kwargs, name: _parse(field, view_kwargs[name])}
    return usual(relation, view_name, view_args, view_kwargs)


def _row_of_link(usual: Any, relation: Any, data: Any) -> Any:
    try:
        return usual(relation, data)
    except ValueError:  # no URL at all, such as "http://[" or half of a surrogate pair
        relation.fail("no_match")


def _id_in_url(relation: Any) -> columns.SortableIDField | None:
    model = related_model(relation)
    return None if model is None else id_at(model, relation.lookup_field)


def _read_only(usual: Any, field: Any, value: Any) -> Any:
    """The value of a read-only field, also of ``"order_id"`` among the ``fields``."""
    if not hasattr(field, "_id_column"):
        model = _model_of(field)
        field._id_column = model and id_at(model, LOOKUP_SEP.join(field.source_attrs))
    column = field._id_column
    return usual(field, value) if column is None else column.shown(value)


# Old ids


class AcceptOldIDs(Leftmost, Serializer):
    """For serializers: the input of each relation may also be the old id of a row, as a number, as
    text, or in a URL. Output has present ids only.

    It stands to the left of the other classes. The row must be among those of the relation's
    queryset. A present id needs no further query.
    """

    def get_fields(self) -> Any:
        fields = super().get_fields()
        for field in fields.values():
            relation = field.child_relation if isinstance(field, ManyRelatedField) else field
            is_link = isinstance(relation, HyperlinkedRelatedField)
            is_key = isinstance(relation, PrimaryKeyRelatedField | SlugRelatedField)
            if (is_link or is_key) and not relation.read_only:
                method = "get_object" if is_link else "to_internal_value"
                usual = getattr(relation, method)
                setattr(relation, method, partial(_row_of_old_id, relation, usual))
        return fields


def _row_of_old_id(relation: Any, usual: Any, *given: Any) -> Any:
    """The row that ``usual`` finds, else the one with that old key."""
    try:
        return usual(*given)
    except (serializers.ValidationError, ObjectDoesNotExist):
        rows, old_id = relation.get_queryset(), given[-1]
        name = getattr(relation, "slug_field", "pk")
        if isinstance(relation, HyperlinkedRelatedField):
            name, old_id = relation.lookup_field, old_id[relation.lookup_url_kwarg]
        is_key = name in ("pk", rows.model._meta.pk.name)
        row = old_row(rows.all(), old_id) if is_key else None
        if row is None:
            raise
        return row
