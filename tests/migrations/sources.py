"""Python source of migrations, which several modules use."""

FIELDS = {
    "UUIDv7Field": "",
    "ULIDField": 'prefix="ord"',
    "KUUIDField": 'precision="ms", reverse=True, short=True',
    "SnowflakeField": "",
    "LexicalSequenceField": 'charset="numeric", start="0000", width=4',
}
"""A field of each kind, and arguments for it."""

CREATE = """\
CreateModel("Order", [("id", BigAutoField(primary_key=True)), ("name", CharField(max_length=9))]),
CreateModel("Line", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("order", ForeignKey("depot.Order", CASCADE)),
]),
"""
"""An app of two tables, still empty."""

FIVE_ROWS = """\
def add_rows(apps, schema_editor):
    Order, Line = apps.get_model("depot", "Order"), apps.get_model("depot", "Line")
    for name in "abcde":
        Line.objects.create(name=name, order=Order.objects.create(name=name))
"""
CREATE_WITH_ROWS = f"{CREATE}RunPython(add_rows, RunPython.noop),"


def field(name, arguments=""):
    """The source of a field."""
    return f"{name}({', '.join(filter(None, [FIELDS[name], arguments]))})"


def fill(names):
    """The source of a function that gives an id to the rows with these names."""
    return f"""
def fill(apps, schema_editor):
    Order = apps.get_model("depot", "Order")
    field = Order._meta.get_field("public")
    for order in Order.objects.filter(name__in={list(names)!r}):
        order.public = field.generate_for(order)
        order.save()
"""


ROWS = """
def add_rows(apps, schema_editor):
    Order = apps.get_model("depot", "Order")
    for name in "abcde":
        Order.objects.create(name=name)
"""


def create_orders(depot, rows="", before="", options="", **fields):
    """A table of orders with a key, a name and these fields, and with rows."""
    fields = {"id": "BigAutoField(primary_key=True)", "name": "CharField(max_length=9)", **fields}
    columns = ", ".join(f'("{name}", {field})' for name, field in fields.items())
    fill = "RunPython(add_rows, RunPython.noop)," if rows else ""
    depot.write(f'CreateModel("Order", [{columns}], options={{{options}}}), {fill}', before + rows)
    depot.migrate()
