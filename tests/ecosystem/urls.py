from django.conf import settings
from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]

if settings.WITH_GRAPHENE:
    from graphene_django.views import GraphQLView

    from .graphene_schema import schema

    urlpatterns.append(path("graphql/", GraphQLView.as_view(schema=schema)))
else:
    from strawberry.django.views import AsyncGraphQLView, GraphQLView

    from .ninja_api import api
    from .strawberry_schema import schema

    urlpatterns += [
        path("ninja/", api.urls),
        path("graphql/", GraphQLView.as_view(schema=schema)),
        path("async/", AsyncGraphQLView.as_view(schema=schema)),
    ]
