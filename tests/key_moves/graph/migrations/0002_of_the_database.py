from django.db import migrations

COMMON = (
    "CREATE TABLE graph_audit (name varchar(30))",
    "CREATE VIEW graph_shown AS SELECT c.name, o.mark FROM graph_customer c "
    "JOIN graph_order o ON o.customer_id = c.id",
    "CREATE TABLE graph_ledger (id integer NOT NULL PRIMARY KEY, mark integer NOT NULL UNIQUE, "
    "customer_id bigint NOT NULL, FOREIGN KEY (customer_id) REFERENCES graph_customer (id){late})",
)
TRIGGERS = {
    "sqlite": (
        "CREATE TRIGGER graph_gone AFTER DELETE ON graph_customer "
        "BEGIN INSERT INTO graph_audit VALUES (old.name); END",
    ),
    # Refused there: its tables are replaced.
    "mysql": (),
    "postgresql": (
        "CREATE FUNCTION graph_gone() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO graph_audit VALUES (OLD.name); RETURN NULL; END'",
        "CREATE TRIGGER graph_gone AFTER DELETE ON graph_customer "
        "FOR EACH ROW EXECUTE FUNCTION graph_gone()",
    ),
}
# The foreign keys of Django can be violated until a transaction ends, where a database can do that.
LATE = {"mysql": ""}


def create(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    for sql in (*COMMON, *TRIGGERS[vendor]):
        late = LATE.get(vendor, " DEFERRABLE INITIALLY DEFERRED")
        schema_editor.execute(sql.replace("{late}", late), None)


class Migration(migrations.Migration):
    """What no model has: a trigger, a view and tables."""

    atomic = False
    dependencies = [("graph", "0001_before")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
