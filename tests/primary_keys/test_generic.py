"""Generic references, whose rows name a model by its content type."""

from django.contrib.contenttypes.models import ContentType

from tests.marks import own_tables

from . import small

pytestmark = own_tables

MORE = """\
CreateModel("Vip", [
    ("customer_ptr", OneToOneField("depot.Customer", CASCADE, parent_link=True, primary_key=True)),
], bases=("depot.customer",)),
CreateModel("Gold", [
    ("vip_ptr", OneToOneField("depot.Vip", CASCADE, parent_link=True, primary_key=True)),
], bases=("depot.vip",)),
CreateModel("Profile", [
    ("customer", OneToOneField("depot.Customer", CASCADE, primary_key=True)),
]),
CreateModel("Regular", [], options={"proxy": True}, bases=("depot.customer",)),
CreateModel("Tagged", [
    ("id", BigAutoField(primary_key=True)),
    ("object_id", CharField(max_length=40)),
    ("kind_id", IntegerField()),
]),
"""
CHILDREN = ["depot_vip.customer_ptr_id", "depot_gold.vip_ptr_id", "depot_profile.customer_id"]


NAMES = ["customer", "vip", "gold", "profile", "regular", "order"]


def texts_of(depot):
    """The references, by the name of their model."""
    kinds = dict(ContentType.objects.filter(app_label="depot").values_list("pk", "model"))
    rows = depot.model("Tagged").objects.order_by("pk").values_list("kind_id", "object_id")
    return [(kinds[kind], text) for kind, text in rows]


def test_references_to_what_has_the_key_of_another(depot):
    """Only those to rows of ``order``, whose key stays, remain as they are."""
    kinds = [ContentType.objects.create(app_label="depot", model=name) for name in NAMES]
    small.create(depot, more=MORE)
    tagged = depot.model("Tagged").objects
    for pk in depot.model("Customer").objects.values_list("pk", flat=True):
        for kind in kinds:
            tagged.create(object_id=str(pk), kind_id=kind.pk)
    before = texts_of(depot)
    small.write_move(
        depot,
        references=[
            small.REFERENCE,
            *((*each.split("."), "depot.Customer") for each in CHILDREN),
        ],
        generic=[("depot_tagged", "object_id", "kind_id")],
    )
    depot.migrate()
    known = {str(each.old_id): str(each.pk) for each in depot.model("Customer").objects.all()}
    assert texts_of(depot) == [
        (name, text if name == "order" else known[text]) for name, text in before
    ]
    depot.migrate("0001_step")
    assert texts_of(depot) == before
    for kind in kinds:
        kind.delete()
