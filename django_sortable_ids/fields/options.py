"""Options that a field can't have: its system check reports them, and its ids can't be used."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.apps import apps
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.db.models import NOT_PROVIDED, Value

from ..schemes import Scheme
from . import history, row_times
from .values.public import problems as text_problems
from .values.storage import CharFieldStorage, TextStorage, storage_for, storage_names

if TYPE_CHECKING:
    from .base import SortableIDField

SCHEME, PUBLIC_TEXT, COLUMN, DEFAULT, CREATED_FROM = "E012", "E013", "E014", "E015", "E016"

_HINTS = {
    SCHEME: "Correct the options of the scheme. If the table has ids, they must stay as they are.",
    PUBLIC_TEXT: "Correct the options of the public text. The stored ids don't change.",
    COLUMN: "Correct the options of the column, or leave them out for the most compact one.",
    DEFAULT: "Leave it out. To add the field to a table with rows, use null=True and run "
    "backfill_ids.",
    CREATED_FROM: "Name the field with the creation time of a row, or leave created_from out.",
}


USUAL = {
    "prefix": None,
    "previous_prefixes": (),
    "separator": "_",
    "encoding": None,
    "masked": False,
    "storage": None,
    "db_collation": None,
    "created_from": None,
}
"""The options of every field that are not Django's, with their defaults."""


def not_installed(field: "SortableIDField") -> Iterator[CheckMessage]:
    """The error of a project that uses a field without the app."""
    if not apps.is_installed("django_sortable_ids"):
        yield Error(
            f"{type(field).__name__} needs the app: without it, no migration that changes values "
            f"is refused, and ids have no lookups of their creation times.",
            hint='Add "django_sortable_ids" to INSTALLED_APPS.',
            obj=field,
            id="sortable_ids.E018",
        )


class WrongOption(NamedTuple):
    """What was found and what was expected, and the kind of the option: the id of its check."""

    kind: str
    message: str

    def error(self, field: "SortableIDField") -> CheckMessage:
        return Error(
            f"{self.message}.", hint=_HINTS[self.kind], obj=field, id=f"sortable_ids.{self.kind}"
        )


def refuse(field: "SortableIDField", wrong: Sequence[WrongOption]) -> None:
    """Raises ``ImproperlyConfigured`` if any of the field's options are wrong."""
    if wrong:
        raise ImproperlyConfigured(f"{field}: {'; '.join(each.message for each in wrong)}")


def of_the_column(field: "SortableIDField") -> list[WrongOption]:
    """The wrong options on which the column depends."""
    return [each for each in field.wrong_options if each.kind in (SCHEME, COLUMN)]


def of_the_model(field: "SortableIDField") -> Iterator[WrongOption]:
    """The options that are wrong for the field's model, which is unknown to the field at first."""
    name = field.created_from
    if name is None or history.is_copy(field):
        return
    problem = row_times.problem(field.model, name)
    if problem is None and not field.takes_times:
        problem = f"created_from={name!r}: the ids of {field.stored_scheme.title} have no times"
    if problem is None and field.has_db_default():
        problem = f"created_from={name!r}: the database generates these ids (db_default)"
    if problem is not None:
        yield WrongOption(CREATED_FROM, problem)


class Refused:
    """An attribute that a field with wrong options lacks: reading it raises what is wrong."""

    def __get__(self, field: Any, owner: type) -> "Refused":
        if field is not None:
            refuse(field, field.wrong_options)
        return self


def wrong(field: "SortableIDField") -> Iterator[WrongOption]:
    """The field's options that are wrong. Also resolves ``stored_scheme`` and ``db_default``."""
    try:
        field.stored_scheme = field.scheme_with(**field.scheme_arguments)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{key}={value!r}" for key, value in field.scheme_arguments.items())
        # The message of a TypeError doesn't name the option.
        clear = isinstance(error, ValueError)
        yield WrongOption(SCHEME, str(error) if clear else f"{given}: {error}")
        field.stored_scheme = field.scheme_with()  # to judge the other options
    expected, found = field.value_type, field.stored_scheme.value_type
    if expected not in (None, found):
        base = {str: "Text", int: "Integer"}.get(found, "UUID")
        yield WrongOption(
            SCHEME,
            f"values of {type(field).__name__} are {expected.__name__}, those of a "
            f"{field.stored_scheme.title} are {found.__name__}: subclass Sortable{base}Field",
        )
    for kind, problems in (
        (PUBLIC_TEXT, _public_text_problems(field, field.stored_scheme)),
        (COLUMN, _column_problems(field, field.stored_scheme)),
        (DEFAULT, _default_problems(field)),
    ):
        yield from (WrongOption(kind, problem) for problem in problems)


def _public_text_problems(field: "SortableIDField", scheme: Scheme) -> Iterator[str]:
    encoding, others = field.encoding, field.accept_other_versions
    yield from text_problems(
        scheme, field.prefix, field.separator, encoding, field.previous_prefixes
    )
    if field.masked and not scheme.is_uuid7:
        yield f"masked=True: only UUIDv7 can be masked, not {scheme.title}"
    if others and not dict(scheme.text_forms).get(encoding or "", scheme.canonical).shows_all:
        yield f"accept_other_versions=True: {encoding!r} can't show other versions"
    if others and field.masked:
        yield (
            "accept_other_versions=True and masked=True: a stored UUIDv4 looks like a masked "
            "UUIDv7; leave out one of the two"
        )


def _column_problems(field: "SortableIDField", scheme: Scheme) -> Iterator[str]:
    names = storage_names(scheme)
    if field.storage is not None and field.storage not in names:
        yield f"storage={field.storage!r}: expected one of {', '.join(names)} for {scheme.title}"
        return
    stored, most = storage_for(scheme, field.storage, "sqlite"), field.max_length
    width = stored.form.length if isinstance(stored, CharFieldStorage) else None
    if most is not None and not (width and isinstance(most, int) and most >= width):
        expected = f"{width} or more" if width else "none unless storage is a varchar"
        yield f"max_length={most!r}: expected {expected}"
    if field.db_collation is not None and not isinstance(stored, TextStorage):
        yield f"db_collation={field.db_collation!r}: the column is not text; set a text storage="


def _default_problems(field: "SortableIDField") -> Iterator[str]:
    default = field.db_default
    if field.given_default is not NOT_PROVIDED:
        yield (
            f"{type(field).__name__} generates its own ids and takes no default: a migration would "
            f"copy one value into every row"
        )
    is_expression = hasattr(default, "resolve_expression")
    if field.has_db_default() and (not is_expression or isinstance(default, Value)):
        yield (
            f"db_default={default!r} is one value for every row: use an expression that generates "
            f"an id"
        )
    elif hasattr(default, "for_column") and not of_the_column(field):
        # A GenerateID(), which takes its scheme from the field.
        try:
            field.db_default = default.for_column(field)
        except (TypeError, ValueError) as error:
            yield str(error)
