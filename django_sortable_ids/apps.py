"""The app configuration: it only registers the parts of the package."""

from django.apps import AppConfig
from django.core.checks import Tags
from django.core.checks import register as register_check
from django.utils.translation import pgettext_lazy


class SortableIDsConfig(AppConfig):
    name = "django_sortable_ids"
    verbose_name = pgettext_lazy("sortable ids", "Sortable ids")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        from . import packages

        super().import_models()
        packages.register_before_admin(self._uses)

    def ready(self) -> None:
        from . import checks, lookups, packages
        from .forms import masked_relations
        from .functions import extremes, hexadecimal
        from .migrating import guard
        from .workers import this_process

        checks.register()
        extremes.register()
        hexadecimal.register()
        lookups.register()
        masked_relations.register()
        guard.register(self)
        this_process.register()
        if self._uses("django.contrib.admin"):
            from django.contrib.admin import site

            from .admin import checks as admin_checks
            from .admin import register_own_models

            # Not when the module is imported: the default site's own module may import it.
            register_own_models(site)
            register_check(admin_checks.check_admins, checks.TAG, Tags.admin)
        if self._uses("rest_framework"):
            from .rest_framework import fields as rest_fields

            rest_fields.register()
            if self._uses("drf_spectacular"):
                from .rest_framework import openapi

                openapi.register()
        if self._uses("django_filters"):
            from . import filters
            from .forms import filter_fields

            filters.register()
            filter_fields.register()
        packages.register(self._uses)

    def _uses(self, app: str) -> bool:
        return bool(self.apps and self.apps.is_installed(app))
