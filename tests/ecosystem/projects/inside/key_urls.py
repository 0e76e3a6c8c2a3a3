"""What a project changes in its URLs when its keys are no counted numbers."""

import re
import uuid

from django.urls import converters, resolvers

KEY = "(?:[0-9]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-Z]{26})"
"""Numbers, which the other apps still have, UUIDs and ULIDs."""


class KeyConverter(converters.StringConverter):
    """What replaces ``<int:pk>``: a UUID as one, anything else as text."""

    regex = KEY

    def to_python(self, value: str) -> uuid.UUID | str:
        return uuid.UUID(value) if "-" in value else value


def accept_keys_in_urls() -> None:
    """``<int:pk>`` and ``(?P<pk>\\d+)`` match any key."""
    converters.DEFAULT_CONVERTERS["int"] = KeyConverter()
    own = resolvers.RegexPattern.__init__

    def widened(self, regex: str, *args: object, **kwargs: object) -> None:
        regex = re.sub(r"(\(\?P<\w+>)(?:-\?)?\\d\+\)", rf"\1{KEY})", regex)
        own(self, regex, *args, **kwargs)

    resolvers.RegexPattern.__init__ = widened
