"""Ids from before the move of a primary key to a sortable id: they still answer.

A moved model has its old key in a unique field next to the key, ``old_id`` for a key ``id``. New
rows have NULL there. The functions also work before the move: deploy code that calls them first.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress
from functools import wraps
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import unquote

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import FieldDoesNotExist, ImproperlyConfigured, ValidationError
from django.db import models
from django.db.models import Manager, Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.urls import get_script_prefix, resolve, reverse

from .fields import SortableIDField
from .fields.of_model import id_at, referenced_column
from .fields.public import evaluated
from .schemes import TimeScheme
from .schemes.errors import shown

if TYPE_CHECKING:
    from django.views.generic.base import View

    Field: TypeAlias = models.Field[Any, Any]
else:
    View = object

__all__ = ["RedirectOldIDs", "old_key_field", "resolve_id", "resolve_ids"]

Row = TypeVar("Row", bound=models.Model)
Value = TypeVar("Value", bound=Hashable)

_INTEGER = re.compile("-?[0-9]{1,19}")
_INTEGERS = range(-(2**63), 2**63)
_READING = ("GET", "HEAD")
_OF_CACHES = ("Cache-Control", "Vary")


class Key(NamedTuple):
    path: str
    field: Field

    def values(self, given: Any) -> tuple[Any, ...]:
        """The values that ``given`` may stand for in this field; none if it can't be one."""
        given = evaluated(given)
        if isinstance(given, bool) or not isinstance(given, str | Integral | uuid.UUID):
            return ()
        given = int(given) if isinstance(given, Integral) else given
        value: Any = None
        match self.field:
            case SortableIDField():
                return self.field.readings(given)
            case models.IntegerField():
                is_number = isinstance(given, int) or _INTEGER.fullmatch(str(given))
                value = int(given) if is_number and int(given) in _INTEGERS else None
            case models.UUIDField() if not isinstance(given, int):
                with suppress(ValueError):
                    value = uuid.UUID(str(given))
            case models.CharField() | models.TextField() if isinstance(given, str):
                # PostgreSQL refuses NUL, and all databases refuse halves of surrogate pairs:
                # neither is printable.
                value = given if given.isprintable() else None
        return () if value in (None, "") else (value,)


def old_key_field(model: type[models.Model]) -> Field | None:
    """The field with the old primary key; None if the model's key wasn't moved.

    Its name is ``"old_"`` and the name of the key. It is unique and no relation. If the key is a
    relation, as in a child of multi-table inheritance, it is the old key of the related model.
    """
    key = old_key(model)
    return None if key is None else key.field


def resolve_id(rows: type[Row] | Manager[Row] | QuerySet[Row], given: Any) -> Any:
    """The present primary key for an id in any spelling, or for an old id.

    ``given`` is a value, a public text, a bare text, or an old key as a value or text: ``17``,
    ``"17"``. Old ids are looked up among ``rows``, in one query. An id that can only be a present
    one is returned without a query, whether or not such a row exists.

    Digits may be a present 64-bit id and an old integer: the present key is returned if such a row
    exists, else that of the row with the old one. Raises the model's ``DoesNotExist`` if there is
    neither. Raises ``ValidationError`` for anything that is no id of the model.
    """
    keys = resolve_ids(rows, [given])
    if given not in keys:
        model: Any = _queryset(rows).model
        raise model.DoesNotExist(f"{model._meta.label} has no row with the id {shown(given)}")
    return keys[given]


