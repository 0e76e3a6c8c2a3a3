"""The options of a field. Its system check reports wrong ones, and its ids can't be used then."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict

from django.apps import apps
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models import NOT_PROVIDED, Value

from .. import schemes
from ..schemes import Scheme, TimeScheme
from ..schemes.catalog import options_of
from ..schemes.support import nearest
from ..schemes.text_forms import SQLServerText
from ..schemes.time_scheme import accepting_other_versions
from . import history_models, times
from .generating import GeneratedIDField, GetType, SetType
from .public import SEPARATORS, PublicText
from .storage import CharFieldStorage, Storage, TextStorage, storage_for, storage_names

SCHEME, PUBLIC_TEXT, COLUMN, DEFAULT, CREATED_FROM = "E012", "E013", "E014", "E015", "E016"
APP = "E018"

_PREFIX = re.compile("[a-z](?:[a-z_]{0,61}[a-z])?")
_HINTS = {
    SCHEME: "Correct the options of the scheme. If the table has ids, they must stay as they are.",
    PUBLIC_TEXT: "Correct the options of the public text. The stored ids don't change.",
    COLUMN: "Correct the options of the column, or leave them out for the most compact one.",
    DEFAULT: "Leave it out. To add the field to a table with rows, use null=True and run "
    "backfill_ids.",
    APP: 'Add "django_sortable_ids" to INSTALLED_APPS.',
    CREATED_FROM: "Name the field with the creation time of a row, or leave created_from out.",
}
_NEEDS_APP = (
    "{} needs the app: without it, no migration that changes values is refused, and ids have no "
    "lookups of their creation times"
)


class OwnOptions(TypedDict, total=False):
    """The options of every field that are not Django's."""

    prefix: str | None
    previous_prefixes: Sequence[str]
    separator: str
    encoding: str | None
    masked: bool
    storage: str | None
    db_collation: str | None
    created_from: str | None


class FieldOptions(OwnOptions, total=False):
    """Every option but ``null``, for type checkers: also those of Django, and of the schemes and
    fields that have them."""

    verbose_name: Any
    name: str | None
    primary_key: bool
    max_length: int | None
    unique: bool
    blank: bool
    db_index: bool
    default: Any
    editable: bool
    serialize: bool
    unique_for_date: str | None
    unique_for_month: str | None
    unique_for_year: str | None
    choices: Any
    help_text: Any
    db_column: str | None
    db_tablespace: str | None
    auto_created: bool
    validators: Iterable[Any]
    error_messages: Mapping[str, Any] | None
    db_comment: str | None
    db_default: Any

    accept_other_versions: bool
    bits: int | None
    block: int
    charset: str
    epoch_ms: int | None
    ignore_case: bool
    layout: str
    node_bits: int
    precision: str
    reverse: bool
    sequence_bits: int
    short: bool
    start: str | None
    step: int
    template: str | None
    time_bits: int | None
    version: int
    width: int | None
    worker_bits: int | None
    workers: int | None


OWN = tuple(OwnOptions.__annotations__)


class WrongOption(NamedTuple):
    """A message with what was found and expected, and the kind: the id of the option's check."""

    kind: str
    message: str

    def error(self, field: "models.Field[Any, Any]") -> CheckMessage:
        from ..errors import see  # and Django's commands with it

        hint = f"{_HINTS[self.kind]} {see(self.kind)}"
        return Error(f"{self.message}.", hint=hint, obj=field, id=f"sortable_ids.{self.kind}")


class Refused:
    """An attribute that a field with wrong options lacks: reading it raises what is wrong."""

    def __get__(self, field: Any, owner: type) -> "Refused":
        if field is not None:
            field.refuse(field.wrong_options)
        return self


