"""Customers with orders and with history tables, and a move of their keys."""

from datetime import UTC, datetime

from django.contrib.contenttypes.models import ContentType

MODELS = """\
CreateModel("Customer", [
    ("id", {key}),
    ("created_at", DateTimeField()),
    ("name", CharField(max_length=9)),
], options={{"constraints": [CheckConstraint(condition=~Q(name=""), name="depot_named")]}}),
CreateModel("Order", [
    ("id", AutoField(primary_key=True)),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
]),
CreateModel("HistoricalCustomer", [
    ("id", {copy}),
    ("name", CharField(max_length=9)),
    ("history_id", AutoField(primary_key=True)),
    ("history_date", DateTimeField()),
], options={{"ordering": ["-history_date"]}}),
CreateModel("HistoricalOrder", [
    ("id", BigIntegerField(db_index=True)),
    ("customer", ForeignKey(
        "depot.Customer", DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )),
    ("history_id", AutoField(primary_key=True)),
    ("history_date", DateTimeField(db_index=True)),
]),
CreateModel("HistoricalOrder_gifts", [
    ("id", IntegerField()),
    ("customer", ForeignKey(
        "depot.Customer", DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )),
    ("history", ForeignKey("depot.HistoricalOrder", DO_NOTHING, db_constraint=False)),
    ("m2m_history_id", AutoField(primary_key=True)),
]),
CreateModel("Tagged", [
    ("object_id", CharField(max_length=40)),
    ("kind_id", IntegerField()),
    ("customer", ForeignKey("depot.Customer", SET_NULL, null=True)),
]),
CreateModel("Visit", [
    ("number", {number}),
    ("text", CharField(max_length=40)),
]),
"""
MOVE = """\
MigratePrimaryKey(
    keys=[MovedKey("depot.Customer", "id", {field}, {source}{old})],
    references=[
        ("depot_order", "customer_id", "depot.Customer"),
        ("depot_historicalcustomer", "id", "depot.Customer"),
        ("depot_historicalorder", "customer_id", "depot.Customer"),
        ("depot_historicalorder_gifts", "customer_id", "depot.Customer"),
        ("depot_tagged", "customer_id", "depot.Customer"),
    ],
    generic=[("depot_tagged", "object_id", "kind_id")],
    copies=[
        KeyCopy("depot.HistoricalCustomer", "id", "depot.Customer", {copy}{copied_old}),
        KeyCopy("depot.Visit", "number", "depot.Customer", {copy}),
    ],
    adopted=[("depot_visit", "number", "depot.Customer")],
    texts=[("depot_visit", "text", "depot.Customer")],
    histories=[
        ("depot.HistoricalCustomer", "history_date"),
        ("depot.HistoricalOrder", "history_date"),
        ("depot.HistoricalOrder_gifts", "history__history_date"),
    ],
),
"""
COLUMNS = [
    ("Customer", "id"),
    ("Order", "customer_id"),
    ("HistoricalCustomer", "id"),
    ("HistoricalOrder", "customer_id"),
    ("HistoricalOrder_gifts", "customer_id"),
    ("Tagged", "object_id"),
    ("Visit", "number"),
    ("Visit", "text"),
]
"""Which contain keys of customers."""
DELETED = "sortable_ids_deleted__depot_customer"
AT = datetime(2024, 5, 1, tzinfo=UTC)


def day(number):
    return AT.replace(day=number)


class Shop:
    """The tables of the app, filled without the package."""

    def __init__(self, depot):
        self.depot = depot
        self.kind = ContentType.objects.create(app_label="depot", model="customer").pk

    def create(
        self,
        key="BigAutoField(primary_key=True)",
        copy="BigIntegerField(db_index=True)",
        number=None,
    ):
        self.depot.write(MODELS.format(key=key, copy=copy, number=number or copy))
        self.depot.migrate()

    def write_move(
        self,
        field="UUIDv7Field",
        source='created_from="created_at"',
        old="BigIntegerField({})",
    ):
        unique, copied = (
            old and f", old={old.format(f'null=True, {each}=True')}"
            for each in ("unique", "db_index")
        )
        self.depot.write(
            MOVE.format(
                field=f"{field}(primary_key=True)",
                source=source,
                copy=f"{field}(db_index=True)",
                old=unique,
                copied_old=copied,
            ),
            atomic=False,
        )

    def objects(self, name):
        return self.depot.model(name).objects

    def add(self, name, on, **key):
        """A customer with an order, and their history."""
        one = self.objects("Customer").create(name=name, created_at=day(on), **key)
        order = self.objects("Order").create(customer_id=one.pk)
        self.remember(one, on, order.pk)
        self.objects("Tagged").create(object_id=str(one.pk), kind_id=self.kind, customer_id=one.pk)
        self.objects("Visit").create(number=one.pk, text=str(one.pk))
        return one

    def remember(self, one, on, order):
        old = {"old_id": one.old_id} if hasattr(one, "old_id") else {}
        at = {"history_date": day(on)}
        self.objects("HistoricalCustomer").create(id=one.pk, name=one.name, **at, **old)
        past = self.objects("HistoricalOrder").create(id=order, customer_id=one.pk, **at)
        self.objects("HistoricalOrder_gifts").create(
            id=order, customer_id=one.pk, history_id=past.pk
        )

    def delete(self, name, on):
        one = self.objects("Customer").get(name=name)
        order = self.objects("Order").get(customer_id=one.pk)
        self.remember(one, on, order.pk)
        order.delete()
        one.delete()

    def keys(self):
        """Each key, by table and row."""
        return {
            (name if column != "text" else "Visit's text", row): str(key)
            for name, column in COLUMNS
            for row, key in self.objects(name).values_list(
                "name" if name == "Customer" else "pk", column
            )
        }

    def key(self, name):
        """The only key of a customer in the history."""
        [key] = {*self.objects("HistoricalCustomer").filter(name=name).values_list("id", flat=True)}
        return key


def is_one_to_one(before, after):
    """Whether each key became one other, everywhere."""
    assert before.keys() == after.keys()
    pairs = {(before[each], after[each]) for each in before}
    return len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
