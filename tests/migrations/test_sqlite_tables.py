"""Tables of SQLite that Django has not made: only the column changes, all else stays."""

import sqlite3

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction

from tests.marks import own_tables
from tests.sqlite_journal import set_journal_mode
from tests.support import query

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's definitions of tables"),
]

# Definitions as people and other tools leave them; "{}" is where NOT NULL comes to stand.
TABLES = {
    "plain": ("CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, public BLOB{})"),
    "as Django writes it": (
        'CREATE TABLE "depot_order" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, '
        '"name" varchar(9) NOT NULL, "public" blob{})'
    ),
    "the column first": ("CREATE TABLE depot_order (public BLOB{}, id INTEGER PRIMARY KEY, name)"),
    "in small letters": ("create table depot_order (id integer primary key, name, public blob{})"),
    "another case": ("CREATE TABLE Depot_Order (ID INTEGER PRIMARY KEY, Name, PUBLIC blob{})"),
    "brackets": (
        "CREATE TABLE [depot_order] ([id] INTEGER PRIMARY KEY, [name] [my type], [public] BLOB{})"
    ),
    "backticks": (
        "CREATE TABLE `depot_order` (`id` INTEGER PRIMARY KEY, `name` TEXT, `public` BLOB{})"
    ),
    "strings as names": (
        "CREATE TABLE 'depot_order' ('id' INTEGER PRIMARY KEY, 'name' TEXT, 'public' BLOB{})"
    ),
    "no type": ("CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, public{})"),
    "comments": (
        "CREATE TABLE depot_order -- of all shops, (old)\n(\n"
        "  id INTEGER PRIMARY KEY, -- never public, NOT NULL\n"
        "  /* public TEXT, */ name TEXT /* ) */,\n"
        '  public BLOB{} -- see wiki, it\'s "new"\n)'
    ),
    "parentheses and commas in other columns": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, price DECIMAL(10, 2) DEFAULT (1 + (2)) "
        "CHECK (price IN (1, 2, 3) AND price NOT NULL), name TEXT DEFAULT 'a,b(''c)', "
        "public BLOB{})"
    ),
    "a default that is NULL": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, public BLOB DEFAULT NULL{})"
    ),
    "NULL in the middle": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, "
        "public BLOB{} COLLATE BINARY CHECK (length(public) = 16 OR public IS NULL))"
    ),
    "a named constraint": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, "
        "public BLOB CONSTRAINT may_be_empty{} ON CONFLICT ABORT, other TEXT NOT NULL DEFAULT 'x')"
    ),
    "a foreign key that sets NULL": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, "
        "line INTEGER REFERENCES depot_other (id) ON DELETE SET NULL, "
        "public BLOB REFERENCES depot_other (public) ON DELETE SET NULL DEFERRABLE{})"
    ),
    "constraints of the table": (
        "CREATE TABLE depot_order (id INTEGER NOT NULL, name TEXT, public BLOB{}, "
        "CONSTRAINT pk PRIMARY KEY (id), UNIQUE (name, public) CHECK (id > 0), "
        "CONSTRAINT public CHECK (public IS NULL OR length(public) = 16))"
    ),
    "AUTOINCREMENT": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, public BLOB{})"
    ),
    "STRICT": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name TEXT, public BLOB{}) STRICT"
    ),
    "WITHOUT ROWID": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name TEXT, public BLOB{}) WITHOUT ROWID"
    ),
    "generated columns": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, "
        "upper TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL, public BLOB{}, "
        "n INT AS (length(name)) STORED)"
    ),
    "other letters": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, prénom TEXT DEFAULT '100 %s', name, "
        '"größe" REAL, public BLOB{}, \u00a0 TEXT)'
    ),
}
NULL = ["as Django writes it", "NULL in the middle", "a named constraint"]
"""Those that have NULL there before."""