class FieldWithOptions(GeneratedIDField[SetType, GetType]):
    """A field with what its options define: its scheme and its public text, or what is wrong."""

    scheme_name: ClassVar[str]
    """The key of the scheme in the catalogue."""
    value_type: ClassVar[type | None] = None
    """The type of the values, which the scheme must have, too; None: any."""
    scheme_arguments: Mapping[str, Any]
    """The arguments that differ from the defaults of the scheme itself."""
    accept_other_versions: bool = False
    """Whether the column may hold UUIDs of other versions, which carry no time."""
    own_options: ClassVar[Sequence[str]] = OWN
    """All other options that are not Django's: attributes, with their defaults in the class."""
    prefix: str | None = None
    previous_prefixes: Sequence[str] = ()
    separator: str = "_"
    encoding: str | None = None
    masked: bool = False
    storage: str | None = None
    db_collation: str | None = None
    django_defaults: ClassVar[Mapping[str, Any]] = {"editable": False}
    """Defaults of Django's own options, where they differ from Django's."""
    wrong_options: list[WrongOption]
    public_text: PublicText

    if not TYPE_CHECKING:
        scheme = public_text = Refused()

    # Options without effect on the table. Otherwise SQLite would rebuild it when one changes.
    non_db_attrs = (
        *models.Field.non_db_attrs,
        *(option for option in OWN if option not in ("storage", "db_collation")),
        "accept_other_versions",
    )

    def __init__(self, verbose_name: Any = None, name: str | None = None, **kwargs: Any) -> None:
        """``prefix``, ``separator`` and ``encoding`` shape the public text, ``storage`` the column.
        ``masked``, for a UUIDv7, hides the time in the public text. ``previous_prefixes`` are also
        read, but not written, ``""`` for texts without a prefix.

        ``storage="varchar"`` is the column of a ``CharField``, which may be wider than an id
        (``max_length``). ``db_collation`` overrides the collation of a text column.

        ``created_from`` names a ``DateTimeField`` or ``DateField`` of the model: an id that is
        generated then has the row's own time, as rows need that are imported from elsewhere. So a
        key is generated with the INSERT, too. A row without a time gets an id of now.

        Options of the scheme are keyword arguments. All others are those of any Django field,
        except that ``default`` is refused and ``editable`` is False by default. The system check
        reports values that are wrong; until they are corrected, use of the ids raises
        ``ImproperlyConfigured``.
        """
        for option in self.own_options:
            setattr(self, option, kwargs.pop(option, getattr(type(self), option)))
        of_scheme = options_of(self.scheme_name)
        arguments = {option: kwargs.pop(option, usual) for option, usual in of_scheme.items()}
        self.scheme_arguments = {
            option: value for option, value in arguments.items() if value != of_scheme[option]
        }
        try:
            models.Field.__init__(self, verbose_name, name, **{**self.django_defaults, **kwargs})
        except TypeError as error:
            unknown = str(error).rpartition(" ")[2].strip("'")
            known = {*OWN, *of_scheme, *signature(models.Field).parameters}
            suggested = nearest(unknown, known)
            raise TypeError(f"{type(self).__name__}: {error}{suggested}") from None
        self._stored: dict[str, Storage] = {}
        self.wrong_options = self._resolve()
        if not self.wrong_options:
            self.scheme = self.stored_scheme
            self.public_text = PublicText(self)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = models.Field.deconstruct(self)
        for option in self.django_defaults:
            kwargs.pop(option, None)
        if self.given_default is models.NOT_PROVIDED:
            kwargs.pop("default", None)
        usual = {option: getattr(type(self), option) for option in self.own_options}
        for option, default in {**usual, **self.django_defaults}.items():
            value = getattr(self, option)
            # A wrong value may equal its default, as True equals 1.
            if value not in (default, []) or (self.wrong_options and value is not default):
                kwargs[option] = value
        return name, path, args, {**kwargs, **self.scheme_arguments}

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        if self.wrong_options:
            kwargs["databases"] = None  # There is no column that a database could judge.
        # Django warns of a varchar without max_length, which has the length of an id here.
        errors = [each for each in models.Field.check(self, **kwargs) if each.id != "mysql.W003"]
        if not apps.is_installed("django_sortable_ids"):
            message = _NEEDS_APP.format(type(self).__name__)
            errors.insert(0, WrongOption(APP, message).error(self))
        wrong = (*self.wrong_options, *self._wrong_for_the_model())
        return [*errors, *(option.error(self) for option in wrong)]

    def refuse(self, wrong: Sequence[WrongOption]) -> None:
        if wrong:
            raise ImproperlyConfigured(f"{self}: {'; '.join(option.message for option in wrong)}")

    @property
    def wrong_for_the_column(self) -> list[WrongOption]:
        return [option for option in self.wrong_options if option.kind in (SCHEME, COLUMN)]

    def _resolve(self) -> list[WrongOption]:
        """Set ``stored_scheme`` and the ``db_default`` of the column; return the wrong options."""
        wrong: list[WrongOption] = []
        try:
            scheme = schemes.get(self.scheme_name, **self.scheme_arguments)
        except (TypeError, ValueError) as error:
            options = ", ".join(f"{key}={value!r}" for key, value in self.scheme_arguments.items())
            # The message of a TypeError doesn't name the option.
            is_clear = isinstance(error, ValueError)
            wrong.append(WrongOption(SCHEME, str(error) if is_clear else f"{options}: {error}"))
            scheme = schemes.get(self.scheme_name)  # to judge the other options
        if self.accept_other_versions and isinstance(scheme, TimeScheme):
            scheme = accepting_other_versions(scheme)
        self.stored_scheme = scheme
        messages_by_kind = (
            (SCHEME, _type_problems(scheme, self)),
            (PUBLIC_TEXT, _public_text_problems(scheme, self)),
            (COLUMN, _column_problems(scheme, self)),
            (DEFAULT, _default_problems(self)),
        )
        for kind, messages in messages_by_kind:
            wrong += [WrongOption(kind, text) for text in messages]
        self.wrong_options = wrong
        default = self.db_default
        if hasattr(default, "for_column") and not self.wrong_for_the_column:
            # A GenerateID(), which takes its scheme from the field.
            try:
                self.db_default = default.for_column(self)
            except (TypeError, ValueError) as error:
                wrong.append(WrongOption(DEFAULT, str(error)))
        return wrong

    def _wrong_for_the_model(self) -> Iterator[WrongOption]:
        """The options that are wrong for the model, which is unknown to the field at first."""
        fields = () if self.wrong_options else self.model._meta.fields
        if self in (getattr(field, "base_field", None) for field in fields):
            # The lookups of an ArrayField compare Python values with the column as it is.
            stored = storage_for(self.stored_scheme, self.storage, "postgresql")
            if stored.returned is not self.stored_scheme.value_type:
                right = "storage='char'" if self.stored_scheme.value_type is str else "no storage="
                found = f"an ArrayField finds no id in this column: use {right}"
                yield WrongOption(COLUMN, found)
        name = self.created_from
        if name is None or history_models.is_copy(self):
            return
        problem = times.problem(self.model, name)
        if problem is None and not self.stored_scheme.takes_times:
            problem = f"created_from={name!r}: the ids of {self.stored_scheme.title} have no times"
        if problem is None and self.has_db_default():
            problem = f"created_from={name!r}: the database generates these ids (db_default)"
        if problem is not None:
            yield WrongOption(CREATED_FROM, problem)


