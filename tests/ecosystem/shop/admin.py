from importlib.util import find_spec

from django.contrib import admin

from .models import Order, Ticket

if find_spec("import_export"):
    from import_export.admin import ImportExportModelAdmin

    # Not a word about ids.
    admin.site.register([Order, Ticket], ImportExportModelAdmin)
