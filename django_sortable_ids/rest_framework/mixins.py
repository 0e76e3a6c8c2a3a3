"""Mixins: views that look up an object by the public text in the URL, and serializers whose
relations accept old ids."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist, ValidationError
from django.db.models.constants import LOOKUP_SEP
from django.http import Http404
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    RelatedField,
    SlugRelatedField,
)

from ..fields.of_model import field_at, id_at, id_field, id_fields
from ..mixins import Leftmost
from ..old_ids import RedirectOldIDs
from ..old_ids.resolving import old_row
from ..schemes.support import nearest

if TYPE_CHECKING:
    from rest_framework.generics import GenericAPIView

    View = GenericAPIView[Any]
    Serializer = serializers.Serializer[Any]
    Link = HyperlinkedRelatedField[Any]
    Relation = RelatedField[Any, Any, Any]
else:
    View = Serializer = Link = Relation = object


class SortableIDLookupMixin(Leftmost, View):
    """For generic views and viewsets: accepts only a public text as the id in the URL.

    Without it, a bare id is found as well as one with its prefix. Either way, a malformed id
    is 404. It stands to the left of the other classes.
    """

    def get_object(self) -> Any:
        argument = self.lookup_url_kwarg or self.lookup_field
        model = self.get_queryset().model
        field = id_at(model, self.lookup_field)
        for reason in () if field else self.needed_lookup(model, self.lookup_field):
            raise ImproperlyConfigured(reason)
        if field is None or argument not in self.kwargs:
            return super().get_object()
        url_kwargs = self.kwargs
        try:
            value = field.parse_public(url_kwargs[argument])
        except ValidationError as error:
            raise Http404(error.messages[0]) from None
        self.kwargs = url_kwargs | {argument: value}
        try:
            return super().get_object()
        finally:
            self.kwargs = url_kwargs

    @classmethod
    def needed_lookup(cls, model: Any, path: str) -> Iterator[str]:
        """What is wrong where a forgotten ``lookup_field`` shows other keys, as the system check
        says, too."""
        if path == "pk" and any(field.unique for field in id_fields(model)):
            name, kind = id_field(model).name, type(model._meta.pk).__name__
            yield (
                f"{cls.__name__} looks up {model._meta.label} by its key, which is of type {kind} "
                f"and no sortable id: set lookup_field = {name!r}"
            )
        name = path.partition(LOOKUP_SEP)[0]
        rows: Any = cls.queryset
        is_usual = cls.get_queryset.__module__.startswith("rest_framework.")
        if rows is None or not is_usual or name in rows.all().query.annotations:
            return  # The rows may have it as an annotation.
        suggested = nearest(name, [field.name for field in id_fields(model)])
        if suggested and field_at(model, name) is None:
            yield f"{cls.__name__} looks up {model._meta.label} by {path!r}{suggested}"


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
            for base, accepting in _ACCEPTING.items():
                if isinstance(relation, base) and not relation.read_only:
                    # The same object: a class to the right may have set its queryset.
                    relation.__class__ = _combined(accepting, relation.__class__)
        return fields


def hide_docstrings() -> None:
    """Keep docstrings out of descriptions; called once, when drf-spectacular is imported.

    Where the project's class has none, it shows that of a base class.
    """
    for base in (AcceptOldIDs, SortableIDLookupMixin, RedirectOldIDs):
        base.__doc__ = None


@lru_cache
def _combined(accepting: type[Any], declared: type[Any]) -> Any:
    return type(declared.__name__, (accepting, declared), {})


class _OldKey(Relation):
    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError:
            row = _old_row(self, getattr(self, "slug_field", "pk"), data)
            if row is None:
                raise
            return row


class _OldLink(Link):
    def get_object(self, view_name: str, view_args: Any, view_kwargs: Any) -> Any:
        try:
            return super().get_object(view_name, view_args, view_kwargs)
        except (serializers.ValidationError, ObjectDoesNotExist):
            row = _old_row(self, self.lookup_field, view_kwargs[self.lookup_url_kwarg])
            if row is None:
                raise
            return row


_ACCEPTING: dict[Any, Any] = {
    PrimaryKeyRelatedField: _OldKey,
    SlugRelatedField: _OldKey,
    HyperlinkedRelatedField: _OldLink,
}


def _old_row(relation: Any, name: str, given: Any) -> Any:
    rows = relation.get_queryset()
    is_key = name in ("pk", rows.model._meta.pk.name)
    return old_row(rows.all(), given) if is_key else None
