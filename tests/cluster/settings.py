"""Settings of a process that writes to the node of DATABASE_URL."""

from tests.settings import *  # noqa: F403

INSTALLED_APPS = ["django_sortable_ids", "tests.cluster"]
SORTABLE_IDS = {"WORKER": "lease", "WORKER_LEASE_SECONDS": 6}
ROOT_URLCONF = __name__
urlpatterns: list[object] = []
