"""The app's own tables."""

from django.db import models


class SequenceCounter(models.Model):
    """Where a lexical sequence stands: its next id is ``first`` and ``taken`` steps."""

    key = models.CharField(max_length=200, unique=True)
    """Table and column."""
    first = models.CharField(max_length=255)
    step = models.PositiveBigIntegerField()
    taken = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"{self.key}: {self.taken} from {self.first}"


class WorkerLease(models.Model):
    """A worker number, and the time that ids of its owner may have: ``starts <= time < expires``.

    A row is never deleted while processes run: the next owner begins where the one before it ended,
    and without the row nobody knows where that was.
    """

    number = models.PositiveIntegerField(primary_key=True)
    owner = models.CharField(max_length=200)
    """Host and process, for people; of the last owner where the number was given back."""
    token = models.CharField(max_length=32)
    """What the owner alone knows; empty where the number was given back."""
    starts = models.BigIntegerField()
    """Unix time in ms, as ``expires``."""
    expires = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.number}: {self.owner}"


class BackfillRun(models.Model):
    """How far a backfill has come, in the database that it fills.

    Each batch is written in one transaction with the cursor behind it, so that after a kill at any
    instant the two agree.
    """

    target = models.CharField(max_length=200, unique=True)
    """``app.Model.field``."""
    options = models.JSONField()
    """What must not change between a start and its resumption."""
    cursor = models.JSONField(null=True)
    """Where the last batch ended; None before the first."""
    given_from = models.DateTimeField(null=True)
    """From which creation time on the application gives ids, too: that of the first row that had
    one when the run began, or when it began; None where that isn't known."""
    batches = models.PositiveBigIntegerField(default=0)
    """Also the version of the row: a batch is kept only if nobody else added one meanwhile."""
    rows_filled = models.PositiveBigIntegerField(default=0)
    rows_planned = models.PositiveBigIntegerField(default=0)
    """What ``rows_filled`` is to become, as far as the last start knew."""
    owner = models.CharField(max_length=200, default="")
    """Host and process that fills it, for people; the last one where it has stopped."""
    process = models.CharField(max_length=200, default="")
    """Names the owner among all processes since this machine started; empty where it can't be."""
    token = models.CharField(max_length=32, default="")
    """What the owner alone knows; empty where nobody fills it."""
    heartbeat = models.BigIntegerField(default=0)
    """When the owner gave its last sign, in Unix ms."""
    batch_size = models.PositiveBigIntegerField(default=0)
    rate = models.FloatField(default=0.0)
    """Rows per second since its owner began, pauses included."""
    last_error = models.CharField(max_length=1000, default="")
    started_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.target}: {self.rows_filled} rows"


class VerificationRun(models.Model):
    """How far a ``--verify`` has come, in the database that it looks at, until it ends."""

    target = models.CharField(max_length=200, unique=True)
    """``app.Model.field``."""
    judged_by = models.JSONField()
    """What must not change between a start and its resumption."""
    state = models.JSONField()
    """The last row that was looked at, and what was found up to there."""
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.target}: {self.state['found']['rows']} rows"
