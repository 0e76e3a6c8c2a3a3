"""Generic references, whose rows name a model by its content type."""

import pytest
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


@pytest.mark.parametrize("name", ["customer", "vip", "gold", "profile", "regular", "order"])
def test_references_to_what_has_the_key_of_another(depot, name):
    """Only those to rows of ``order``, whose key stays, remain as they are."""
    kind = ContentType.objects.create(app_label="depot", model=name)
    small.create(depot, more=MORE)
    tagged = depot.model("Tagged").objects
    for pk in depot.model("Customer").objects.values_list("pk", flat=True):
        tagged.create(object_id=str(pk), kind_id=kind.pk)
    before = list(tagged.order_by("pk").values_list("object_id", flat=True))
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
    wanted = before if name == "order" else [known[each] for each in before]
    tagged = depot.model("Tagged").objects.order_by("pk")
    assert list(tagged.values_list("object_id", flat=True)) == wanted
    depot.migrate("0001_step")
    tagged = depot.model("Tagged").objects.order_by("pk")
    assert list(tagged.values_list("object_id", flat=True)) == before
    kind.delete()
