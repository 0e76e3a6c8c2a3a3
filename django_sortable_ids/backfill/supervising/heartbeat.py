"""Signs of life of a run whose batch takes long, or that pauses."""

from __future__ import annotations

import logging
from threading import Event, Thread

from django.db import Error, connections

from ...models import BackfillRun
from ..target import Target
from .owner import beat

BEAT_SECONDS = 5.0

logger = logging.getLogger("django_sortable_ids")


class Heartbeat:
    """A thread with a connection of its own, until the end of the block."""

    def __init__(self, target: Target, run: BackfillRun, seconds: float = BEAT_SECONDS) -> None:
        self._target = target
        self._run = run
        self._seconds = seconds
        self._end = Event()
        self._thread = Thread(target=self._beat, name="sortable-ids-heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        # Not for as long as a lock or a network may let it wait.
        self._thread.join(timeout=self._seconds)

    def _beat(self) -> None:
        while not self._end.wait(self._seconds):
            try:
                beat(self._target, self._run)
            except Error as error:
                logger.debug("no sign of the backfill of %s: %s", self._target.label, error)
            finally:
                connections[self._target.using].close()
