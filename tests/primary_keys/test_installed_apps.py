"""Keys of Django's own apps: an AppConfig changes them, and the project has the migration."""

import json
from pathlib import Path

import django
import pytest

from tests.marks import own_tables

pytestmark = own_tables

CONTRIB = {
    "auth": "Auth",
    "contenttypes": "ContentTypes",
    "admin": "Admin",
    "sites": "Sites",
    "flatpages": "FlatPages",
    "redirects": "Redirects",
}
OTHERS = ("messages", "sessions")
MODELS = """
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models


class Thing(models.Model):
    group = models.ForeignKey("auth.Group", models.CASCADE)


class Tag(models.Model):
    kind = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.CharField(max_length=40)
    of = GenericForeignKey("kind", "object_id")
"""
ROWS = """
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.flatpages.models import FlatPage
from django.contrib.redirects.models import Redirect
from django.contrib.sites.models import Site
from depot.models import Tag, Thing

site = Site.objects.create(domain="a.example", name="a")
FlatPage.objects.create(url="/a/", title="a").sites.add(site)
Redirect.objects.create(site=site, old_path="/b/", new_path="/a/")
for name in "abc":
    group, user = Group.objects.create(name=name), User.objects.create_user(name)
    user.groups.add(group)
    group.permissions.add(Permission.objects.get(codename="add_user"))
    thing = Thing.objects.create(group=group)
    for each in (group, user, thing):
        kind = ContentType.objects.get_for_model(each)
        Tag.objects.create(kind=kind, object_id=each.pk)
        LogEntry.objects.create(user=user, content_type=kind, object_id=each.pk, action_flag=1)
"""
DUMP = """
import json
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.flatpages.models import FlatPage
from django.contrib.redirects.models import Redirect
from depot.models import Tag, Thing


def named(found):
    return getattr(found, "username", None) or getattr(found, "name", None) or found.group.name


print(json.dumps({
    "groups": {u.username: [g.name for g in u.groups.all()] for u in User.objects.all()},
    "rights": {
        g.name: [f"{p.content_type.model} {p.codename}" for p in g.permissions.all()]
        for g in Group.objects.all()
    },
    "things": sorted(each.group.name for each in Thing.objects.all()),
    "tags": sorted(f"{each.kind.model} {named(each.of)}" for each in Tag.objects.all()),
    "log": sorted(
        f"{each.user.username} {each.content_type.model} {named(each.get_edited_object())}"
        for each in LogEntry.objects.all()
    ),
    "pages": [f"{p.url} {s.domain}" for p in FlatPage.objects.all() for s in p.sites.all()],
    "redirects": [each.site.domain for each in Redirect.objects.all()],
}))
"""
CONFIG = """
class Own{name}(apps.{name}Config):
    default_auto_field = "django_sortable_ids.fields.UUIDv7AutoField"
"""
WITHOUT_TABLES = ("contenttypes", "admin", "sites", "redirects")
"""Those without a ManyToManyField."""


@pytest.fixture
def project(create):
    return create(MODELS, *(f"django.contrib.{each}" for each in (*CONTRIB, *OTHERS)), rows=ROWS)


def dump(project):
    return json.loads(project.shell(DUMP))


def add_settings(project, line):
    path = project.folder / "settings.py"
    path.write_text(f"{path.read_text()}\n{line}\n")


def change_configs(project, *labels):
    apps = [
        f"from django.contrib.{app} import apps\n{CONFIG.format(name=name)}"
        for app, name in CONTRIB.items()
        if app in labels
    ]
    (project.folder / "own.py").write_text("\n\n".join(apps))
    own = {
        f"django.contrib.{app}": f"own.Own{name}" for app, name in CONTRIB.items() if app in labels
    }
    add_settings(project, f"INSTALLED_APPS = [{own!r}.get(each, each) for each in INSTALLED_APPS]")


def test_it_says_what_the_project_needs_which_then_suffices(project):
    done = project.backfill("auth", "sites", "--primary-key")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "auth (Permission, Group, User) is an installed package: have a subclass of "
        "django.contrib.auth.apps.AuthConfig in INSTALLED_APPS in its place, with",
        '    default_auto_field = "django_sortable_ids.fields.UUIDv7AutoField"',
        "and give --drop-old, because its models get no field for the old key",
        "sites (Site) is an installed package: have a subclass of "
        "django.contrib.sites.apps.SitesConfig in INSTALLED_APPS in its place, with",
        '    default_auto_field = "django_sortable_ids.fields.UUIDv7AutoField"',
        "and give --drop-old, because its models get no field for the old key",
        "Next: edit, don't run makemigrations, then manage.py backfill_ids auth sites "
        "--primary-key --drop-old",
    ]
    change_configs(project, "sites")
    done = project.backfill("sites", "--primary-key")
    assert done.stderr.strip() == (
        "BackfillError: sites.Site has no field for its old key, and it is no model of the "
        "project: give --drop-old, after which no key of this move can come back"
    )
    move = ("sites", "--primary-key", "--drop-old", "--write-migration")
    settings = project.folder / "settings.py"
    before = settings.read_text()
    add_settings(project, "MIGRATION_MODULES = {'depot': None}")
    assert project.backfill(*move).stderr.strip() == (
        "CommandError: sites is an installed package, whose folder of migrations is not the "
        "project's, and no app of the project has migrations: start some by `manage.py "
        "makemigrations`, or copy those of sites into the project and name them in "
        "MIGRATION_MODULES"
    )
    settings.write_text(before)
    own = project.folder / "sites_migrations"
    own.mkdir()
    for each in Path(django.__file__).parent.glob("contrib/sites/migrations/*.py"):
        (own / each.name).write_text(each.read_text())
    add_settings(project, "MIGRATION_MODULES = {'sites': 'sites_migrations'}")
    done = project.backfill(*move)
    assert "Wrote sites_migrations/0003_move_key_of_site.py" in done.stdout, done.stderr
    project.manage("migrate", "&&", "makemigrations", "--check", "sites")


def test_they_move(project):
    before = dump(project)
    change_configs(project, *WITHOUT_TABLES)
    done = project.backfill(*WITHOUT_TABLES, "--primary-key", "--drop-old", "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "Wrote depot/migrations/0002_move_key_of_" in done.stdout
    assert not list(Path(django.__file__).parent.glob("contrib/*/migrations/*move_key*"))
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert dump(project) == before
    project.shell(ROWS.replace('"abc"', '"d"').replace("a.exa", "d.exa"))
    # Content types have other keys now; generic references follow them in a later move, too.
    later = dump(project)
    project.add_keys("Thing")
    project.write_move()
    project.manage("migrate")
    assert dump(project) == later
    project.manage("migrate", "depot", "0002")


def test_tables_of_many_to_many_fields_are_refused(project):
    """AppConfig.default_auto_field is also that of their keys, which no migration changes."""
    change_configs(project, "auth")
    done = project.backfill("auth", "--primary-key", "--drop-old", "--write-migration")
    assert done.returncode == 1
    assert (
        "the database counts auth_user_groups.id, which is of type UUIDv7AutoField by the "
        "default_auto_field of auth: "
        "Django migrates no key of the table of a ManyToManyField. Leave default_auto_field as it "
        "was, and give auth.User and the others a key of their own in the models; models of "
        "installed packages that have such fields can't be moved"
    ) in done.stderr.splitlines()
    assert "the database counts auth_group_permissions.id" in done.stderr
