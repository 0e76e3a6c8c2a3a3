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
    batches = models.PositiveBigIntegerField(default=0)
    """Also the version of the row: a batch is kept only if nobody else added one meanwhile."""
    rows_filled = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.target}: {self.rows_filled} rows"