# What else there is, in a database that others use too.
AROUND = """
CREATE TABLE depot_log (what TEXT);
CREATE TABLE depot_other (id INTEGER PRIMARY KEY, public BLOB UNIQUE,
    parent INTEGER REFERENCES depot_order (id) ON DELETE CASCADE);
CREATE INDEX by_name_nocase ON depot_order (name COLLATE NOCASE DESC) WHERE id > 0;
CREATE INDEX by_expression ON depot_order (lower(name), public);
CREATE UNIQUE INDEX by_part ON depot_order (public) WHERE name > 'b';
CREATE INDEX [by "public"] ON depot_order (public);
CREATE VIEW depot_view AS SELECT *, 'x' AS x FROM depot_order WHERE public IS NOT NULL;
CREATE TRIGGER on_insert AFTER INSERT ON depot_order BEGIN
    INSERT INTO depot_log VALUES ('insert ' || new.name || ifnull(hex(new.public), ''));
END;
CREATE TRIGGER on_view INSTEAD OF INSERT ON depot_view BEGIN
    INSERT INTO depot_order (name, public) VALUES (new.name, new.public);
END;
CREATE TRIGGER on_log AFTER DELETE ON depot_log BEGIN
    UPDATE depot_order SET name = name WHERE public IS NULL;
END;
"""
STATE = """\
SeparateDatabaseAndState(state_operations=[
    CreateModel("Order", [
        ("id", BigAutoField(primary_key=True)),
        ("name", CharField(max_length=9)),
        ("public", ULIDField(null=True)),
    ]),
]),
"""
CONSTRAIN = 'ConstrainSortableID("order", "public", ULIDField(unique=True)),'
ADD = 'AddSortableID("order", "code", ULIDField(unique=True)),'
PLAIN = TABLES["plain"].format("")
LOG = "CREATE TABLE depot_log (what)"
IDS = [bytes([1, *[0] * 14, n]) for n in range(5)]


def make(depot, definition, around=AROUND):
    """The table and what is around it, with five rows, and the model of it in the migrations."""
    with connection.cursor() as cursor:
        cursor.execute(definition)
        cursor.connection.executescript(around)
        for n, (name, public) in enumerate(zip("abcde", IDS, strict=True)):
            if "depot_other" in around:
                cursor.execute("INSERT INTO depot_other (id, public) VALUES (%s, %s)", [n, public])
            cursor.execute(
                "INSERT INTO depot_order (id, name, public) VALUES (%s, %s, %s)",
                [n * n + 7, name, public],
            )
        if "AUTOINCREMENT" in definition:
            cursor.execute("UPDATE sqlite_sequence SET seq = 4711 WHERE name = 'depot_order'")
    depot.write(STATE)
    depot.migrate()


def kept():
    """Everything that the database says of itself, and its rows."""
    schema = query(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name LIKE 'depot%'"
    )
    table = {name.lower(): sql for kind, name, _, sql in schema if kind == "table"}
    others = {name: sql for kind, name, _, sql in schema if kind != "table"}
    rows = [query(f"SELECT * FROM {name} ORDER BY 1") for name in ("depot_order", "depot_log")]
    counters = query("SELECT * FROM sqlite_sequence WHERE name LIKE 'depot%'")
    settings = [query(f"PRAGMA {name}") for name in ("foreign_keys", "writable_schema")]
    assert query("PRAGMA integrity_check") == [("ok",)]
    assert query("PRAGMA foreign_key_check('depot_order')") == []
    return table.pop("depot_order"), table, others, rows, counters, settings


@pytest.mark.parametrize("name", TABLES)
def test_only_the_column_changes_and_the_way_back_brings_all_back(depot, name):
    definition, before = TABLES[name], " NULL" if name in NULL else ""
    make(depot, definition.format(before))
    table, *others = kept()
    assert table == stored(definition, before)
    depot.write(CONSTRAIN, atomic=False)
    depot.migrate()
    changed, *now = kept()
    assert changed == stored(definition, " NOT NULL")
    (index,) = {*now[1]} - {*others[1]}
    assert now[1].pop(index) == f'CREATE UNIQUE INDEX "{index}" ON "depot_order" ("public")'
    assert now == others
    with transaction.atomic():
        only_new_ids_are_taken()
        transaction.set_rollback(True)
    depot.migrate(depot.names[0])
    again, *now = kept()
    assert again == stored(definition, before or " NULL")
    assert now == others
    query("INSERT INTO depot_order (id, name) VALUES (99, 'f'), (100, 'g')")


def only_new_ids_are_taken():
    query("INSERT INTO depot_other (public) VALUES (%s)", b"x" * 16)
    for wrong in (None, IDS[0]):
        with pytest.raises(IntegrityError), transaction.atomic():
            query("INSERT INTO depot_order (id, name, public) VALUES (99, 'f', %s)", wrong)
    query("INSERT INTO depot_order (id, name, public) VALUES (99, 'f', %s)", b"x" * 16)
    assert query("SELECT what FROM depot_log WHERE what LIKE 'insert f%'") != []


def stored(definition, how):
    """As SQLite keeps the text of a definition."""
    return "CREATE TABLE" + definition.format(how)[len("CREATE TABLE") :]


