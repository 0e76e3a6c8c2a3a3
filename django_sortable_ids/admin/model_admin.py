"""The base class of the model admins of a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from django.contrib import admin
from django.contrib.admin.sites import all_sites
from django.contrib.admin.utils import lookup_spawns_duplicates, quote, unquote
from django.contrib.admin.views.main import ChangeList
from django.core.checks import CheckMessage
from django.core.exceptions import FieldError, ImproperlyConfigured
from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.forms import Script
from django.http import HttpRequest
from django.urls import URLPattern
from django.utils import formats
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import pgettext, pgettext_lazy

from ..checks import message
from ..fields import SortableIDField
from ..fields.of_model import field_at, id_fields, local_time, main_field, referenced_id
from ..histograms.counting import timed_column
from ..histograms.histogram import SECONDS
from ..old_ids import old_key, old_row, redirect_to, url_with
from ..pagination import SortableIDPaginator
from ..schemes import InvalidID, OutOfRange, TimeScheme
from .change_list import with_ids
from .created_at_filter import CreatedAtFilter
from .inspector import inspect_id_urls

_LIST = "django_sortable_ids/admin/change_list.html"
_ROW = "django_sortable_ids/admin/change_form.html"
PASTED = f"{LOOKUP_SEP}pasted"
_OPTIONS = ("created_at_hierarchy", "created_at_hierarchy_seconds")
_FEWEST_BITS = 80
"""An id with as many bits is long enough that no word and no number is one by chance."""


class SortableIDAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A ``ModelAdmin`` that finds a pasted id, shows ids and their times, and pages through large
    tables.

    **Search.** In addition to ``search_fields``, the search matches the key and the unique ids of
    the model in any accepted spelling. An id in ``search_fields`` (``"order__id"``) is also matched
    as a whole. A term that can only be an id, with its prefix or of 80 bits and more, is looked up
    by the ids alone first, and by the other columns only if no row has it.

    **Columns**, for ``list_display`` and ``readonly_fields``. ``"public_id"`` is the public text of
    the main id, ``"id_created_at"`` the time in the first id that has one. For each of several ids
    there are ``"<field>_public_text"`` and ``"<field>_created_at"``. They sort by their id. The
    change page shows the main id, its public text and its time, unless the class has ``fields`` or
    ``fieldsets``.

    **Large tables.** ``paginator`` is ``SortableIDPaginator``, which counts up to 10,000 rows
    exactly. In the order of a unique id, there are links to the next and the previous page.

    **URLs.** The public text of any unique id opens the pages of a row, and so does the old id of a
    moved key.
    """

    created_at_hierarchy: str | None = None
    """The path of an id, ``"id"`` or ``"order__id"``, whose creation times are drawn above the
    list: bars of the years, which lead to the months of a year, the days, the hours and the
    minutes. The bars count the rows of the list, with its filters, search and ``get_queryset()``,
    from the id's index alone."""
    created_at_hierarchy_seconds: float = SECONDS
    """How long a page may look for the bars and count them. After that time, the counts are said as
    "more than", or left out."""
    paginator = SortableIDPaginator

    class Media:
        css = {"all": ["django_sortable_ids/admin.css"]}
        js = [Script("django_sortable_ids/copy.js", defer=True)]

    def __init__(self, model: type[models.Model], admin_site: admin.AdminSite) -> None:
        super().__init__(model, admin_site)
        if not self.search_fields:
            # The system check of autocomplete_fields reads the attribute.
            unique_ids = [field.name for field in id_fields(model) if field.unique]
            self.search_fields = unique_ids  # type: ignore[misc]
        self._columns = columns(self)
        for name, column in self._columns.items():
            if not hasattr(self, name):
                setattr(self, name, column)
        if "public_id_public_text" in self._columns and "public_id" not in self.list_editable:
            # The list shows a field of that name as its public text, as its name says, and not as
            # its value, which has no prefix.
            for option in ("list_display", "list_display_links", "sortable_by"):
                if names := getattr(self, option):
                    texts = {"public_id": "public_id_public_text"}
                    setattr(self, option, [texts.get(listed, listed) for listed in names])

    def get_urls(self) -> list[URLPattern]:
        return [*inspect_id_urls(self.admin_site), *super().get_urls()]

    # The list

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        usual: Any = super().get_changelist(request, **kwargs)
        return with_ids(usual)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        response: Any = super().changelist_view(request, extra_context)
        context = getattr(response, "context_data", None) or {}
        change_list = context.get("cl")
        if isinstance(change_list, ChangeList):
            # Extends whatever template the list has, as each project may have its own.
            context["list_template"] = response.resolve_template(response.template_name)
            response.template_name = _LIST
            context["days_filters"] = []
            for spec in change_list.filter_specs:
                if isinstance(spec, CreatedAtFilter):
                    # The list has the form of its days: themes have a form around all filters.
                    spec.has_form_in_list = True
                    spec.read_parameters(change_list)
                    context["days_filters"].append(spec)
        return response

    # Search

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        declared = [self._whole(name) for name in super().get_search_fields(request)]
        pasted = [f"{field.name}{PASTED}" for field in id_fields(self.model) if field.unique]
        return list(dict.fromkeys([*declared, *pasted]))

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        # PostgreSQL raises an error for NUL. The list's form refuses it; autocomplete has no form.
        if "\0" in search_term:
            return queryset.none(), False
        with_id = rows_with_id(queryset, self.get_search_fields(request), search_term)
        if with_id is not None:
            return with_id
        rows, may_repeat = super().get_search_results(request, queryset, search_term)
        key = old_key(self.model)
        if key and (values := key.values(search_term.strip())):
            rows |= queryset.filter(**{f"{key.path}__in": values})
        return rows, may_repeat

    def _whole(self, name: str) -> str:
        """The lookup of a whole id, if the name is one of an id, with a lookup or without."""
        path = name.lstrip("^=@")
        if field_at(self.model, path) is None:
            path = path.rpartition(LOOKUP_SEP)[0]
        field = field_at(self.model, path)
        target = referenced_id(field)
        if target is None:
            return name
        return f"{path}{PASTED}" if target is field else f"{path}__{target.name}{PASTED}"

    # The pages of a row

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response: Any = super().changeform_view(request, *args, **kwargs)
        context = getattr(response, "context_data", None) or {}
        column = self._columns.get("public_id")
        value = column and getattr(context.get("original"), column.field.attname, None)
        if column and value is not None:
            # Extends whatever template the page has.
            context["form_template"] = response.resolve_template(response.template_name)
            context["inspected"] = column.field.shown(value)
            response.template_name = _ROW
        return response

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        declared = super().get_readonly_fields(request, obj)
        return [*declared, *(name for name in self._id_names(obj) if name not in declared)]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        first = [name for name in self._id_names(obj) if name in fields]
        return [*first, *(name for name in fields if name not in first)]

    def _id_names(self, obj: Any) -> list[str]:
        """The fields of the main id that the page of an existing row shows by itself."""
        by_name = self._columns
        if obj is None or self.fields or self.fieldsets or not by_name:
            return []
        field = by_name["public_id"].field
        names = ["public_id", "id_created_at"]
        if field_at(self.model, "public_id") is not None:
            names[0] = f"{field.name}_public_text"
        if "id_created_at" not in by_name or by_name["id_created_at"].field is not field:
            names[1] = f"{field.name}_created_at"
        example = field.scheme.example
        has_own_text = field.shown(example) != str(example)
        if has_own_text and not field.editable and field.name != "public_id":
            names.insert(0, field.name)
        return [name for name in names if name in by_name or name == field.name]

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> Any:
        """Django's answer for a key that no row has; or a redirect to the row whose old key it is,
        or the text of another unique id than the key."""
        text, rows = unquote(object_id), self.get_queryset(request)
        row: Any = old_row(rows, text)
        for field in id_fields(self.model):
            if row is None and field.unique and not field.primary_key and not field.wrong_options:
                row = rows.filter(**{f"{field.name}{PASTED}": text}).first()
        # The project may refuse rows where it loads them.
        row = row and self.get_object(request, str(row.pk))
        if row is None or not self.has_view_or_change_permission(request, row):
            usual: Any = super()
            return usual._get_obj_does_not_exist_redirect(request, opts, object_id)
        url = url_with(request, {"object_id": quote(row.pk)})
        return redirect_to(request, url, permanently=False)


