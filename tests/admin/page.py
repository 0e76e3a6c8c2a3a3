"""A page of HTML as a tree, strictly nested."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "source", "wbr"}


class Element:
    def __init__(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self.attributes = {name: value or "" for name, value in attributes}
        self.doubled = len(self.attributes) != len(attributes)
        self.inside: list[Element | str] = []

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute]

    def get(self, attribute: str, default: str | None = None) -> str | None:
        return self.attributes.get(attribute, default)

    @property
    def text(self) -> str:
        parts = [part if isinstance(part, str) else part.text for part in self.inside]
        return " ".join("".join(parts).split())

    def matches(self, tag: str, wanted: dict[str, str]) -> bool:
        for name, value in wanted.items():
            given = self.attributes.get(name.strip("_").replace("_", "-"), "")
            if value != given and not (name == "class_" and value in given.split()):
                return False
        return self.tag == tag

    def find_all(self, tag: str, **wanted: str) -> Iterator[Element]:
        """The elements below with that tag and these attributes, ``_`` for ``-``; of a class it
        need not be the only one.
        """
        for part in self.inside:
            if isinstance(part, Element):
                if part.matches(tag, wanted):
                    yield part
                yield from part.find_all(tag, **wanted)

    def find(self, tag: str, **wanted: str) -> Element:
        (found,) = self.find_all(tag, **wanted)
        return found


class Page(HTMLParser):
    """Raises ``AssertionError`` where an element is closed that isn't the innermost one."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.root = Element("root", [])
        self._open = [self.root]
        self.feed(content)
        self.close()
        assert self._open == [self.root], f"<{self._open[-1].tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, attrs)
        assert not element.doubled, f"<{tag}> has an attribute twice"
        self._open[-1].inside.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)
