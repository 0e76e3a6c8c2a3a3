"""Sessions with UUIDs, which Django's own serializer refuses."""

import json
from typing import Any

from django.contrib.sessions.serializers import JSONSerializer
from django.core.serializers.json import DjangoJSONEncoder


class KeySerializer(JSONSerializer):
    def dumps(self, obj: Any) -> bytes:
        return json.dumps(obj, separators=(",", ":"), cls=DjangoJSONEncoder).encode("latin-1")