def rows_with_id(
    rows: QuerySet[Any], search_fields: Iterable[str], term: str
) -> tuple[QuerySet[Any], bool] | None:
    """The rows with the id that the term spells, and whether one may be among them twice.

    ``search_fields`` are lookups; lookups of ids end with ``__pasted``. None if there is no such
    row, or if the term may be anything else than an id.
    """
    text, conditions, may_repeat = term.strip(" \"'"), Q(), False
    for name in search_fields:
        path = str(name).removesuffix(PASTED)
        field = field_at(rows.model, path)
        if path == name or not isinstance(field, SortableIDField) or field.wrong_options:
            continue
        # A text that spells an id is no other text if it has the prefix, or is so long.
        scheme, prefixes = field.scheme, filter(None, field.public_text.accepted_prefixes)
        is_long = isinstance(scheme, TimeScheme) and scheme.bits >= _FEWEST_BITS
        if not (is_long and not text.isdecimal()) and not text.startswith(tuple(prefixes)):
            continue
        with_id = Q(**{name: text})
        if field.readings(text) and rows.filter(with_id).exists():
            conditions |= with_id
            may_repeat = may_repeat or lookup_spawns_duplicates(rows.model._meta, path)
    return (rows.filter(conditions), may_repeat) if conditions else None


# The system check


def check_admins(app_configs: Any = None, **_: Any) -> list[CheckMessage]:
    """The errors of the admins, of all sites, that ask for times where there are none."""
    admins = [model_admin for site in all_sites for model_admin in site._registry.values()]
    return [
        message("E017", type(model_admin), option=option, reason=reason, fix=fix)
        for model_admin in admins
        for option, reason, fix in (*_wrong_hierarchies(model_admin), *_wrong_filters(model_admin))
    ]