def _type_problems(scheme: Scheme, field: FieldWithOptions) -> Iterator[str]:
    expected, actual = field.value_type, scheme.value_type
    if expected not in (None, actual):
        base = {str: "Text", int: "Integer"}.get(actual, "UUID")
        yield (
            f"values of {type(field).__name__} are {expected.__name__}, those of "
            f"{scheme.title} are {actual.__name__}: subclass Sortable{base}Field"
        )
    if isinstance(scheme, TimeScheme) and not scheme.sorts:
        yield (
            f"{scheme.title} doesn't sort by time: keep the UUIDField, and convert its values into "
            f"a UUIDv6Field"
        )


def _public_text_problems(scheme: Scheme, field: FieldWithOptions) -> Iterator[str]:
    prefix, previous, encoding = field.prefix, field.previous_prefixes, field.encoding
    accepts_others = field.accept_other_versions
    if prefix is not None and not _is_prefix(prefix):
        yield (
            f"prefix={prefix!r}: expected 1 to 63 of a-z and _, beginning and ending with a "
            f"letter, such as 'ord'"
        )
    if not isinstance(previous, list | tuple) or not all(
        earlier == "" or _is_prefix(earlier) for earlier in previous
    ):
        yield (
            f"previous_prefixes={previous!r}: expected a list of prefixes, such as ['order'], or "
            f"[''] if there was none"
        )
    elif (prefix or "") in previous:
        yield f"previous_prefixes={previous!r}: {prefix or ''!r} is the present prefix"
    if field.separator not in SEPARATORS:
        yield f"separator={field.separator!r}: expected '_' or ':'"
    yield from scheme.encoding_problems(encoding)
    if field.masked and not scheme.is_uuid7:
        yield f"masked=True: only UUIDv7 can be masked, not {scheme.title}"
    if accepts_others and isinstance(dict(scheme.text_forms).get(encoding or ""), SQLServerText):
        yield f"accept_other_versions=True: {encoding!r} can't show other versions"
    if accepts_others and field.masked:
        yield (
            "accept_other_versions=True and masked=True: a stored UUIDv4 looks like a masked "
            "UUIDv7; leave out one of the two"
        )


def _is_prefix(prefix: Any) -> bool:
    return isinstance(prefix, str) and _PREFIX.fullmatch(prefix) is not None


def _column_problems(scheme: Scheme, field: FieldWithOptions) -> Iterator[str]:
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


def _default_problems(field: FieldWithOptions) -> Iterator[str]:
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