# Those that differ in the name of the table or in what stands after the columns.
ENDS = ["another case", "strings as names", "comments", "constraints of the table", "STRICT"]


@pytest.mark.parametrize("name", ENDS)
def test_a_column_is_added_and_dropped_without_a_copy(depot, name):
    make(depot, TABLES[name].format(""))
    query("DELETE FROM depot_order")
    table, *others = kept()
    depot.write(ADD, atomic=False)
    depot.migrate()
    changed, *_ = kept()
    assert changed.count(', "code" blob NOT NULL') == 1
    assert changed.replace(', "code" blob NOT NULL', "") == table
    with pytest.raises(IntegrityError):
        query("INSERT INTO depot_order (id, name) VALUES (99, 'f')")
    depot.migrate(depot.names[0])
    assert kept() == (table, *others)


REFUSED = {
    "a UNIQUE of the table that is to go": (
        "CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, public BLOB, UNIQUE (public))",
        'AlterField("order", "public", ULIDField(null=True, unique=True)),',
        'ConstrainSortableID("order", "public", ULIDField(null=True)),',
        r"^depot\.Order\.public: its UNIQUE is in the definition of the table",
    ),
    "a view under the name of the table": (
        "CREATE TABLE depot_base (id INTEGER PRIMARY KEY, name, public BLOB); "
        "CREATE VIEW depot_order AS SELECT * FROM depot_base",
        None,
        'ConstrainSortableID("order", "public", ULIDField()),',
        r"^depot\.Order\.public: depot_order is a view: constrain the column of the table",
    ),
}


