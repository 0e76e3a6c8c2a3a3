"""The data of an id that the command and the page show."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from ..fields import SortableIDField
from ..schemes import Scheme
from .reading import texts
from .reading.candidates import Candidate, candidates, of_value
from .reading.known_schemes import known_schemes
from .rows import Column, Found, look_up
from .uuids import RFC, UUIDFacts, uuid_facts, uuid_number

_MOST_IN_FULL = 3


@dataclass(frozen=True)
class Inspection:
    """What is known of one text that may be an id."""

    text: str
    """The id as it was found, without what is around it."""
    candidates: Sequence[Candidate] = ()
    """The most likely first."""
    uuid: UUIDFacts | None = None
    """For every UUID, also of a version without a time."""
    rows: Sequence[Found] = ()
    notes: Sequence[str] = ()
    """What else people should know."""
    has_chosen_scheme: bool = False
    """Whether somebody said which scheme the id has."""

    @property
    def is_id(self) -> bool:
        """Whether a scheme accepts the text, or it is a UUID."""
        return bool(self.candidates or self.uuid or self.rows)

    @property
    def in_full(self) -> list[Candidate]:
        """The candidates to show in full: those of the rows with the id, else those of the
        project's ids, else the most likely one.

        None for a UUID that is rather random, unless its scheme was chosen.
        """
        of_rows = {each.column.field for each in self.rows}
        if found := [each for each in self.candidates if of_rows.intersection(each.fields)]:
            return found[:_MOST_IN_FULL]
        likely = [each for each in self.candidates if each.is_likely]
        of_project = [each for each in likely if each.fields][:_MOST_IN_FULL]
        is_random = self.uuid is not None and not self.has_chosen_scheme
        return of_project or likely[:1] or ([] if is_random else list(self.candidates[:1]))

    @property
    def others(self) -> list[Candidate]:
        """All other candidates, the most likely first."""
        shown = self.in_full
        return [each for each in self.candidates if each not in shown]


@dataclass(frozen=True)
class Answer:
    """What is known of everything in a text."""

    ids: Sequence[Inspection]
    errors: Sequence[str] = ()
    """Columns that the database did not search, and why."""


def inspect(
    text: str, columns: Sequence[Column] = (), *, scheme: str | None = None, looks_up: bool = True
) -> Answer:
    """Decode an id, or the one in a URL.

    ``columns`` are the ids of the project that may be named. With ``looks_up`` their rows are
    looked up, too, each with one query; otherwise there is no query. ``scheme`` is the name of the
    only scheme that the ids may have.
    """
    columns = [each for each in columns if scheme in (None, each.field.scheme.name)]
    fields = list(dict.fromkeys(each.field for each in columns))
    schemes = [each for each in known_schemes(fields) if scheme in (None, each.name)]
    cleaned = texts.cleaned(text)
    found = [_read(each, schemes, fields) for each in texts.spellings(cleaned)]
    searched = columns if looks_up else ()
    rows, errors = look_up(searched, {each.text: each.candidates for each in found})
    hidden = {each.field for each in columns if not each.unmasks_without_row}
    found = [replace(each, has_chosen_scheme=scheme is not None) for each in found]
    with_rows = [_with_rows(each, rows[each.text], hidden) for each in found]
    best = max(with_rows, key=_likelihood, default=Inspection(cleaned))
    if not best.is_id:
        best = Inspection(cleaned)
    if note := texts.cut_off(text):
        best = replace(best, notes=[*best.notes, note])
    return Answer([best], errors)


def _likelihood(found: Inspection) -> tuple[bool, bool, bool, bool, int]:
    """The part of a URL that is the id the most surely; of equals, the longest one."""
    best = found.candidates[0] if found.candidates else None
    is_likely = best is not None and best.is_likely
    return (
        bool(found.rows),
        best is not None and best.is_of_prefix,
        is_likely or found.uuid is not None,
        found.is_id,
        len(found.text),
    )


def _read(text: str, schemes: Sequence[Scheme], fields: Sequence[SortableIDField]) -> Inspection:
    found = candidates(text, schemes, fields)
    number = uuid_number(text)
    if number is None:
        number = next(filter(None, map(_uuid_in_text, found)), None)
    facts = None if number is None else uuid_facts(number)
    if facts and facts.variant != RFC and found:
        facts = None  # 32 hexadecimal digits of another scheme.
    return Inspection(text, found, facts)


def _uuid_in_text(candidate: Candidate) -> int | None:
    """The UUID that the text spells: for a masked text, the UUID of version 4."""
    if not isinstance(candidate.value, uuid.UUID):
        return None
    return candidate.facade or candidate.value.int


def _with_rows(
    inspection: Inspection, rows: Sequence[Found], hidden: Collection[SortableIDField]
) -> Inspection:
    """With the rows, and without values that masked texts of the ``hidden`` fields don't show."""
    values = {each.value for each in rows}
    masked = [each for each in inspection.candidates if each.masked_by]
    dropped = [
        each for each in masked if each.value not in values and (values or each.masked_by in hidden)
    ]
    known = {each.value for each in inspection.candidates}
    read = [
        of_value(each.column.field, each.value)
        for each in rows
        if (each.is_old or each.column.field.masked) and each.value not in known
    ]
    kept = [each for each in inspection.candidates if each not in dropped]
    notes = list(_notes(inspection, masked + read, rows))
    return replace(inspection, candidates=[*read, *kept], rows=rows, notes=notes)


def _notes(
    inspection: Inspection, masked: Sequence[Candidate], rows: Sequence[Found]
) -> Iterator[str]:
    if any(each.is_old for each in rows):
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
