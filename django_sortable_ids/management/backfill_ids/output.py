"""The output of the command: text for people, or one JSON document for programs."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from ...backfill.progress import Output as ProgressOutput

COLUMNS = 80
"""The assumed width of a terminal whose width is unknown."""


class Output:
    """The output of a mode of the command."""

    def __init__(
        self,
        stdout: OutputWrapper,
        stderr: OutputWrapper,
        verbosity: int,
        document: dict[str, Any] | None,
    ) -> None:
        """``document`` is printed as JSON at the end; None means text."""
        self._stdout = stdout
        self._stderr = stderr
        self._verbosity = verbosity
        self._document = document

    @property
    def is_json(self) -> bool:
        return self._document is not None

    @property
    def is_verbose(self) -> bool:
        return self._verbosity > 1

    def say(self, *lines: str) -> None:
        """Write lines without wrapping, because they may contain commands to copy."""
        if self._verbosity and self._document is None:
            for line in lines:
                self._stdout.write(line)

    def explain(self, lines: Iterable[str]) -> None:
        """Write lines; on a terminal they are wrapped between words."""
        self.say(*(self._wrapped(lines) if self._stdout.isatty() else lines))

    def add(self, **values: Any) -> None:
        """Add values to the document."""
        if self._document is not None:
            self._document |= values

    @property
    def progress(self) -> ProgressOutput:
        """The output for progress."""
        if not self._verbosity:
            return OutputWrapper(StringIO())
        return self._stdout if self._document is None else _Plain(self._stderr)

    @contextmanager
    def document_written(self) -> Iterator[None]:
        """Write the document at the end, with the error if there is one."""
        if self._document is None:
            yield
            return
        try:
            yield
        except BaseException as error:
            code = error.returncode if isinstance(error, CommandError) else 1
            text = str(error) or type(error).__name__
            self._write_document(exit_code=code, error=text)
            raise
        self._write_document(exit_code=0, error=None)

    def _write_document(self, **end: Any) -> None:
        text = json.dumps((self._document or {}) | end, indent=2, default=_as_text)
        self._stdout.write(text)
        self._stdout.flush()

    def _wrapped(self, lines: Iterable[str]) -> Iterator[str]:
        width = max(40, shutil.get_terminal_size((COLUMNS, 24)).columns)
        for line in lines:
            indent = " " * (len(line) - len(line.lstrip()))
            yield from textwrap.wrap(
                line.strip(),
                width,
                initial_indent=indent,
                subsequent_indent=f"{indent}  ",
                break_on_hyphens=False,
            )


class _Plain:
    """stderr without the colour of errors."""

    def __init__(self, stderr: OutputWrapper) -> None:
        self._stderr = stderr
        self.encoding = getattr(stderr, "encoding", None)

    def write(self, msg: str, *, ending: str | None = None) -> None:
        self._stderr.write(msg, lambda text: text, ending)

    def isatty(self) -> bool:
        return self._stderr.isatty()

    def flush(self) -> None:
        self._stderr.flush()


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
