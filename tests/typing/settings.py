"""Settings that the plugin of django-stubs reads; no test runs with them."""

INSTALLED_APPS = ["django_sortable_ids", "tests.typing"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SECRET_KEY = "only for type checkers"
