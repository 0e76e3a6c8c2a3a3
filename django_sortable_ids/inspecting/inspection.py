"""The data of an id that the command and the page show: its candidates, and the rows that have it.

Each row is looked up by an index: nothing here reads a whole table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote
from uuid import RFC_4122, UUID

from django.apps import apps
from django.contrib.admin.utils import unquote as of_the_admin
from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import DatabaseError, models
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from ..db.transactions import savepoint
from ..fields import SortableIDField
from ..fields.of_model import fields_of, is_unique_alone
from ..old_ids import old_key
from ..schemes import ID, OutOfRange, UUIDText
from .candidates import Candidate, as_format, candidates, known_schemes, of_value

MOST_CHARACTERS = 4_000
"""The most characters of a text that are read."""
_LINE = 80
_MOST_IN_FULL = 3
_MOST_PARTS = 60
_LONGEST_PART = 320
"""A text form has at most 255 characters, a prefix and its separator 64."""
_SITE_OF_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*")
_BETWEEN_PARTS = re.compile(r"[/?#&=\s()\[\]{}|\"']+")
_AROUND = "\"'`“”<>,.;:*"
_FINDS_NOTHING = (EmptyResultSet, ValidationError, OutOfRange)


@dataclass(frozen=True)
class SearchedColumn:
    """An id of the project, and the rows of it that may be shown."""

    field: SortableIDField
    rows: Callable[[], models.QuerySet[Any]]
    may_show: Callable[[models.Model], bool] = lambda row: True
    url: Callable[[models.Model], str | None] = lambda row: None
    """The page of a row, if there is one."""
    unmasks_without_row: bool = True
    """Whether masked texts may be read that no row has."""


@dataclass(frozen=True)
class FoundRow:
    column: SearchedColumn
    row: models.Model
    value: ID
    is_old: bool = False
    """Whether the text is its id from before the primary key was moved."""

    @property
    def public_id(self) -> str:
        return self.column.field.public_text.format(self.value)

    @property
    def model_name(self) -> str:
        return str(self.row._meta.verbose_name)

    @property
    def url(self) -> str | None:
        return self.column.url(self.row)


@dataclass(frozen=True)
class Inspection:
    text: str
    """The id as it was found, without what is around it."""
    candidates: Sequence[Candidate] = ()
    """The most likely first."""
    uuid: UUID | None = None
    """The text as a UUID, also of a version without a time; None if a scheme was chosen."""
    rows: Sequence[FoundRow] = ()
    notes: Sequence[str] = ()
    """What else people should know."""
    errors: Sequence[str] = ()
    """Columns that the database did not search, and why."""

    @property
    def is_id(self) -> bool:
        """Whether a scheme accepts the text, or it is a UUID."""
        return bool(self.candidates or self.uuid or self.rows)

    @property
    def in_full(self) -> list[Candidate]:
        """The candidates to show in full: those of the rows with the id, else those of the
        project's ids, else the most likely one.

        None for a UUID that is rather random.
        """
        fields = {row.column.field for row in self.rows}
        of_rows = [candidate for candidate in self.candidates if fields & {*candidate.fields}]
        likely = [candidate for candidate in self.candidates if candidate.is_likely]
        of_project = [candidate for candidate in likely if candidate.fields]
        shown = (of_rows or of_project)[:_MOST_IN_FULL]
        return shown or likely[:1] or ([] if self.uuid else list(self.candidates[:1]))

    @property
    def others(self) -> list[Candidate]:
        shown = self.in_full
        return [candidate for candidate in self.candidates if candidate not in shown]


def inspect(
    text: str,
    columns: Sequence[SearchedColumn] = (),
    *,
    scheme: str | None = None,
    looks_up: bool = True,
) -> Inspection:
    """Decode an id, or the one in a URL.

    ``columns`` are the ids of the project that may be named. With ``looks_up`` their rows are
    looked up, too, each with one query; otherwise there is no query. ``scheme`` is the name of the
    only scheme that the id may have.
    """
    columns = [column for column in columns if scheme in (None, column.field.scheme.name)]
    fields = list(dict.fromkeys(column.field for column in columns))
    schemes = [known for known in known_schemes(fields) if scheme in (None, known.name)]
    pasted = cleaned(text)
    by_text = {part: candidates(part, schemes, fields) for part in _parts(pasted)}
    inspections = [
        Inspection(text, read, None if scheme else _uuid(text, read))
        for text, read in by_text.items()
    ]
    rows, errors = look_up(columns if looks_up else (), by_text)
    hidden = {column.field for column in columns if not column.unmasks_without_row}
    best = max(
        (_with_rows(inspection, rows[inspection.text], hidden) for inspection in inspections),
        key=_likelihood,
        default=Inspection(pasted),
    )
    return replace(best if best.is_id else Inspection(pasted), errors=errors)


# Texts


def cleaned(text: str) -> str:
    """The text without characters that nobody sees, and without blanks around it."""
    seen = (char for char in text[:MOST_CHARACTERS] if char.isprintable() or char.isspace())
    return "".join(seen).strip()


def in_one_line(text: str) -> str:
    """The text for people: what is not printable is escaped, and the end cut off."""
    characters = (char if char.isprintable() else repr(char)[1:-1] for char in text[: _LINE + 1])
    return Truncator("".join(characters)).chars(_LINE)


def _parts(text: str) -> list[str]:
    """The parts of a text that may be the id: all of it, then those of a URL's path and query.

    Each is without quotes around it, decoded, and without the quoting of Django's admin.
    """
    path = unquote(_SITE_OF_URL.sub("", text), errors="replace")
    parts = []
    for part in filter(None, [text, *_BETWEEN_PARTS.split(path)[:_MOST_PARTS]]):
        if len(part) <= _LONGEST_PART:
            bare = unquote(part.strip(_AROUND), errors="replace")
            parts += [part, bare, of_the_admin(bare), bare.rpartition(".")[0]]
    return list(dict.fromkeys(filter(None, parts)))


# Candidates and rows


def _uuid(text: str, read: Sequence[Candidate]) -> UUID | None:
    """The UUID that the text spells; for a masked text, one of version 4, as it seems to be."""
    try:
        spelled = UUID(int=UUIDText().parse(text))
    except ValueError:
        for candidate in read:
            if isinstance(candidate.value, UUID):
                number = candidate.scheme.to_int(candidate.value)
                return UUID(int=number, version=4 if candidate.masked_by else None)
        return None
    # 32 hexadecimal digits may be an id of another scheme.
    return None if read and spelled.variant != RFC_4122 else spelled


def _likelihood(inspection: Inspection) -> tuple[bool, bool, bool, bool, int]:
    """How surely a part of a URL is the id; if two are equally sure, the longer one wins."""
    best = inspection.candidates[0] if inspection.candidates else None
    return (
        bool(inspection.rows),
        best is not None and best.is_of_prefix,
        inspection.uuid is not None or (best is not None and best.is_likely),
        inspection.is_id,
        len(inspection.text),
    )


def _with_rows(
    inspection: Inspection, rows: Sequence[FoundRow], hidden: Collection[SortableIDField]
) -> Inspection:
    """Add the rows, and drop values that masked texts of the ``hidden`` fields don't show."""
    values = {row.value for row in rows}
    masked = [candidate for candidate in inspection.candidates if candidate.masked_by]
    dropped = [candidate for candidate in masked if candidate.masked_by in hidden]
    if values:
        dropped = [candidate for candidate in masked if candidate.value not in values]
    known = {candidate.value for candidate in inspection.candidates}
    read = [
        of_value(row.column.field, row.value)
        for row in rows
        if (row.is_old or row.column.field.masked) and row.value not in known
    ]
    kept = [candidate for candidate in inspection.candidates if candidate not in dropped]
    notes = list(_notes(inspection, masked + read, rows))
    return replace(inspection, candidates=[*read, *kept], rows=rows, notes=notes)


