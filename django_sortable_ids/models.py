"""The app's own tables."""

from django.db import models
from django.utils.translation import pgettext_lazy


class SequenceCounter(models.Model):
    """The state of a lexical sequence: its next id is ``first`` plus ``taken`` steps."""

    key = models.CharField(max_length=200, unique=True)
    """``table.column``; with a year in the template of the sequence, ``table.column 2026``."""
    first = models.CharField(max_length=255)
    step = models.PositiveBigIntegerField()
    taken = models.PositiveBigIntegerField()

    class Meta:
        verbose_name = pgettext_lazy("sortable ids", "sequence counter")
        verbose_name_plural = pgettext_lazy("sortable ids", "sequence counters")

    def __str__(self) -> str:
        return f"{self.key}: {self.taken} from {self.first}"


class WorkerLease(models.Model):
    """A worker number, and the times of its owner's ids: ``starts <= time < expires``.

    Never delete a row while processes run: the next lease starts where the last one ended, and only
    the row records that time.
    """

    number = models.PositiveIntegerField(primary_key=True)
    owner = models.CharField(max_length=200)
    """Host and process, for people; the last owner if the number was given back."""
    token = models.CharField(max_length=32)
    """Known to the owner alone; empty if the number was given back."""
    starts = models.BigIntegerField()
    """Unix time in ms, like ``expires``."""
    expires = models.BigIntegerField()

    class Meta:
        verbose_name = pgettext_lazy("sortable ids", "worker lease")
        verbose_name_plural = pgettext_lazy("sortable ids", "worker leases")

    def __str__(self) -> str:
        return f"{self.number}: {self.owner}"


OF_FIELDS = ("created_from", "convert_from")
"""The arguments of ``backfill_ids`` that name a field of the model: options of a run."""


class BackfillRun(models.Model):
    """The progress of a backfill, stored in the database that it fills.

    Each batch and the cursor after it are written in one transaction. So they agree even if the
    process is killed.
    """

    target = models.CharField(max_length=200, unique=True)
    """``app.Model.field``."""
    options = models.JSONField()
    """The source and what must be the same when the run is resumed; also its policies."""
    cursor = models.JSONField(null=True)
    """The end of the last batch, or span; None before the first."""
    ids_since = models.DateTimeField(null=True)
    """The creation time from which the application also generates ids: that of the first row that
    had one when the run started, or the start itself; None if unknown."""
    batches = models.PositiveBigIntegerField(default=0)
    """Also the version of the row: a batch is kept only if no other process added one."""
    rows_filled = models.PositiveBigIntegerField(default=0)
    rows_planned = models.PositiveBigIntegerField(default=0)
    """The final value of ``rows_filled``, as estimated at the last start."""
    owner = models.CharField(max_length=200, default="")
    """Host and process of the run; the last one if the run has stopped."""
    token = models.CharField(max_length=32, default="")
    """Known to the owner alone; empty if no process runs it."""
    heartbeat = models.BigIntegerField(default=0)
    """The owner's last heartbeat, in Unix ms."""
    batch_size = models.PositiveBigIntegerField(default=0)
    rate = models.FloatField(default=0.0)
    """Rows per second since its owner started, pauses included."""
    last_error = models.CharField(max_length=1000, default="")
    started_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = pgettext_lazy("sortable ids", "backfill")
        verbose_name_plural = pgettext_lazy("sortable ids", "backfills")

    def __str__(self) -> str:
        return f"{self.target}: {self.rows_filled} rows"


class MoveNote(models.Model):
    """What a move of a key, or a swap of two columns, has done, in the database of its tables."""

    target = models.CharField(max_length=200, unique=True)
    """The kind of the note, and the label of the model or field."""
    identity = models.JSONField()
    """What must be the same when the work is resumed."""
    state = models.JSONField()
    """What is done so far, and what the rest needs."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "note of a move"
        verbose_name_plural = "notes of moves"

    def __str__(self) -> str:
        return self.target
