"""Messages of the guard of ``migrate``: what was found, what would happen, what to do."""

ADD = (
    "the table has rows, and one id would be copied into all of them. Delete this migration, or "
    "its change, and add the field with null=True (without primary_key); fill it with "
    "`manage.py backfill_ids`, and then alter it to NOT NULL."
)
ADD_ON_EACH_NODE = (
    "the table has rows, and each node of the Galera cluster would generate other ids for them. "
    "Add the field with null=True and without db_default, fill it with `manage.py backfill_ids`, "
    "and then alter it."
)
ALTER_NULL = (
    "{missing} without an id: NOT NULL would fail, or copy one id into all of them. Fill them "
    "first with `manage.py backfill_ids`, or keep null=True."
)
ALTER_ADDED = (
    "the same plan adds the column, and this server, which is not in strict mode, would give one "
    "id to all rows that have none. Migrate up to the migration before this one, fill the rows "
    "with `manage.py backfill_ids`, and migrate the rest; or set a strict sql_mode."
)
_SAMPLED = "{sampled} values were checked, from both ends and the middle of the table."
ALTER_VALUES = (
    "the table has rows, and their values would be treated as ids: {misfit} Declare what they are "
    "(UUIDs of other versions by accept_other_versions=True), or add a new field with null=True "
    f"and fill it with `manage.py backfill_ids`. {_SAMPLED}"
)
ALTER_VALUES_AS_THEY_ARE = (
    f"the table has rows, and their values would be treated as ids: {{misfit}} {_SAMPLED}"
)
ALTER_CHAR32 = (
    "the table has rows, and its column is no uuid but a char, as Django 4 created it. Give the "
    'field storage="char32", or change the column first: '
    "ALTER TABLE {table} MODIFY {column} uuid, as in all columns that refer to it."
)
_MOVE = (
    "Delete this migration, or its changes of the key and of a field for the old one, and let "
    "`manage.py backfill_ids {app} --primary-key --write-migration` write one that moves the key"
)
ALTER_VALUES_OF_KEY = (
    "the table has rows, and the values of the key would be treated as ids: {misfit} "
    + _MOVE
    + "; or declare what they are, if they may stay (UUIDs of other versions by "
    f"accept_other_versions=True). {_SAMPLED}"
)
ALTER_SCHEME = (
    "the table has rows, and an AlterField changes no value: {misfit} Add a second field with "
    "null=True, fill it with `manage.py backfill_ids ... --convert-from {name}`, and swap the two "
    f"by SwapSortableID. {_SAMPLED}"
)
ALTER_TYPE = (
    "the table has rows, and a change of the column's type from {old} to {new} maps no value. Add "
    "a second field with null=True, and fill it with `manage.py backfill_ids`: from the times of "
    "the rows, or --convert-from the ids of this one."
)
ALTER_KEY = (
    "the table has rows, and a change of the key's type from {old} to {new} maps no value, neither "
    "here nor in the columns that refer to it. " + _MOVE + "."
)
ALTER_TO_OTHER = "the table has rows, and an AlterField changes no value: {misread}. {road}."
_STORE = 'Delete this change, and first store the ids otherwise, by storage="{storage}": '
STORE = (
    _STORE + "add a second field with it and null=True, fill it with `manage.py backfill_ids ... "
    "--convert-from {name}`, swap the two by SwapSortableID, and then alter the field"
)
STORE_KEY = (
    _STORE + "edit the key, let `manage.py backfill_ids {app} --primary-key --write-migration` "
    "write a migration that moves it, and then alter it"
)