_Wrong = tuple[str, object, str]
"""An option, what is wrong with it, and what to do."""
_NAME_A_PATH = "Name the path of a sortable id with a time, such as 'id' or 'order__id'."


def _wrong_hierarchies(model_admin: admin.ModelAdmin[Any]) -> Iterator[_Wrong]:
    option, admin_class = "created_at_hierarchy", type(model_admin)
    path = getattr(model_admin, option, None)
    if path is not None and not isinstance(model_admin, SortableIDAdmin):
        derive = "Derive the class from SortableIDAdmin, of django_sortable_ids.admin."
        yield option, f"{admin_class.__name__} ignores it", derive
    elif path is not None and (reason := _no_times(model_admin, path)):
        yield option, reason, _NAME_A_PATH
    for name in vars(admin_class) if isinstance(model_admin, SortableIDAdmin) else ():
        meant = get_close_matches(name, _OPTIONS, n=1, cutoff=0.9)
        if meant and not hasattr(SortableIDAdmin, name):
            yield option, f"{name} is no option; nearest: {meant[0]}", "Correct the name."


def _wrong_filters(model_admin: admin.ModelAdmin[Any]) -> Iterator[_Wrong]:
    items: Any = model_admin.list_filter
    for item in items if isinstance(items, list | tuple) else ():  # Django reports other types
        named, filter_class = item if isinstance(item, list | tuple) else (item, None)
        if not (isinstance(filter_class, type) and issubclass(filter_class, CreatedAtFilter)):
            continue
        path = str(named)
        if reason := _no_times(model_admin, path, may_repeat=True):
            yield "list_filter", reason, _NAME_A_PATH
        elif "pk" in path.split(LOOKUP_SEP):
            yield "list_filter", f"filters don't know {path!r}", "Name the field of the key."


def _no_times(model_admin: admin.ModelAdmin[Any], path: str, **options: bool) -> object:
    """Why the path leads to no times; None if it does, or if the check of its field says it."""
    with suppress(ImproperlyConfigured):
        try:
            timed_column(model_admin.model, path, **options)
        except FieldError as error:
            return error
    return None


# Columns of ``list_display`` and fields of the change page


class ListedColumn:
    """What the admin calls for each row: the public text of its id, by which the column sorts."""

    def __init__(
        self, field: SortableIDField, model_admin: admin.ModelAdmin[Any], title: Any
    ) -> None:
        self.admin_order_field = field.name
        self.short_description = title
        self.field = field
        self._model_admin = model_admin

    def __call__(self, obj: models.Model) -> str:
        value = getattr(obj, self.field.attname)
        shown = None if value is None else self.shown(value)
        return str(self._model_admin.get_empty_value_display()) if shown is None else shown

    def shown(self, value: Any) -> str | None:
        """The public text, which a click selects; a script adds a button that copies it."""
        return format_html(
            '<span class="sortable-ids-text" dir="ltr" translate="no" data-copy="{}"'
            ' data-copied="{}">{}</span>',
            pgettext("sortable ids", "Copy"),
            pgettext("sortable ids", "Copied"),
            self.field.shown(value),
        )


class CreatedAtColumn(ListedColumn):
    def __init__(self, field: SortableIDField, model_admin: Any, title: Any) -> None:
        super().__init__(field, model_admin, title)
        if isinstance(field.scheme, TimeScheme) and field.scheme.descending:
            self.admin_order_field = f"-{field.name}"

    def shown(self, value: Any) -> str | None:
        # It may be after the year 9999, or an accepted id of another version.
        with suppress(OutOfRange, InvalidID):
            created = local_time(self.field, value)
            return format_html(
                '<time class="sortable-ids-time" datetime="{}">{}</time>',
                created.isoformat(),
                formats.localize(created),
            )
        return None


def columns(model_admin: admin.ModelAdmin[Any]) -> dict[str, ListedColumn]:
    """The columns of the model's ids by their names in ``list_display``."""
    fields = [field for field in id_fields(model_admin.model) if not field.wrong_options]
    timed = [field for field in fields if isinstance(field.scheme, TimeScheme)]
    by_name: dict[str, ListedColumn] = {}
    for field in fields:
        title = field.verbose_name
        if field.name != "public_id":
            title = format_lazy(pgettext_lazy("sortable ids", "public {name}"), name=title)
        by_name[f"{field.name}_public_text"] = ListedColumn(field, model_admin, title)
    for field in timed:
        title = format_lazy(
            pgettext_lazy("sortable ids", "{name} created at"), name=field.verbose_name
        )
        by_name[f"{field.name}_created_at"] = CreatedAtColumn(field, model_admin, title)
    if fields:
        title = pgettext_lazy("sortable ids", "public id")
        by_name["public_id"] = ListedColumn(main_field(fields), model_admin, title)
    if timed:
        title = pgettext_lazy("sortable ids", "created at")
        by_name["id_created_at"] = CreatedAtColumn(timed[0], model_admin, title)
    return by_name
