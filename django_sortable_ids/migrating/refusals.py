"""What the guard of ``migrate`` says: what was found, what would come of it, what to do."""

ADD = (
    "the table has rows, and one id would be copied into all of them. Add the field with null=True "
    "(without primary_key), fill it with `manage.py backfill_ids`, and alter it to NOT NULL then."
)
ADD_ON_EACH_NODE = (
    "the table has rows, and each node of the Galera cluster would make other ids for them. Add "
    "the field with null=True and without db_default, fill it with `manage.py backfill_ids`, and "
    "alter it then."
)
ALTER_NULL = (
    "{missing} rows have no id yet, and one would be copied into all of them. Fill them first with "
    "`manage.py backfill_ids`."
)
CONSTRAIN_NULL = (
    "{missing} rows have no id yet, and the column is to be NOT NULL. Fill them first with "
    "`manage.py backfill_ids`, or keep null=True."
)
ALTER_ADDED = (
    "the column is added by the same plan, and this server, which is not in strict mode, would "
    "give one id to all rows that are still empty then. Migrate up to the step before, fill them "
    "with `manage.py backfill_ids`, and go on; or set a strict sql_mode."
)
ALTER_NUMBERS = (
    "the table has rows, and their numbers would be taken for ids: {misfit} Add a new field with "
    "null=True and fill it with `manage.py backfill_ids`."
)
_LOOKED = "{looked} values were looked at, from both ends and the middle of the table."
ALTER_VALUES = (
    "the table has rows, and their values would be taken for ids: {misfit} Declare what they are "
    "(UUIDs of other versions by accept_other_versions=True), or add a new field with null=True "
    f"and fill it with `manage.py backfill_ids`. {_LOOKED}"
)
_ROAD = (
    "Add a second field with null=True, fill it with `manage.py backfill_ids ... --convert-from "
    "{name}`, and let the two change places by SwapSortableID."
)
ALTER_SCHEME = (
    "the table has rows, and an AlterField changes no value: {misfit} " + f"{_ROAD} {_LOOKED}"
)
LOST = (
    "it holds the ids that `backfill_ids --convert-from {name}` made, and they would be lost, "
    "while {name} is altered and keeps its old ones. Take the two changes out of the migrations, "
    'and write SwapSortableID("{model}", "{name}", "{removed}") instead.'
)
PUBLIC_TEXT = (
    "{label}: its public ids are written in another way now; those in old links are not found."
)
ALTER_TYPE = (
    "the table has rows, and a change of the column's type from {old} to {new} maps no value. Add "
    "a new field with null=True and fill it with `manage.py backfill_ids`."
)
ALTER_TYPE_OF_IDS = (
    "the table has rows, and a change of the column's type from {old} to {new} maps no value. "
    + _ROAD
)
