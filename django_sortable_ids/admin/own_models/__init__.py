"""The models of the app itself in the admin."""

from __future__ import annotations

from django.contrib.admin import AdminSite

from .long_work import BackfillRunAdmin
from .read_only import SequenceCounterAdmin, WorkerLeaseAdmin


def register_own_models(site: AdminSite) -> None:
    """Add backfills, worker leases and sequence counters to an admin site.

    The default site has them already. They are read-only, and need the permission to view the
    model.
    """
    from ...models import BackfillRun, SequenceCounter, WorkerLease

    site.register(BackfillRun, BackfillRunAdmin)
    site.register(WorkerLease, WorkerLeaseAdmin)
    site.register(SequenceCounter, SequenceCounterAdmin)
