from rest_framework.routers import SimpleRouter

from .api import VIEWSETS

router = SimpleRouter()
for path, (name, viewset) in VIEWSETS.items():
    router.register(path, viewset, basename=name)
urlpatterns = router.urls
