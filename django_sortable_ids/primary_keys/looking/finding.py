"""Places that may contain keys, and what to do there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

ADVICE: Mapping[str, str] = {
    "url": "accept texts, by <str:pk>, or add a path of the same name for them",
    "number": "expect a text or a UUID, which is no number",
    "input": "accept texts, by a ModelChoiceField, a PrimaryKeyRelatedField or a CharField",
    "constant": "find the row by another field, or by its old key",
    "sql": "change statements that read, compare or write the key",
    "json": "write str(key): json.dumps() has no text for a UUID",
    "task": "pass str(key), and read it by resolve_id(), because older tasks are in the queue",
    "session": "read it by resolve_id(), because older sessions have the old key",
    "login": "add OldUserIDMiddleware to MIDDLEWARE, or everybody is logged out",
    "signed": "read it by resolve_id(), because older texts have the old key",
    "cache": "change the VERSION of the cache, because cached rows and pages have the old key",
    "template": "put quotes around the key, and don't calculate with it",
    "setting": "change it to the new key, which you know after the move",
    "column": "name it by --adopt, or make it a foreign key before the move",
    "document": "change these values after the move, or read them by resolve_id()",
}
"""By kind of finding."""
_SHOWN = 10


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    kind: str
    """One of ``ADVICE``."""
    file: str
    """Relative to the current folder; for columns, the table; for other places, what they are."""
    line: int | None
    """None for what is in no file."""
    text: str
    """What is there."""

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def document(self) -> dict[str, str | int | None]:
        """For JSON."""
        return {
            "kind": self.kind,
            "file": self.file,
            "line": self.line,
            "text": self.text,
            "advice": ADVICE[self.kind],
        }


def lines_of(found: Iterable[Finding], *, with_all: bool) -> Iterator[str]:
    """The findings, for people: of each kind the first ones only, unless ``with_all``."""
    by_kind: dict[str, list[Finding]] = {}
    for each in found:
        by_kind.setdefault(each.kind, []).append(each)
    if not by_kind:
        return
    count = sum(map(len, by_kind.values()))
    yield f"Look at {count:,} {'places' if count > 1 else 'place'} that the move doesn't change:"
    for kind, places in by_kind.items():
        shown = places if with_all else places[:_SHOWN]
        yield f"  {ADVICE[kind]}:"
        yield from (f"    {each.place}  {each.text}" for each in shown)
        if len(places) > len(shown):
            yield f"    and {len(places) - len(shown):,} more, which -v 2 shows"
