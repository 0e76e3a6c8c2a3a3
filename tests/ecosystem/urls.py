from importlib.util import find_spec

from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]

if find_spec("ninja"):
    from .ninja_api import api

    urlpatterns.append(path("ninja/", api.urls))
