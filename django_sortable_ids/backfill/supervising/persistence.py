"""Retries when the database is unreachable, or when other transactions conflict."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, Error, InterfaceError, connections

from ...db.errors import TOO_SLOW, is_conflict, is_statement_timeout, is_timeout
from ...db.transactions import in_transaction, is_lost
from ...errors import BackfillError
from ..engines import engine_of
from .control import Control

Result = TypeVar("Result")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0
"""Seconds."""


class TriedTooLong(BackfillError):
    """For the whole retry time, the database was unreachable, other transactions conflicted, or
    statements took too long."""


class Persistence:
    """Retries work until it succeeds, for up to ``seconds`` after its first failure.

    Inside a transaction of the caller, nothing can be retried.
    """

    def __init__(
        self, using: str, seconds: float, control: Control, note: Callable[[str], None]
    ) -> None:
        self._using = using
        self._seconds = seconds
        self._control = control
        self._note = note
        self._session: object = None
        """The driver's connection that was last prepared."""
        self.possible = not in_transaction(using)

    def __call__(
        self, work: Callable[[], Result], on_conflict: Callable[[], None] = lambda: None
    ) -> Result:
        """The result of ``work``; ``on_conflict`` is called after a conflict or a timeout.

        Raises ``TriedTooLong`` when the time is over, and all other errors of ``work``.
        """
        give_up, pause, away = None, _FIRST_PAUSE, False
        connection = connections[self._using]
        while True:
            try:
                self._connect()
                result = work()
            except (DatabaseError, InterfaceError) as error:
                # At the end of the transaction, Django may have connected again.
                changed = connection.connection is not self._session
                lost = self.possible and (changed or is_lost(error, self._using))
                if not self.possible or not (lost or _is_in_the_way(error)):
                    raise
                give_up = give_up or time.monotonic() + self._seconds
                self._note(f"{type(error).__name__}: {' '.join(str(error).split())}")
                if time.monotonic() >= give_up:
                    raise self._end(lost, error) from error
                if lost:
                    connection.close()
                    if not away:
                        self._control.say(f"the connection is lost, trying again: {error}")
                    away = True
                else:
                    on_conflict()
            else:
                if away:
                    self._control.say("connected again")
                return result
            # Of random length, or two conflicting transactions would meet again.
            self._control.pause(random.uniform(0.5, 1) * pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _connect(self) -> None:
        connection = connections[self._using]
        connection.ensure_connection()
        if self.possible and connection.connection is not self._session:
            engine_of(self._using).prepare_session()
        self._session = connection.connection

    def _end(self, lost: bool, error: Error) -> TriedTooLong:
        text = " ".join(str(error).split())
        if not lost and isinstance(error, DatabaseError) and is_statement_timeout(error):
            what, advice = TOO_SLOW
            return TriedTooLong(f"{what}: {text}. {advice}")
        what = "the database could not be reached" if lost else "other transactions were in the way"
        return TriedTooLong(f"{what} for {self._seconds:g} s: {text}")


def _is_in_the_way(error: Error) -> bool:
    return isinstance(error, DatabaseError) and (is_conflict(error) or is_timeout(error))
