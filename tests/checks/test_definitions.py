"""What the checks say of models, and that they say nothing of right ones."""

import django
import pytest
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.core import checks
from django.core.checks.registry import registry
from django.core.management import call_command
from django.db import connection, models

from django_sortable_ids.checks.definitions import (
    check_definitions,
    check_workers,
)
from django_sortable_ids.fields import (
    HexULIDField,
    SnowflakeField,
    Time64Field,
    ULIDField,
    UUIDv7Field,
)
from django_sortable_ids.functions import GenerateID
from tests.testapp.models import UUIDv7Key


def define(name="Shop", bases=(models.Model,), **attributes):
    """A model of the test app."""
    meta = type("Meta", (), {"app_label": "testapp", **attributes.pop("meta", {})})
    return type(name, bases, {"__module__": __name__, "Meta": meta, **attributes})


def found(check=check_definitions, **arguments):
    return sorted((message.id, str(message.obj)) for message in check(**arguments))


def test_a_prefix_of_two_models(isolated):
    define("Order", id=UUIDv7Field(primary_key=True, prefix="ord"))
    define("Invoice", number=ULIDField(unique=True, prefix="ord"))
    define("Other", id=UUIDv7Field(primary_key=True, prefix="ord", separator=":"))
    define("Bare", id=UUIDv7Field(primary_key=True), number=ULIDField(unique=True))
    assert found() == [
        ("sortable_ids.E001", "testapp.Invoice.number"),
        ("sortable_ids.E001", "testapp.Order.id"),
    ]
    message = check_definitions()[0]
    assert message.level == checks.ERROR
    assert message.msg == (
        "The prefix 'ord_' is also used by testapp.Invoice.number: an id with it does not "
        "identify its model."
    )


def test_a_prefix_that_another_model_had(isolated):
    define("Order", id=UUIDv7Field(primary_key=True, prefix="ord", previous_prefixes=["sale", ""]))
    define("Sale", id=ULIDField(primary_key=True, prefix="sale", previous_prefixes=["order", ""]))
    assert found() == [
        ("sortable_ids.E001", "testapp.Order.id"),
        ("sortable_ids.E001", "testapp.Sale.id"),
    ]
    assert all("The prefix 'sale_' is also" in message.msg for message in check_definitions())


def test_a_prefix_of_one_column_is_right(isolated):
    order = define("Order", id=UUIDv7Field(primary_key=True, prefix="ord"))
    define("Special", (order,))
    define("Proxy", (order,), meta={"proxy": True})
    define(
        "Mirror",
        id=UUIDv7Field(primary_key=True, prefix="ord"),
        meta={"managed": False, "db_table": order._meta.db_table},
    )
    assert found() == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"WORKER": "1"}, "SORTABLE_IDS['WORKER'] is '1'"),
        ({"worker": 1}, "SORTABLE_IDS has no key 'worker'"),
        (
            {"WORKER": 1024},
            "SORTABLE_IDS['WORKER'] or SORTABLE_IDS_WORKER doesn't fit testapp.Shop.id: worker "
            "number 1024: expected 0 to 1023",
        ),
        (
            {"WORKER": 0, "MASK_KEYS": ["zz"]},
            "SORTABLE_IDS['MASK_KEYS'] is invalid; expected texts",
        ),
        (7, "SORTABLE_IDS is of type int; expected a dict"),
    ],
)
def test_wrong_settings(isolated, settings, value, reason):
    define(id=SnowflakeField(primary_key=True))
    settings.SORTABLE_IDS = value
    (message,) = check_definitions()
    assert message.id == "sortable_ids.E003"
    assert message.msg.startswith(f"The configuration is invalid: {reason}")
    assert check_workers() == []


def test_an_id_that_is_not_unique(isolated):
    define(code=ULIDField(), other=UUIDv7Field(null=True, db_index=True))
    assert found() == [
        ("sortable_ids.W001", "testapp.Shop.code"),
        ("sortable_ids.W001", "testapp.Shop.other"),
    ]
    filled_or_not = check_definitions()[1].hint  # models don't tell
    assert filled_or_not.startswith("`manage.py backfill_ids` says what is next: how to fill the")


def test_an_id_that_a_constraint_keeps_unique(isolated):
    define(
        "Constrained",
        tenant=models.IntegerField(),
        a=ULIDField(),
        b=ULIDField(),
        c=ULIDField(unique=True),
        meta={
            "constraints": [models.UniqueConstraint(fields=["a"], name="a")],
            "unique_together": [("tenant", "b")],
        },
    )
    define(
        "Composite",
        pk=models.CompositePrimaryKey("tenant", "id"),
        tenant=models.IntegerField(),
        id=ULIDField(),
    )
    assert found() == []


def test_a_constraint_on_some_rows_keeps_no_id_unique(isolated):
    some = models.UniqueConstraint(fields=["a"], condition=models.Q(a__isnull=False), name="a")
    define(a=ULIDField(), meta={"constraints": [some]})
    assert found() == [("sortable_ids.W001", "testapp.Shop.a")]


@pytest.mark.parametrize("version", [(5, 2), (6, 1)])
def test_a_key_that_bulk_create_does_not_return(isolated, monkeypatch, version):
    monkeypatch.setattr(django, "VERSION", version)
    define("Made", id=HexULIDField(db_default=GenerateID(), primary_key=True))
    define("MadeBeside", public=HexULIDField(db_default=GenerateID(), unique=True))
    expected = [("sortable_ids.W002", "testapp.Made.id")]
    assert found() == (expected if version < (6, 1) else [])


