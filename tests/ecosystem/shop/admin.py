from django.conf import settings
from django.contrib import admin

from .models import Order, Ticket

if not settings.WITH_GRAPHENE:
    from import_export.admin import ImportExportModelAdmin

    # Nothing here is about ids.
    admin.site.register([Order, Ticket], ImportExportModelAdmin)
