"""Looks for keys in the settings, and for what they need when the key of the users moves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.conf import settings

from .files import SourceFile
from .finding import Finding
from .names import Names

_MIDDLEWARE = "django_sortable_ids.old_ids.sessions.OldUserIDMiddleware"
_SESSIONS = "django.contrib.sessions.middleware.SessionMiddleware"


def found(names: Names, files: Iterable[SourceFile]) -> Iterator[Finding]:
    for name in sorted(filter(str.isupper, dir(settings))):
        if names.is_key(name) and _is_number(value := getattr(settings, name)):
            yield _at(name, f"{name} = {value!r}", "setting", files)
    has_sessions = _SESSIONS in settings.MIDDLEWARE and _MIDDLEWARE not in settings.MIDDLEWARE
    if has_sessions and _users_move(names):
        yield _at("MIDDLEWARE", "sessions contain the user's key", "login", files)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | str) and str(value).isdigit()


def _users_move(names: Names) -> bool:
    return apps.is_installed("django.contrib.auth") and (
        apps.get_model(settings.AUTH_USER_MODEL) in names.moved
    )


def _at(name: str, text: str, kind: str, files: Iterable[SourceFile]) -> Finding:
    """The finding, with the line of the setting if a file of the project has it."""
    assigned = re.compile(rf"^{name}\s*(?::.*)?=", re.MULTILINE)
    for file in files:
        if "settings" in file.path.as_posix() and (match := assigned.search(file.text)):
            return Finding(kind, file.shown, file.text.count("\n", 0, match.start()) + 1, text)
    return Finding(kind, "settings", None, text)