def test_no_worker_number(isolated, settings):
    define("Order", id=SnowflakeField(primary_key=True))
    define("Event", id=Time64Field(primary_key=True, workers=100))
    define("Random", id=Time64Field(primary_key=True), number=ULIDField(unique=True))
    define("Alone", id=SnowflakeField(primary_key=True, worker_bits=0))
    define("Database", id=SnowflakeField(primary_key=True, db_default=GenerateID()))
    assert found(check_workers) == [
        ("sortable_ids.W003", "testapp.Event.id"),
        ("sortable_ids.W003", "testapp.Order.id"),
    ]
    message = check_workers()[0]
    assert message.level == checks.WARNING
    assert "one of 1,024 numbers" in message.msg
    assert "from 0 to 1023" in message.hint
    settings.SORTABLE_IDS = {"WORKER": 0}
    assert check_workers() == []


# Generic relations

# The key, and the object_id of what points to it: whether a join compares them as equal. All others
# that fail are in test_generic_relations.py.
JOINS = {
    "uuid7 as uuid": (UUIDv7Field, {}, models.UUIDField(), True),
    "uuid7 as uuid7": (UUIDv7Field, {}, UUIDv7Field(), True),
    "char36 as text": (UUIDv7Field, {"storage": "char36"}, models.CharField(max_length=40), True),
    "ulid as text": (ULIDField, {}, models.CharField(max_length=40), False),
    "ulid as ulid": (ULIDField, {}, ULIDField(), True),
    "ulid char as text": (ULIDField, {"storage": "char"}, models.TextField(), True),
    "hexulid as text": (HexULIDField, {}, models.CharField(max_length=40), True),
    "snowflake as time64": (SnowflakeField, {}, Time64Field(), False),
    "time64 as snowflake": (Time64Field, {}, SnowflakeField(), False),
    "snowflake as bigint": (SnowflakeField, {}, models.BigIntegerField(), True),
}


def tagged(key, options, object_id):
    options = {"primary_key": True, **options}
    tag = define(
        "Tag",
        content_type=models.ForeignKey(ContentType, models.CASCADE, db_constraint=False),
        object_id=object_id.clone(),
        subject=GenericForeignKey(),
    )
    return define("Parcel", id=key(**options), tags=GenericRelation(tag)), tag


offline = pytest.mark.skipif(
    connection.vendor == "mysql", reason="MySQL and MariaDB differ, and the server is asked"
)


@offline
@pytest.mark.parametrize(("key", "options", "object_id", "joins"), JOINS.values(), ids=JOINS)
def test_a_generic_relation(isolated, key, options, object_id, joins):
    order, _ = tagged(key, options, object_id)
    define("Special", (order,))
    expected = [] if joins else [("sortable_ids.E002", str(order))]
    assert found() == expected


@offline
def test_what_to_do_about_a_generic_relation(isolated):
    tagged(*JOINS["ulid as text"][:3])
    (message,) = check_definitions()
    assert message.msg == (
        "testapp.Parcel.tags joins testapp.Parcel.id with testapp.Tag.object_id, a CharField that "
        "holds such ids in another form, or not all of them: the database finds no rows, finds "
        "rows of other ids, or refuses to compare the columns."
    )
    # Which also works with a column of a package.
    stored = "Store the key as text: give testapp.Parcel.id storage='char'. See E002"
    assert message.hint == f"{stored} in the documentation."


def test_apps_are_checked_one_by_one():
    """As ``check testapp`` asks for; all of them otherwise."""
    from django.apps import apps

    shop = [apps.get_app_config("shop")]
    assert {obj.split(".")[0] for _, obj in found(app_configs=shop)} == {"shop"}
    assert {"shop", "store"} < {obj.split(".")[0] for _, obj in found()}


def test_no_router_is_asked_about_models_without_a_generic_relation(settings):
    """One that has the database of a row, as with shards, may have none of a model."""
    settings.DATABASE_ROUTERS = [f"{__name__}.OfRows"]
    from django.apps import apps

    check_definitions([apps.get_app_config("shop")])


class OfRows:
    def db_for_write(self, model, instance=None, **hints):
        raise LookupError(f"a {model.__name__} of which shard?")


def test_a_field_without_the_app(settings):
    settings.INSTALLED_APPS = [
        each for each in settings.INSTALLED_APPS if each != "django_sortable_ids"
    ]
    (error,) = UUIDv7Key._meta.pk.check()
    assert (error.id, error.obj) == ("sortable_ids.E018", UUIDv7Key._meta.pk)


# Django 6.1 asks the database too.
@pytest.mark.django_db
def test_django_runs_them(settings, capsys):
    settings.SILENCED_SYSTEM_CHECKS = ["sortable_ids.E001"]
    call_command("check", tags=["models"])
    assert "shop.Plain.public_id: (sortable_ids.W001)" in capsys.readouterr().err
    workers = {each.__qualname__ for each in registry.deployment_checks}
    assert "checks.definitions:check_workers" in workers
    assert not workers & {each.__qualname__ for each in registry.get_checks()}
    call_command("check", deploy=True)
    assert "(sortable_ids.W003)" in capsys.readouterr().err
