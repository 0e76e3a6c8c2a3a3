"""Customers and their orders: the smallest graph, with a column that only the database has."""

MODELS = """\
CreateModel("Customer", [
    ("id", {key}),
    ("name", CharField(max_length=9)),
    ("created_at", DateTimeField()),
]),
CreateModel("Order", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
]),
"""
ROWS = """
from datetime import UTC, datetime, timedelta

def add_rows(apps, schema_editor):
    Customer, Order = (apps.get_model("depot", name) for name in ("Customer", "Order"))
    for n, name in enumerate("edcba"):
        at = datetime(2024, 1, 9 - n // 2, tzinfo=UTC)
        customer = Customer.objects.create(name=name, created_at=at)
        Order.objects.create(name=name, customer=customer)
"""
IN_ORDER = ["a", "c", "b", "e", "d"]
IN_ORDER_OF_KEYS = ["e", "d", "c", "b", "a"]
"""The names by time, and then by old key."""
OLD = "BigIntegerField(null=True, unique=True, editable=False)"
MOVE = """\
MigratePrimaryKey(
    keys=[MovedKey("depot.Customer", "id", {field}, {options})],
    references={references},
    generic={generic},
),
"""
REFERENCE = ("depot_order", "customer_id", "depot.Customer")


def create(depot, key="BigAutoField(primary_key=True)", more="", before="", after=""):
    operations = MODELS.format(key=key) + more
    depot.write(f"{operations}RunPython(add_rows, RunPython.noop),", before + ROWS + after)
    depot.migrate()


def write_move(
    depot,
    field="UUIDv7Field(primary_key=True)",
    options=f'created_from="created_at", old={OLD}',
    references=(REFERENCE,),
    generic=(),
    more="",
):
    move = MOVE.format(
        field=field, options=options, references=list(references), generic=list(generic)
    )
    return depot.write(move.replace("\n),\n", f"\n    {more}\n),\n"), atomic=False)


def names(depot):
    """The names of customers in the order of their keys, which are those of their orders, too."""
    customers = {each.pk: each.name for each in depot.model("Customer").objects.all()}
    for order in depot.model("Order").objects.all():
        assert customers[order.customer_id] == order.name
    return [customers[key] for key in sorted(customers)]
