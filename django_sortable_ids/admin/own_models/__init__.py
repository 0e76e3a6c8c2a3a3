"""The models of the app itself in the admin."""

from __future__ import annotations

from django.contrib.admin import AdminSite

from .read_only import BackfillRunAdmin, SequenceCounterAdmin, WorkerLeaseAdmin


def register_own_models(site: AdminSite) -> None:
    """Add backfills, worker leases and sequence counters to an admin site.

    The default site has them already. They are read-only, and need the permission to view the
    model. A model that the site has already is left as it is.
    """
    from ...models import BackfillRun, SequenceCounter, WorkerLease

    for model, model_admin in (
        (BackfillRun, BackfillRunAdmin),
        (WorkerLease, WorkerLeaseAdmin),
        (SequenceCounter, SequenceCounterAdmin),
    ):
        if not site.is_registered(model):
            site.register(model, model_admin)
