"""A page of rows whose times Python derives, looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from ...schemes import InvalidID, OutOfRange, TimeScheme
from .exchanges import moved
from .page_checks import CheckedInOrder
from .pages import Previous
from .verification import Verification


class CheckedByPlace(CheckedInOrder):
    """Ids of another time are those of the application, or their rows' times were changed since."""

    def of_their_tick(
        self, rows: QuerySet[Any], found: Verification, *, is_run: bool
    ) -> Iterator[Previous]:
        scheme, field = self._target.field.scheme, self._target.field
        for place, pk, value in self._target.walk(rows, field.name):
            found.rows += 1
            if value is None:
                continue
            try:
                if not isinstance(scheme, TimeScheme) or scheme.parts(value)[0] == scheme.tick(
                    self._target.at(place)
                ):
                    yield pk, value, place
                    continue
                found.other_time += 1
                if is_run:
                    found.move(moved(scheme, self._target.at(place), pk, value))
            except OutOfRange:
                found.other_time += 1
            except InvalidID:
                if field.accept_other_versions:
                    found.other_versions += 1
                else:
                    found.refused_versions += 1
            found.unjudged += 1
