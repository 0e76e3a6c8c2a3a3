from importlib.util import find_spec

from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]

if not find_spec("graphene_django"):
    from strawberry.django.views import AsyncGraphQLView, GraphQLView

    from .ninja_api import api
    from .strawberry_schema import schema

    urlpatterns += [
        path("ninja/", api.urls),
        path("graphql/", GraphQLView.as_view(schema=schema)),
        path("async/", AsyncGraphQLView.as_view(schema=schema)),
    ]