@pytest.mark.parametrize(("definition", "state", "step", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_needs_a_copy_is_refused_and_nothing_is_written(
    depot, definition, state, step, reason
):
    with connection.cursor() as cursor:
        cursor.connection.executescript(definition)
    depot.write(STATE)
    if state:
        depot.write(f"SeparateDatabaseAndState(state_operations=[{state}]),")
    depot.migrate()
    before = query("SELECT * FROM sqlite_master")
    depot.write(step, atomic=False)
    try:
        with pytest.raises(CommandError, match=reason):
            depot.migrate()
        assert query("SELECT * FROM sqlite_master") == before
    finally:
        kind = "VIEW" if "VIEW" in definition else "TABLE"
        query(f"DROP {kind} depot_order")


def test_a_column_that_a_trigger_uses_stays_with_the_reason(depot):
    make(depot, PLAIN)
    query("DELETE FROM depot_order")
    depot.write(ADD, atomic=False)
    depot.migrate()
    query(
        "CREATE TRIGGER keep_code BEFORE UPDATE OF code ON depot_order "
        "BEGIN SELECT RAISE(ABORT, 'ids stay') WHERE new.code <> old.code; END"
    )
    before = kept()
    with pytest.raises(CommandError, match=r"can't drop the column: .*keep_code.* column first$"):
        depot.migrate(depot.names[0])
    assert kept() == before
    query("DROP TRIGGER keep_code")
    depot.migrate(depot.names[0])


FOUND = {
    "of an index": "public BLOB",
    "with a way out of conflicts": "public BLOB UNIQUE ON CONFLICT IGNORE",
    "with a name": "public BLOB CONSTRAINT uq UNIQUE",
    "alone": "public BLOB UNIQUE",
    "of the table": "public BLOB, UNIQUE (public)",
}


@pytest.mark.parametrize("columns", FOUND.values(), ids=FOUND)
def test_a_unique_that_was_there_stays_on_the_way_back(depot, columns):
    make(depot, f"CREATE TABLE depot_order (id INTEGER PRIMARY KEY, name, {columns})")
    if "UNIQUE" not in columns:
        query('CREATE UNIQUE INDEX "my ""own"" index" ON depot_order (public)')
    table, *others = kept()
    depot.write(CONSTRAIN, atomic=False)
    depot.migrate()
    assert "NOT NULL" in kept()[0]
    assert kept()[2:] == tuple(others[1:])
    depot.migrate(depot.names[0])
    again, *now = kept()
    assert again.replace(" NULL", "") == table
    assert now == others


@pytest.mark.parametrize(("column", "step"), [("public", CONSTRAIN), ("code", ADD)])
def test_what_a_copy_of_django_made_unique_is_undone_by_another_copy(depot, column, step):
    make(depot, PLAIN, LOG)
    query("DELETE FROM depot_order")
    depot.write(step, atomic=False)
    depot.write('AlterField("order", "name", CharField(max_length=20)),')
    depot.migrate()
    assert f'"{column}" blob NOT NULL UNIQUE' in kept()[0]
    depot.migrate(depot.names[1])
    depot.migrate(depot.names[0])
    assert [each in kept()[0] for each in ("UNIQUE", '"code"', '"public" blob NULL')] == [
        *(False, False, True)
    ]


@pytest.mark.parametrize("step", [CONSTRAIN, ADD], ids=["constrain", "add"])
def test_a_row_of_any_table_that_refers_to_none_is_named_before(depot, settings, step):
    lines = "CREATE TABLE depot_log (what); CREATE TABLE depot_kid (id INTEGER PRIMARY KEY);"
    lines += "CREATE TABLE depot_line (id INTEGER PRIMARY KEY, kid INTEGER REFERENCES depot_kid);"
    make(depot, PLAIN, lines)
    query("PRAGMA foreign_keys = OFF")
    query("INSERT INTO depot_line VALUES (7, 4711)")
    query("PRAGMA foreign_keys = ON")
    before = kept()
    depot.write(step, atomic=False)
    with pytest.raises(
        CommandError,
        match=r"^Nothing was migrated: 1 row of depot_line\.kid without a row of depot_kid\. .*"
        r"`PRAGMA foreign_key_check` lists, and migrate again$",
    ):
        depot.migrate()
    assert kept() == before
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    with pytest.raises(IntegrityError):  # Django's, at the end, which leaves foreign_keys off
        depot.migrate()
    query("PRAGMA foreign_keys = ON")
    assert kept() == before
    query("DELETE FROM depot_line")
    if step == CONSTRAIN:
        depot.migrate()


@pytest.mark.parametrize(
    ("column", "step"), [("public", CONSTRAIN), ("code", ADD)], ids=["constrain", "add"]
)
def test_a_column_to_which_a_foreign_key_refers_stays_unique_and_there(depot, column, step):
    make(depot, PLAIN, LOG)
    if step == ADD:
        query("DELETE FROM depot_order")
    depot.write(step, atomic=False)
    depot.migrate()
    name = f"Depot_Order ({column.upper()})"
    query(f"CREATE TABLE depot_kid (id INTEGER PRIMARY KEY, x BLOB REFERENCES {name})")
    before = kept()
    with pytest.raises(
        CommandError, match=rf"{column}: depot_kid\.x refers to it by a foreign key"
    ):
        depot.migrate(depot.names[0])
    assert kept() == before
    query("DROP TABLE depot_kid")
    depot.migrate(depot.names[0])


@pytest.mark.parametrize("shared", ["wal", "delete"])
def test_another_connection_reads_the_new_definition(depot, shared):
    make(depot, TABLES["AUTOINCREMENT"].format(""))
    set_journal_mode(shared)
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0)
    try:
        insert = "INSERT INTO depot_order (name, public) VALUES ('z', ?)"
        other.execute(insert, [None])
        other.execute("DELETE FROM depot_order WHERE name = 'z'")
        other.commit()
        depot.write(CONSTRAIN, atomic=False)
        depot.migrate()
        for wrong in (None, IDS[0]):
            with pytest.raises(sqlite3.IntegrityError):
                other.execute(insert, [wrong])
            other.rollback()
        depot.migrate(depot.names[0])
        other.execute(insert, [None])
    finally:
        other.close()
        set_journal_mode("wal")


def test_later_ordinary_migrations_find_what_they_need(depot):
    depot.write(
        'CreateModel("Order", [("id", BigAutoField(primary_key=True)), '
        '("name", CharField(max_length=9)), ("public", ULIDField(null=True, db_index=True))]),'
    )
    depot.write(CONSTRAIN, atomic=False)
    depot.write('AddIndex("order", Index("name", name="by_name")),')
    depot.write('AddField("order", "size", IntegerField(default=3)),')
    depot.write('AlterField("order", "name", CharField(max_length=20, unique=True)),')
    depot.write('RenameField("order", "public", "code"),')
    depot.write('RenameModel("Order", "Sale"),')
    depot.write('AddField("sale", "public", ULIDField(null=True)),')
    depot.write('ConstrainSortableID("sale", "public", ULIDField(unique=True)),', atomic=False)
    depot.write('AlterField("sale", "code", ULIDField(null=True)),')
    depot.write('RemoveField("sale", "public"),')
    depot.migrate()
    columns = {each[1]: each[3] for each in query("PRAGMA table_xinfo('depot_sale')")}
    assert columns == {"id": 1, "name": 1, "code": 0, "size": 1}
    depot.migrate("0001")
    assert query("PRAGMA integrity_check") == [("ok",)]
    depot.migrate()
