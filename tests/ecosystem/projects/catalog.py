"""The projects: what is installed, where the tests are, and which apps get the keys."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Edit(NamedTuple):
    """What a project changes in code that needs counted numbers."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Project:
    name: str
    distribution: str
    version: str
    """The release on PyPI."""
    extras: str
    requirements: tuple[str, ...]
    """What the suite needs in addition to the extras."""
    settings: str
    """The module of the suite's own settings; for helpdesk, which has none, ours."""
    app_configs: dict[str, str]
    """Apps that set ``default_auto_field``, with the class that gets another one."""
    files: tuple[str, ...] = ("tests",)
    """What is extracted from the sources: the tests. The code itself is installed."""
    tag: str | None = None
    """The tag of the release, for sources whose archive on PyPI has no tests."""
    repository: str | None = None
    """Where to clone the sources from."""
    pytest: tuple[str, ...] = ()
    """Arguments of pytest."""
    edits: tuple[Edit, ...] = ()
    """Applied to a copy of the release, for keys that are UUIDs or texts."""
    fixtures: tuple[str, ...] = ()
    """What the migrations of the project load into its tables."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables that the suite's own settings read."""
    overrides: dict[str, object] = field(default_factory=dict)
    """Other settings that a project with sortable keys changes; `FIELD` stands for the field."""

    @property
    def requirement(self) -> str:
        return f"{self.distribution}{self.extras}=={self.version}"


_AUTH = {"django.contrib.auth": "django.contrib.auth.apps.AuthConfig"}

_SESSIONS = {"SESSION_SERIALIZER": "key_sessions.KeySerializer"}

_OSCAR = Project(
    name="oscar",
    distribution="django-oscar",
    version="4.2",
    extras="[test]",
    requirements=(),
    settings="tests.settings",
    app_configs=_AUTH,
    tag="4.2.0",
    repository="https://github.com/django-oscar/django-oscar",
    pytest=("--deprecation=none",),
    edits=(
        Edit("oscar/apps/order/utils.py", "return 100000 + basket.id", 'return f"1{basket.id}"'),
        Edit("oscar/test/factories/order.py", '"%d" % (100000 + o.basket.pk)', 'f"1{o.basket.pk}"'),
        Edit("oscar/test/factories/__init__.py", "sku_%d_%d", "sku_%s_%d"),
        Edit(
            "oscar/apps/customer/history.py",
            "json.dumps(updated_ids)",
            "json.dumps(updated_ids, default=str)",
        ),
    ),
    environment={
        "DATABASE_ENGINE": "django.db.backends.sqlite3",
        "DATABASE_NAME": ":memory:",
    },
    overrides=_SESSIONS,
)
_HELPDESK = Project(
    name="helpdesk",
    distribution="django-helpdesk",
    version="2.3.3",
    extras="",
    requirements=(
        "factory-boy",
        "faker",
        "freezegun",
        "mock",
        "numpy",
        "pillow",
        "pysocks",
        "pytest",
        "pytest-django",
        "pytest-xdist",
    ),
    settings="helpdesk_settings",
    app_configs={**_AUTH, "helpdesk": "helpdesk.apps.HelpdeskConfig"},
    files=("tests", "quicktest.py"),
    edits=(
        Edit("helpdesk/forms.py", 'int(self.cleaned_data["queue"])', 'self.cleaned_data["queue"]'),
        Edit(
            "helpdesk/forms.py", 'int(self.cleaned_data["kbitem"])', 'self.cleaned_data["kbitem"]'
        ),
        Edit("helpdesk/views/abstract_views.py", "pk=int(kbitem)", "pk=kbitem"),
        Edit(
            "helpdesk/views/kb.py", "int(selected_item)", "KBItem._meta.pk.to_python(selected_item)"
        ),
        Edit(
            "helpdesk/views/staff.py",
            'int(form.data.get("owner", -1))',
            'form.data.get("owner", -1)',
        ),
        Edit(
            "helpdesk/views/staff.py",
            'int(form.cleaned_data.get("queue", ticket.queue.id))',
            'Queue._meta.pk.to_python(form.cleaned_data.get("queue", ticket.queue.id))',
        ),
        Edit("helpdesk/views/staff.py", "int(ticket.queue.id)", "ticket.queue.id"),
        Edit("helpdesk/views/staff.py", "map(int, ", "map(ChecklistTask._meta.pk.to_python, "),
        Edit("helpdesk/views/staff.py", "id_ = int(id_)", "pass"),
        Edit("helpdesk/views/staff.py", "int(query)", "query"),
    ),
    fixtures=("emailtemplate.json",),
    tag="613ca1d4",
    repository="https://github.com/django-helpdesk/django-helpdesk",
)
_ALLAUTH = Project(
    name="allauth",
    distribution="django-allauth",
    version="65.21.1",
    extras="[headless,headless-spec,idp-oidc,mfa,openid,socialaccount,steam]",
    requirements=(
        "django-ninja>=1.3,<2",
        "djangorestframework>=3.15.2,<4",
        "oauthlib==4.0.0",  # 18 tests fail with 4.0.1
        "pillow",
        "pytest>=8.3.5,<9",
        "pytest-asyncio==1.3.0",
        "pytest-django>=4.11,<4.13",
        "pytest-xdist",
    ),
    settings="tests.projects.regular.settings",
    app_configs=_AUTH,
    files=("tests", "pytest.ini"),
    overrides={"ALLAUTH_DEFAULT_AUTO_FIELD": "FIELD", **_SESSIONS},
)
# The users alone have the keys: allauth signs the keys of its own models as JSON.
_ALLAUTH_USERS = replace(_ALLAUTH, name="allauth-users", overrides=_SESSIONS)
PROJECTS = {each.name: each for each in (_OSCAR, _HELPDESK, _ALLAUTH, _ALLAUTH_USERS)}
NUMBERS = ("SnowflakeAutoField", "Time64AutoField")
FIELDS = ("UUIDv7AutoField", "ULIDAutoField", *NUMBERS)
