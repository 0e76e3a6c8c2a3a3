"""The output of the command: text for people, or one JSON document for programs, whose keys
docs/reference/json.md describes."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from typing import Any

from django.core.management.base import CommandError, OutputWrapper

from ...backfill.plan import Plan
from ...backfill.progress import Output as ProgressOutput
from ...backfill.sources.target import Target

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
        """Write lines; on a terminal they are wrapped between words, unless they may be SQL."""
        is_wrapped = self._stdout.isatty() and not self.is_verbose
        self.say(*(self._wrapped(lines) if is_wrapped else lines))

    def add(self, **values: Any) -> None:
        """Add values to the document."""
        if self._document is not None:
            self._document |= values

    @property
    def progress(self) -> ProgressOutput:
        """The output for progress."""
        if not self._verbosity:
            return OutputWrapper(StringIO())
        stderr: Any = self._stderr
        # Around its stream, without the colour of errors.
        return self._stdout if self._document is None else OutputWrapper(stderr._out)

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


def of_target(target: Target) -> dict[str, Any]:
    return {
        "field": target.label,
        "database": target.using,
        "scheme": target.field.scheme.name,
        "created_from": target.source.created_from,
        "convert_from": target.source.convert_from,
        "on_null": target.on_null,
        "on_out_of_range": target.on_out_of_range,
    }


def of_plan(plan: Plan) -> dict[str, Any]:
    slow, fast = plan.estimate.rates
    return {
        **of_target(plan.target),
        "order": list(plan.target.source.order),
        "rows_without_id": plan.rows,
        "rows_filled_before": plan.filled_before,
        "batch_size": plan.batch_size,
        "estimate": {
            "seconds_at_least": round(plan.rows / fast, 1),
            "seconds_at_most": round(plan.rows / slow, 1),
            "bytes_of_ids": plan.estimate.id_bytes,
            "bytes_of_row_versions": plan.estimate.version_bytes,
        },
        "samples": list(plan.samples),
        "warnings": list(plan.warnings),
        "statements": [{"when": when, "sql": sql} for when, sql in plan.writer.statements],
    }


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
