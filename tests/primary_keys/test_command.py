"""``backfill_ids --primary-key`` plans a move, and writes its migration."""

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.backfill.own_project import KEY, SETTINGS, Project
from tests.backfill.test_output import IN_ONE_PROCESS
from tests.combinations import in_one_case

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)
    joined = models.DateTimeField(auto_now_add=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
    gifts = models.ManyToManyField(Customer, related_name="gifts")


class Country(models.Model):
    code = models.CharField(max_length=2, primary_key=True)
"""
ROWS = """
from depot.models import Customer, Order

for number in range(3):
    customer = Customer.objects.create(name=f"customer {number}")
    order = Order.objects.create(customer=customer)
    order.gifts.add(customer)
"""
LATER = """
from datetime import timedelta
from django.db.models import F
from depot.models import Customer

Customer.objects.update(joined=F("joined") + timedelta(hours=2))
"""
OLD = "old_id = models.BigIntegerField(null=True, unique=True, editable=False)"
KEPT = (
    "depot.Country keeps its key code, a CharField. To replace it, write code = UUIDv7Field("
    "primary_key=True) and old_code = models.CharField(max_length=2, null=True, unique=True, "
    "editable=False)"
)
EDITS = [
    "Edit the models first. Add imports, and to each class its lines, instead of its key:",
    "from django_sortable_ids.fields import UUIDv7AutoField",
    "depot.models.Customer,",
    "depot.models.Order:",
    "    id = UUIDv7AutoField(primary_key=True)",
    f"    {OLD}",
    KEPT,
    "Next: edit, don't run makemigrations, then manage.py backfill_ids depot --primary-key",
]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("template"))
    made.create(MODELS, rows=ROWS)
    return made


@pytest.fixture
def project(template, tmp_path):
    return template.copy(tmp_path / "project")


def move(project, *arguments):
    return project.backfill(*arguments, "--primary-key")


def edited(project):
    """Apply the edits that the command asks for."""
    document = json.loads(move(project, "depot", "--json").stdout)
    text = project.models.read_text()
    for edit in document["edits"]:
        lines = "".join(f"    {each}\n" for each in edit["text"])
        for name in edit["classes"]:
            start = rf"(class {name.removeprefix('depot.models.')}\(.*\n)"
            text = re.sub(start, rf"\1{lines}", text)
        text = "\n".join([*edit["needs"], text])
    project.models.write_text(text)
    return project


@pytest.fixture(scope="module")
def edited_template(template, tmp_path_factory):
    return edited(template.copy(tmp_path_factory.mktemp("template") / "project"))


@pytest.fixture
def edited_project(edited_template, tmp_path):
    return edited_template.copy(tmp_path / "project")


def columns(project, table):
    with closing(sqlite3.connect(project.folder / "depot.sqlite3")) as connection:
        return {
            name: kind for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
        }


def test_it_says_how_to_edit_the_models(project):
    done = move(project, "depot")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == EDITS


def test_it_writes_no_migration_before_the_edit(project):
    done = move(project, "depot", "--write-migration")
    assert done.returncode == 1
    assert "CommandError: No migration was written: edit the models first" in done.stderr
    assert project.names == ["0001_initial"]


def refused(project, *arguments):
    done = move(project, *arguments)
    assert done.returncode == 1
    return done.stderr.split("BackfillError: ")[1].splitlines()


NOTHING = (
    "No key to move: a key that moves is a sortable id in the model, and another field in the "
    "migrations. Name tables of the project, in the database of --database and in apps with "
    "migrations, and edit their keys first"
)


UNAPPLIED = (
    "run manage.py migrate. Delete what makemigrations wrote of an edited key instead, since the "
    "move is another migration, and one that moves these keys, to write it again"
)


def test_it_says_that_makemigrations_was_first(edited_project):
    project = edited_project
    project.manage("makemigrations", "depot")
    (made,) = (project.folder / "depot" / "migrations").glob("0002*")
    assert refused(project, "depot", "--write-migration") == [
        f"depot.{made.stem} not applied yet: {UNAPPLIED}"
    ]
    assert "`manage.py backfill_ids depot --primary-key --write-migration`" in (
        project.run("migrate").stderr
    )
    made.unlink()
    assert move(project, "depot").returncode == 0


@in_one_case("names", [["depot.Customer", "depot.Country"], ["django_sortable_ids"]])
def test_it_says_that_a_named_model_has_no_new_key(edited_project, names):
    assert refused(edited_project, *names) == [KEPT if "depot.Country" in names else NOTHING]


def test_an_app_without_migrations(project):
    (project.folder / "settings.py").write_text(f'{SETTINGS}MIGRATION_MODULES = {{"depot": None}}')
    assert refused(project, "depot") == [NOTHING]


ROUTED = f"""{SETTINGS}
DATABASES["depot"] = DATABASES["default"]
DATABASES["default"] = {{**DATABASES["depot"], "NAME": ":memory:"}}


class Router:
    def db_for_write(self, model, **hints):
        return "depot" if model._meta.app_label == "depot" and IS_IN_DEPOT else "default"


DATABASE_ROUTERS = [Router()]
"""


def test_the_database_is_the_one_to_which_routers_write_the_models(project):
    (project.folder / "settings.py").write_text(ROUTED.replace("IS_IN_DEPOT", "True"))
    assert move(project, "depot").stdout.splitlines() == EDITS
    done = move(edited(project), "depot", "--write-migration", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["database"], document["next"]) == (
        "depot",
        "manage.py migrate --database=depot",
    )


def test_tables_of_several_databases_need_the_name_of_one(project):
    is_one = "model._meta.model_name == 'order'"
    (project.folder / "settings.py").write_text(ROUTED.replace("IS_IN_DEPOT", is_one))
    assert refused(project, "depot") == [
        "a move is of one database, and your DATABASE_ROUTERS write these tables to default, "
        "depot: name one with --database"
    ]
    assert move(project, "depot", "--database=depot").stdout.splitlines()[:-1] == EDITS[:-1]


BASES = """
import uuid
from django.db import models


class Named(models.Model):
    code = models.UUIDField(primary_key=True, default=uuid.uuid4)

    class Meta:
        abstract = True


class Box(Named):
    pass


class Crate(Named):
    pass


class Lid(Crate):
    pass


Generated = type("Generated", (models.Model,), {"__module__": __name__})
"""


def test_an_inherited_key_is_edited_where_it_is_defined(project):
    project.models.write_text(BASES)
    project.manage("makemigrations", "depot", "&&", "migrate")
    in_base = [
        "depot.models.Named:",
        "    code = UUIDv7Field(primary_key=True)",
        "    old_code = models.UUIDField(null=True, unique=True, editable=False)",
    ]
    assert move(project, "depot").stdout.splitlines()[2:-1] == in_base
    in_model = ["depot.models.Crate:", *in_base[1:]]
    assert move(project, "depot.Crate").stdout.splitlines()[2:-1] == in_model


def test_a_key_of_an_unmanaged_table(project):
    """No migration moves it."""
    start = "class Customer(models.Model):\n"
    meta = f"{start}    class Meta:\n        managed = False\n\n"
    project.change_models(start, meta)
    project.manage("makemigrations", "depot", "&&", "migrate")
    printed = move(project, "depot").stdout
    assert "\ndepot.models.Order:\n" in printed
    assert "Customer" not in printed
    project.change_models(meta, f"{meta}{KEY}\n")
    project.change_models("from django", f"{EDITS[1]}\nfrom django", 1)
    assert refused(project, "depot", "--write-migration") == [
        "depot.Customer is not managed, so no migration moves its key: keep that"
    ]


def test_another_public_text_moves_no_key(project):
    path = project.models
    path.write_text(PARCEL.format("ULIDAutoField(primary_key=True)"))
    project.manage("makemigrations", "depot", "--name", "parcel", "&&", "migrate")
    path.write_text(PARCEL.format('ULIDAutoField(primary_key=True, prefix="p")'))
    assert refused(project, "depot.Parcel") == [NOTHING]


def test_the_field_of_an_old_key_that_is_an_id(project):
    path = project.models
    path.write_text(PARCEL.format('ULIDAutoField(primary_key=True, storage="char")'))
    project.manage("makemigrations", "depot", "--name", "parcel", "&&", "migrate")
    path.write_text(PARCEL.format("UUIDv7AutoField(primary_key=True)"))
    assert refused(project, "depot.Parcel")[1] == (
        "    old_id = ULIDField(storage='char', null=True, unique=True, editable=False)"
    )


def test_the_plan_names_every_column(edited_project):
    project = edited_project
    done = move(project, "depot")
    assert done.returncode == 0, done.stderr
    size = (project.folder / "depot.sqlite3").stat().st_size
    megabytes = f"{size / 1_000_000:.1f} MB"
    assert re.sub(r"0:\d\d( to 0:\d\d)?", "TIME", done.stdout).splitlines() == [
        "depot.Customer.id: UUIDv7AutoField, 3 rows; the old key stays as old_id",
        "  times from joined",
        "  depot_order.customer_id",
        "  depot_order_gifts.customer_id",
        "depot.Order.id: UUIDv7AutoField, 3 rows; the old key stays as old_id",
        "  times from customer__joined",
        "  depot_order_gifts.order_id",
        "writes 3 tables with 9 rows",
        "  takes about TIME, in which the application must not run",
        "    estimated from a trial without rows and a copy of 3 rows, on this machine",
        "  locks the database, for writing, until it ends",
        f"  needs up to 6 times their present {megabytes} of disk space until it ends",
        "URLs, code, SQL, sessions, tasks, caches and settings: see "
        '"Before you move a primary key" in the documentation',
        "Next: manage.py backfill_ids depot --primary-key --write-migration",
    ]
    document = json.loads(move(project, "depot", "--json").stdout)
    least, most = document["copy"]["ratio"]
    a_row = document["copy"]["seconds"] / document["copy"]["rows"]
    estimate, tried = document["estimate"], document["tried_for"]
    assert estimate["seconds_at_least"] == pytest.approx(2 * tried + 9 * least * a_row)
    assert estimate["seconds_at_most"] == pytest.approx(8 * tried + 9 * most * a_row)
    assert document["keys"][1] == {
        "key": "depot.Order.id",
        "scheme": "UUIDv7AutoField",
        "rows": 3,
        "old": "old_id",
        "times": "customer__joined",
        "references": ["depot_order_gifts.order_id"],
        "deleted": 0,
    }
    assert (document["tables"], document["rows"]) == (3, 9)
    assert document["bytes"] == document["estimate"]["bytes"] == size
    assert document["locks"] == "the database, for writing, until it ends"
    assert project.names == ["0001_initial"]


def test_the_app_has_another_label(edited_project):
    project = edited_project
    (project.folder / "labelled.py").write_text(
        "from django_sortable_ids.apps import SortableIDsConfig\n"
        "class Labelled(SortableIDsConfig):\n    label = 'ids'\n"
    )
    settings = SETTINGS.replace('"django_sortable_ids"', '"labelled.Labelled"')
    (project.folder / "settings.py").write_text(settings)
    move = "backfill_ids depot --primary-key --write-migration"
    for command in ("migrate ids", move, "migrate", "migrate depot 0001", "migrate"):
        # In a process of its own: others have imported the models under their own label.
        process = [sys.executable, "manage.py", *command.split()]
        subprocess.run(process, cwd=project.folder, check=True, capture_output=True)
    assert columns(project, "depot_order")["id"] == "char(32)"
    assert columns(project, "ids_backfillrun")


def test_migrate_moves_the_keys_and_reverses_it(edited_project):
    project, before = edited_project, columns(edited_project, "depot_order")
    name = "0002_move_key_of_customer_and_others"
    assert project.write_move().splitlines()[-3:] == [
        f"Wrote depot/migrations/{name}.py",
        "Next: read it, stop the application, and run",
        "  manage.py migrate",
    ]
    migration = project.folder / f"depot/migrations/{name}.py"
    moved = migration.read_text()
    apart = "    operations = [migrations.SeparateDatabaseAndState(operations, operations)]\n"
    for source in (moved, moved + apart):
        migration.write_text(source)
        assert refused(project, "depot", "--write-migration") == [
            f"depot.{name} not applied yet: {UNAPPLIED}"
        ]
    migration.write_text(moved)
    printed = project.manage("sqlmigrate", "depot", name)
    assert printed.splitlines()[-1] == "-- THIS OPERATION CANNOT BE WRITTEN AS SQL"
    assert columns(project, "depot_order") == before
    edited = project.models.read_text()
    project.models.write_text(MODELS)  # of the earlier code
    done = project.run("migrate")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-3:] == [
        "CommandError: Nothing was migrated.",
        *(
            f"depot.{name} moves the key of depot.{model}, and its model has the BigAutoField from "
            "before: deploy the models that were edited for the move, and run migrate with these."
            for model in ("Customer", "Order")
        ),
    ]
    assert columns(project, "depot_order") == before
    project.models.write_text(edited)
    project.manage("migrate")
    new = {"id": "char(32)", "customer_id": "char(32)", "old_id": "bigint"}
    assert columns(project, "depot_order") == new
    project.manage("makemigrations", "--check")
    told = project.shell(
        "from depot.models import *; print([(o.old_id, o.customer.name, o.gifts.get().name) "
        "for o in Order.objects.all()])"
    )
    assert told == str([(n + 1, f"customer {n}", f"customer {n}") for n in range(3)])
    for model, option in (("Customer", "--verify"), ("Order", "--write-migration")):
        done = project.backfill(f"depot.{model}.id", option)
        assert (done.returncode, done.stdout.splitlines()[:1]) == (0, ["3 rows, 3 with an id"])
    assert done.stdout.splitlines()[-1] == "Nothing to write: it is the primary key."
    project.shell(LATER)
    done = project.backfill("depot.Customer.id", "--verify")
    assert done.returncode == 1
    assert "3 of 3 ids are of another time than their row" in done.stderr
    models = project.models.read_text()
    # The earlier code, before the move is undone
    migration.unlink()
    project.models.write_text(MODELS)
    done = project.run("check", "--database", "default")
    assert done.returncode == 1
    assert done.stderr.count("(sortable_ids.E021) The key was moved in the database") == 2
    migration.write_text(moved)
    project.models.write_text(models)
    project.manage("check", "--database", "default")
    project.models.write_text(models.replace(f"    {OLD}\n", "", 1))
    project.manage("makemigrations", "depot", "-v0", "&&", "migrate")
    done = project.run("migrate", "depot", "0001")
    assert done.returncode == 1
    assert "can't be undone: the old keys of depot.Customer were not kept, or" in done.stderr
    project.manage("migrate", "depot", "0002")
    done = project.run("migrate", "depot", "0001")
    assert "No key was moved.\nno row of depot.Customer has its old key" in done.stderr
    project.sql("UPDATE depot_customer SET old_id = substr(name, 10) + 1")
    project.manage("migrate", "depot", "0001")
    assert columns(project, "depot_order") == before
    for each in migration.parent.glob("000[23]*"):
        each.unlink()
    project.models.write_text(MODELS)
    project.manage("check", "--database", "default")


PARCEL = """
from django.db import models
from django_sortable_ids.fields import ULIDAutoField, ULIDField, UUIDv7AutoField


class Parcel(models.Model):
    id = {}
"""
PARCELS = """
from datetime import UTC, datetime
from depot.models import Parcel

scheme = Parcel._meta.get_field("id").scheme
for hour in range(3):
    Parcel.objects.create(pk=scheme.generate(datetime(2024, 5, 17, hour, tzinfo=UTC)))
"""
EXCHANGED = """
from depot.models import Parcel

first, second, _ = Parcel.objects.order_by("pk")
Parcel.objects.filter(pk=first.pk).update(old_id=None)
Parcel.objects.filter(pk=second.pk).update(old_id=first.old_id)
Parcel.objects.filter(pk=first.pk).update(old_id=second.old_id)
"""


def test_verify_compares_a_converted_key_with_the_old_one_until_the_move_is_undone(project):
    path = project.models
    before = PARCEL.format("ULIDAutoField(primary_key=True)")
    path.write_text(before)
    project.manage("makemigrations", "depot", "--name", "parcel", "&&", "migrate")
    project.shell(PARCELS)
    old = "    old_id = ULIDField(null=True, unique=True, editable=False)\n"
    path.write_text(PARCEL.format("UUIDv7AutoField(primary_key=True)") + old)
    done = move(project, "depot.Parcel", "--write-migration")
    assert done.returncode == 0, done.stderr
    project.manage("migrate")

    def verify():
        done = project.backfill("depot.Parcel.id", "--verify")
        return done.returncode, done.stdout + done.stderr

    assert verify()[0] == 0
    assert "of their old ids' times" in verify()[1]
    project.shell(EXCHANGED)
    assert verify()[0] == 1
    project.manage("migrate", "depot", "0002_parcel")
    path.write_text(before)
    code, printed = verify()
    assert code == 0, printed
    assert "no source of their times is known (name one by --created-from)" in printed


def test_a_key_keeps_its_column(project):
    path = project.models
    named = 'id = models.BigAutoField(primary_key=True, db_column="order_no")'
    path.write_text(MODELS.replace("    customer =", f"    {named}\n    customer ="))
    project.manage("makemigrations", "depot", "&&", "migrate")
    key = 'id = UUIDv7AutoField(primary_key=True, db_column="order_no")'
    assert key in move(project, "depot.Order").stdout
    path.write_text(path.read_text().replace(named, key.replace(', db_column="order_no"', "")))
    imported = "from django_sortable_ids.fields import UUIDv7AutoField\n"
    path.write_text(imported + path.read_text())
    done = move(project, "depot.Order", "--drop-old")
    assert done.stderr.splitlines()[-1] == (
        "BackfillError: depot.Order.id: the column of the key is order_no, and the model says id: "
        'add db_column="order_no"'
    )


def test_a_model_without_a_field_for_its_old_key(edited_project):
    project = edited_project
    project.change_models(f"    {OLD}\n    name", "    name")
    done = move(project, "depot")
    expected = [
        "depot.Customer has no such field for its old key: expected",
        f"    {OLD}",
        "or the option --drop-old",
    ]
    assert done.stderr.split("BackfillError: ")[1].splitlines() == expected
    for other in (
        "CharField(max_length=9, null=True, unique=True)",
        "BigIntegerField(null=True)",
        "BigIntegerField(unique=True)",
    ):
        field = f"    old_id = models.{other}\n"
        project.change_models("    name", f"{field}    name")
        assert refused(project, "depot.Customer") == expected
        project.change_models(field, "")
    done = move(project, "depot.Customer", "--drop-old", "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "the old key is dropped" in done.stdout


REFUSED = [
    (["depot.Nothing"], "depot.Nothing: App 'depot' doesn't have a 'Nothing' model. "
                        "Expected an app or app.Model"),
    (["depot", "--verify"], "--primary-key takes no --verify: it shows a plan"),
    (["depot", "--dry-run", "--write-migration"], "--primary-key takes no --dry-run: it shows"),
    (["depot", "--sleep=1", "--allow-triggers"],
     "--primary-key takes no --allow-triggers and --sleep"),
    (["depot", "--on-null=skip"], "--on-null=skip leaves NULL, which no key may have"),
    (["depot", "--on-out-of-range=skip"], "--primary-key takes no --on-out-of-range"),
    (["depot", "--on-out-of-range=error"], "--primary-key takes no --on-out-of-range"),
    (["depot", "--created-from=joind"],
     "depot.Customer has no DateTimeField or DateField 'joind'; it has joined; nearest: joined."),
    (["depot.Order", "--created-from=customer__joind"],
     "depot.Customer has no DateTimeField or DateField 'joind'; it has joined; nearest: joined."),
    (["depot.Customer", "--created-from=nonsense__x"], "has no field 'nonsense'"),
    (["depot.Customer", "--created-from=id"], "has no DateTimeField or DateField 'id'"),
    (["depot.Customer", "--start=2020-01-01"],
     "--created-from pk spreads the rows over a period, --start 2015-01-01 --end 2024-06-30: "
     "give all three, or none of them"),
]  # fmt: skip


def test_refused_arguments(edited_project):
    (edited_project.folder / "manage.py").write_text(IN_ONE_PROCESS)
    given = (["backfill_ids", *arguments, "--primary-key"] for arguments, _ in REFUSED)
    *printed, _ = edited_project.manage(*map(shlex.join, given)).split("\0")
    for (arguments, message), text, code in zip(REFUSED, printed[::2], printed[1::2], strict=True):
        assert code in "12", arguments
        assert message in text.splitlines()[-1], arguments


def test_the_tables_of_the_app_come_first(tmp_path):
    """What the edits must be, such as room in columns of texts, is not known before."""
    project = Project(tmp_path / "project")
    project.create(MODELS, SETTINGS.replace('"django_sortable_ids", ', ""), rows=ROWS)
    (project.folder / "settings.py").write_text(SETTINGS)
    done = move(project, "depot")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "BackfillError: the database 'default' has no table django_sortable_ids_movenote that its "
        "user may see: "
        "run `manage.py migrate django_sortable_ids --database=default`"
    )
    project.manage("migrate", "django_sortable_ids")
    edited(project)
    assert move(project, "depot").returncode == 0
    done = project.run("check", "--database", "default")
    assert "(sortable_ids.E009)" in done.stderr
    command = "manage.py backfill_ids --primary-key"
    following = f"If you are moving it, continue with `{command} --write-migration`."
    assert f"then move it by `{command}`. {following}" in done.stderr