def resolve_ids(
    rows: type[Row] | Manager[Row] | QuerySet[Row], given: Iterable[Value]
) -> dict[Value, Any]:
    """``resolve_id`` for many ids: a dict from each one to the present key, in one query.

    Old ids without a row are left out. Raises ``ValidationError`` if one of them is no id of the
    model, and ``TypeError`` for a text.
    """
    if isinstance(given, str):
        raise TypeError(f"expected a list of ids, found the text {given!r}: use resolve_id()")
    queryset = _queryset(rows)
    present, old = present_key(queryset.model), old_key(queryset.model)
    keys: dict[Value, Any] = {}
    unknown: dict[Value, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}
    for given_id in given:
        presents, olds = present.values(given_id), old.values(given_id) if old else ()
        if not presents and not olds:
            if isinstance(present.field, SortableIDField):
                raise present.field.invalid(given_id)
            label = queryset.model._meta.label
            raise ValidationError(f"“{shown(given_id)}” is no id of {label}", code="invalid")
        if len(presents) == 1 and not olds:
            keys[given_id] = presents[0]
        else:
            unknown[given_id] = presents, olds
    existing, by_old = _look_up(queryset, old, unknown.values())
    for given_id, (presents, olds) in unknown.items():
        matches = [value for value in presents if value in existing]
        matches += [by_old[value] for value in olds if value in by_old]
        # As everywhere, the likeliest candidate of a masked text that no row has.
        matches += () if olds else presents[:1]
        if matches:
            keys[given_id] = matches[0]
    return keys


def old_row(rows: QuerySet[Row], given: Any) -> Row | None:
    """The row of ``rows`` with that old key; None if there is none, or if it can't be an old key,
    which needs no query."""
    key = old_key(rows.model)
    values = key.values(given) if key else ()
    return rows.filter(**{f"{key.path}__in": values}).first() if key and values else None


def old_key(model: type[models.Model]) -> Key | None:
    """The field of ``old_key_field``, with its path from the model."""
    path: list[str] = []
    key: Any = model._meta.pk
    while True:
        with suppress(FieldDoesNotExist):
            field = key.model._meta.get_field(f"old_{key.name}")
            if field.concrete and field.unique and not field.is_relation:
                return Key(LOOKUP_SEP.join([*path, field.name]), field)
        if not key.is_relation:
            return None
        path.append(key.name)
        key = key.target_field


def present_key(model: type[models.Model]) -> Key:
    """The primary key; if it is a relation, the field that it references."""
    return Key("pk", referenced_column(model._meta.pk))


def _queryset(rows: type[Row] | Manager[Row] | QuerySet[Row]) -> QuerySet[Row]:
    return (rows._default_manager if isinstance(rows, type) else rows).all()


def _look_up(
    rows: QuerySet[Any], old: Key | None, unknown: Collection[tuple[Any, Any]]
) -> tuple[set[Any], dict[Any, Any]]:
    """Which of the present keys exist, and the present keys by the old ones."""
    presents = {value for values, _ in unknown for value in values}
    condition = Q(pk__in=presents)
    if old is None:
        return set(rows.filter(condition).values_list("pk", flat=True)), {}
    olds = {value for _, values in unknown for value in values}
    condition |= Q(**{f"{old.path}__in": olds})
    pairs = list(rows.filter(condition).values_list("pk", old.path))
    by_old = {value: pk for pk, value in pairs}
    if any(pk not in presents and value not in olds for pk, value in pairs):
        # A collation may ignore case or spaces at the end: only the database knows what is equal.
        for value in olds - by_old.keys():
            pks = rows.filter(**{old.path: value}).values_list("pk", flat=True)
            by_old.update((value, pk) for pk in pks[:1])
    return {pk for pk, _ in pairs}, by_old


# Views


class Leftmost:
    # To the left of what it extends. A docstring would describe each view of a project in OpenAPI.
    def __init_subclass__(cls, **options: Any) -> None:
        """Raises ``ImproperlyConfigured`` where a class of Django or of REST framework hides it."""
        super().__init_subclass__(**options)
        for place, mixin in enumerate(cls.__mro__):
            if Leftmost not in mixin.__bases__:
                continue
            extended = {name for name in vars(mixin) if not name.startswith("_")}
            for base in cls.__mro__[:place]:
                is_hidden = not extended.isdisjoint(vars(base))
                if is_hidden and base.__module__.partition(".")[0] in ("django", "rest_framework"):
                    raise ImproperlyConfigured(
                        f"{cls.__name__}: {mixin.__name__} stands to the right of {base.__name__}, "
                        f"where it has no effect: write it first in the parentheses"
                    )


