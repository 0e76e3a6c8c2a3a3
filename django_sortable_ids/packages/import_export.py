"""django-import-export: files have public texts, and a blank id is that of a new row.

Files with bare ids, such as those of earlier exports, can be imported too, unless ids are masked.
"""

from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from import_export.widgets import ForeignKeyWidget, ManyToManyWidget, Widget

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from ..schemes import ID
from . import replace


def import_export(resources: Any) -> None:
    replace(
        (resources.ModelResource, "widget_from_django_field", _widget),
        (resources.ModelResource, "get_fk_widget", _relation_widget),
        (resources.ModelResource, "get_m2m_widget", _relation_widget),
        (resources.ModelResource, "field_from_django_field", _resource_field),
    )


def _widget(usual: Any, resource: Any, field: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(field, SortableIDField):
        return partial(IDWidget, field)
    return usual(resource, field, *args, **kwargs)


def _relation_widget(usual: Any, resource: Any, field: Any) -> Any:
    widget = usual(resource, field)
    if referenced_id(field) is None:
        return widget
    ours = IDManyToManyWidget if field.many_to_many else IDForeignKeyWidget
    return partial(ours, field, *widget.args, **widget.keywords)


def _resource_field(usual: Any, resource: Any, name: str, field: Any, *args: Any, **kw: Any) -> Any:
    column = usual(resource, name, field, *args, **kw)
    if isinstance(field, SortableIDField):
        # A blank cell gives no id, not NULL: new rows get an id of their own, others keep theirs.
        column.saves_null_values = False
    return column


class IDWidget(Widget):  # type: ignore[misc]
    def __init__(self, id_field: SortableIDField, **kwargs: Any) -> None:
        kwargs.pop("allow_blank", None)  # of a CharField
        super().__init__(**kwargs)
        self._id_field = id_field

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> ID | None:
        is_blank = value is None or (isinstance(value, str) and not value.strip())
        return None if is_blank else _parsed(self._id_field, value)

    def render(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return _shown(self._id_field, value)


class IDForeignKeyWidget(ForeignKeyWidget):  # type: ignore[misc]
    """The public text of the id that a relation references, or another column if one is named."""

    def __init__(self, relation: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = self.field == "pk" and not self.use_natural_foreign_keys
        self._id_field = referenced_id(relation) if usual else None
        self._column = relation.target_field  # which may be a relation, too

    def get_lookup_kwargs(self, value: Any, row: Any, **kwargs: Any) -> Any:
        if self._id_field is None:
            return super().get_lookup_kwargs(value, row, **kwargs)
        return {self._column.name: _parsed(self._id_field, value)}

    def render(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if self._id_field is None:
            return super().render(value, *args, **kwargs)
        if value is not None and not self.key_is_id:
            value = getattr(value, self._column.attname)
        return _shown(self._id_field, value)


class IDManyToManyWidget(ManyToManyWidget):  # type: ignore[misc]
    """The public texts of the related keys, or another column if one is named."""

    def __init__(self, relation: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._id_field = referenced_id(relation) if self.field == "pk" else None

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
        if self._id_field is None:
            return super().clean(value, row, **kwargs)
        texts = filter(str.strip, str(value or "").split(self.separator))
        return self.model.objects.filter(pk__in=[_parsed(self._id_field, text) for text in texts])

    def render(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if self._id_field is None or value is None:
            return super().render(value, *args, **kwargs)
        texts = (_shown(self._id_field, row.pk) for row in value.all())
        return self.separator.join(texts)


def _shown(field: SortableIDField, value: Any) -> str:
    return "" if value is None else str(field.shown(value))


def _parsed(field: SortableIDField, value: Any) -> ID:
    """The value of a cell; ``ValueError`` if it is no id, as from import-export's own widgets."""
    if isinstance(value, str):
        value = value.strip()
    try:
        parsed: ID = field.parse_public(value) if field.masked else field.to_python(value)
    except ValidationError as error:
        raise ValueError(error.messages[0]) from None
    return parsed
