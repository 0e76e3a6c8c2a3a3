"""A candidate in full, for people and for programs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..schemes import LexicalSequence, TimeScheme
from . import times
from .parts import Anatomy, anatomy, worker_and_sequence
from .reading.candidates import Candidate
from .spellings import same_in_other_schemes, spellings


@dataclass(frozen=True)
class Details:
    """Everything that the id says if it is of the candidate's scheme."""

    candidate: Candidate
    anatomy: Anatomy | None
    """None without a time."""
    worker: int | None
    sequence: int | None
    spellings: Mapping[str, str]
    same: Mapping[str, str]
    """The id in other schemes that can hold all its bits, by the scheme's name."""

    @property
    def utc(self) -> str | None:
        """The time in ISO 8601, UTC."""
        created = self.candidate.created
        return None if created is None else times.as_utc(self.candidate.scheme, created)

    @property
    def local(self) -> str | None:
        """The time in ISO 8601 in the current time zone."""
        created = self.candidate.created
        return None if created is None else times.as_local(self.candidate.scheme, created)

    @property
    def local_time(self) -> datetime | None:
        """The time in the current time zone."""
        created = self.candidate.created
        return None if created is None else times.local(created)

    @property
    def tick(self) -> int | None:
        """The ticks since the scheme's epoch."""
        if self.anatomy is None or not isinstance(self.candidate.scheme, TimeScheme):
            return None
        return self.candidate.scheme.parts(self.candidate.value)[0]

    @property
    def is_newest_first(self) -> bool:
        """Whether newer ids are smaller, so that the digits are complements."""
        scheme = self.candidate.scheme
        return isinstance(scheme, TimeScheme) and scheme.descending


def details(candidate: Candidate) -> Details:
    """Decode the id of a candidate."""
    scheme, value = candidate.scheme, candidate.value
    worker, sequence = worker_and_sequence(scheme, value) or (None, None)
    if isinstance(scheme, LexicalSequence):
        sequence = scheme.to_int(value)
    has_time = isinstance(scheme, TimeScheme) and scheme.carries_time(value)
    return Details(
        candidate=candidate,
        anatomy=anatomy(scheme, value),
        worker=worker,
        sequence=sequence,
        spellings=spellings(scheme, value),
        same=same_in_other_schemes(scheme, value) if has_time else {},
    )
