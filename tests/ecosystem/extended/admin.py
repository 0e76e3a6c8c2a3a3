from django.contrib import admin
from simple_history.admin import SimpleHistoryAdmin

from .models import Author, Book

admin.site.register([Author, Book], SimpleHistoryAdmin)