def _notes(
    inspection: Inspection, masked: Sequence[Candidate], rows: Sequence[FoundRow]
) -> Iterator[str]:
    if any(row.is_old for row in rows):
        yield _("A row had this id before its primary key was moved.")
    elif masked:
        yield _("This is a masked text of %(field)s, which hides the time.") % {
            "field": masked[0].masked_by
        }
        if not rows:
            yield _("No row has this id, so it is not certain that its mask key is a present one.")
    elif inspection.uuid and inspection.uuid.version == 4:
        yield _(
            "A UUID of version 4 has no time. If it is a masked text, only its model can read it."
        )
    elif inspection.uuid and not inspection.candidates:
        yield _("This is a UUID without a time.")


# The rows of an id


def columns_of_project() -> list[SearchedColumn]:
    fields = fields_of(apps.get_models())
    return [SearchedColumn(field, field.model._base_manager.all) for field in fields]


def look_up(
    columns: Iterable[SearchedColumn], texts: Mapping[str, Sequence[Candidate]]
) -> tuple[dict[str, list[FoundRow]], list[str]]:
    """The rows by the text of their id, and the errors of the database.

    ``texts`` has the candidates of each text, for ids in other spellings than the column's own. It
    takes one query per column, and one more where the key of the model was moved.
    """
    rows_by_text: dict[str, list[FoundRow]] = {text: [] for text in texts}
    errors = []
    for column in columns:
        for field, by_text in _values_by_text(column.field, texts):
            values, rows = set().union(*by_text.values()), []
            try:
                if values:
                    queryset = column.rows().filter(**{f"{field.name}__in": list(values)})
                    with savepoint(queryset.db), suppress(*_FINDS_NOTHING):
                        rows = [row for row in queryset if column.may_show(row)]
            except DatabaseError as error:
                errors.append(f"{column.field}: {' '.join(str(error).split())}")
                break
            for row in rows:
                value = getattr(row, column.field.attname)
                for text, values in by_text.items():
                    if getattr(row, field.attname) in values:
                        rows_by_text[text].append(
                            FoundRow(column, row, value, field is not column.field)
                        )
    return rows_by_text, errors


def _values_by_text(
    field: SortableIDField, texts: Mapping[str, Sequence[Candidate]]
) -> Iterator[tuple[models.Field[Any, Any], dict[str, set[Any]]]]:
    """The values that the texts may be in a column of ids, and in the column of old keys."""
    if is_unique_alone(field):
        yield field, {text: set(_values(field, text, read)) for text, read in texts.items()}
    if field.primary_key and (old := old_key(field.model)):
        yield old.field, {text: set(old.values(text)) for text in texts}


def _values(field: SortableIDField, text: str, read: Iterable[Candidate]) -> Iterator[ID]:
    yield from field.readings(text)
    scheme = as_format(field.scheme)
    for candidate in read:
        # The bare id after an unknown prefix, or another encoding than the column's own.
        is_of_field = not candidate.is_of_prefix or candidate.fields == (field,)
        if candidate.scheme == scheme and is_of_field:
            yield candidate.value