class RedirectOldIDs(Leftmost, View):
    """For class-based views of one row, of Django and of Django REST framework: a URL with the old
    id of a row redirects to the same URL with the public text of its present id.

    The view runs as if the present id had been in the URL. Only a successful answer (2xx) to GET or
    HEAD is replaced by the redirect. The class stands to the left of the others, and needs
    ``model`` or ``queryset``. In REST, ``lookup_field`` must be the primary key.
    """

    redirect_permanently: bool = True
    """Answer 301; if False, 302."""

    @classmethod
    def as_view(cls, *args: Any, **options: Any) -> Any:
        usual: Any = super().as_view(*args, **options)
        if iscoroutinefunction(usual):
            raise ImproperlyConfigured(
                f"{cls.__name__} is async, and RedirectOldIDs is not: call resolve_id() in the view"
            )
        of_view: Any = cls(**options)
        name, rows = _argument_and_rows(of_view)

        @wraps(usual)
        def view(request: Any, *args: Any, **kwargs: Any) -> Any:
            url = _present_url(request, rows, name, kwargs.get(name))
            if url is None:
                answer = usual(request, *args, **kwargs)
                if hasattr(request, "_has_old_id"):
                    # cache_page() would answer the old URL with the page of the present one.
                    request._cache_update_cache = False
                return answer
            request._has_old_id = True
            path = "/" + unquote(url).removeprefix(get_script_prefix())
            request.resolver_match = match = resolve(path)
            answer = match.func(request, *args, **match.kwargs)
            if request.method not in _READING or not 200 <= answer.status_code < 300:
                return answer
            redirect: Any = redirect_to(request, url, permanently=of_view.redirect_permanently)
            for header in _OF_CACHES:
                if header in answer.headers:
                    redirect.headers[header] = answer.headers[header]
            redirect._resource_closers.extend(answer._resource_closers)  # files of a FileResponse
            return redirect

        return view


def _argument_and_rows(view: Any) -> tuple[str, QuerySet[Any]]:
    """The argument of the view's URLs that may be an old id, empty for none; and all rows."""
    queryset: Any = getattr(view, "queryset", None)
    model: Any = getattr(view, "model", None) if queryset is None else queryset.model
    if model is None:
        raise ImproperlyConfigured(
            f"{type(view).__name__} has neither a model nor a queryset, so RedirectOldIDs has "
            f"no rows with old ids: set `model` in the class, also next to a get_queryset()"
        )
    lookup = getattr(view, "lookup_field", None)
    if lookup is None:
        name = getattr(view, "pk_url_kwarg", "pk")
    else:
        is_key = lookup in ("pk", model._meta.pk.name)
        name = (view.lookup_url_kwarg or lookup) if is_key else ""
    # The view itself decides which rows are seen, so all are looked up here.
    return name, model._base_manager.using(None if queryset is None else queryset._db)


def _present_url(request: HttpRequest, rows: QuerySet[Any], name: str, argument: Any) -> str | None:
    """The URL with the present id, if the URL of the request has an old one."""
    model = rows.model
    key, old = id_at(model, "pk"), old_key(model)
    if request.resolver_match is None or not (key and old and old.values(argument)):
        return None
    pk = resolve_ids(rows, [argument]).get(argument)
    presents = present_key(model).values(argument)
    if presents and pk in (None, *presents):
        return None
    if pk is None:
        if request.method not in _READING or not isinstance(key.scheme, TimeScheme):
            return None
        # The view answers as for a present id that no row has, by as many queries as for a row
        # that it hides.
        pk = key.scheme.generate()
    return url_with(request, {name: key.public_text.format(pk)})


def url_with(request: HttpRequest, changes: dict[str, Any]) -> str:
    """The URL of the request's own route with other arguments."""
    match: Any = request.resolver_match
    return reverse(match.view_name if match.url_name else match.func, kwargs=match.kwargs | changes)


def redirect_to(
    request: HttpRequest, url: str, *, permanently: bool
) -> HttpResponseRedirect | HttpResponsePermanentRedirect:
    """A redirect to the URL, with the query string and the method of the request."""
    if query := request.META.get("QUERY_STRING"):
        url = f"{url}?{query}"
    redirect = HttpResponsePermanentRedirect if permanently else HttpResponseRedirect
    return redirect(url, preserve_request=request.method not in _READING)
