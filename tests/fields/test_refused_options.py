"""Options that a field can't have: an error of the system check, and wherever an id is needed."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.models import Value

from django_sortable_ids import fields
from django_sortable_ids.functions import GenerateID
from tests.combinations import in_one_case
from tests.field_classes import CLASSES

ULIDField, UUIDv7Field = fields.ULIDField, fields.UUIDv7Field
PREFIXES = ["", "_", "_a", "a_", "Ord", "ord1", "ö", "a-b", "a.b", "a:b", "x" * 64, "a\n", " a", 1]
PREVIOUS = ["order", ["Order"], ["a_"], [None], [1], 5, None, {"order": 1}]
COLUMNS = [
    ({"storage": "varchar", "max_length": 25}, "max_length=25: expected 26 or more"),
    ({"max_length": 26}, "max_length=26: expected none unless storage is a varchar"),
    ({"storage": "char", "max_length": 40}, "max_length=40: expected none unless"),
    ({"storage": "varchar", "max_length": "40"}, "max_length='40': expected 26 or more"),
    ({"db_collation": "C"}, "db_collation='C': the column is not text"),
    ({"storage": "uuid", "db_collation": "C"}, "db_collation='C': the column is not text"),
]
STORAGES = [
    (ULIDField, "char32", "uuid, binary, char, varchar for ULID"),
    (fields.KUUIDField, "uuid", "binary, char, varchar for kuuid"),
    (fields.SnowflakeField, "binary", "integer for snowflake"),
    (fields.LexicalSequenceField, "binary", "char, varchar for lexical sequence"),
    (UUIDv7Field, "char", "uuid, binary, char32, char36, varchar32, varchar36 for UUIDv7"),
]
DEFAULTS = ["", None, "01KDVDNA00PVDPVDPVDPVDPVDM", lambda: None]
CONSTANTS = ["019B76DAA800B6DB6DB6DB6DB6DB6DB4", None, 1]
OTHER_IDS = [
    (UUIDv7Field, GenerateID("ulid"), "generates ULID with storage=None; the column is of the s"),
    (ULIDField, GenerateID("ulid", storage="char"), "with storage='char'; .* with storage=None"),
    (fields.SnowflakeField, GenerateID("snowflake", epoch_ms=5), "generates snowflake"),
]


def refused():
    """Each field, the number of its error, and words of the message."""
    for block in (0, -1, True, 1.0, "2", None):
        field = fields.LexicalSequenceField(block=block)
        yield field, "E012", "expected how many numbers to reserve, 1 or more"
    yield fields.Time64Field(layout="5"), "E012", "layout='5'"
    for charset, meant in (("Numeric", "numeric"), ("alnum_uper", "alnum_upper")):
        named = f"no character set of that name; nearest: {meant}"
        yield fields.LexicalSequenceField(charset=charset), "E012", named
    seconds = "expected ms, found s; write 1577836800_000"
    yield fields.SnowflakeField(epoch_ms=1_577_836_800), "E012", seconds
    for prefix in PREFIXES:
        yield ULIDField(prefix=prefix), "E013", "expected 1 to 63 of a-z and _"
    for prefixes in PREVIOUS:
        field = ULIDField(prefix="ord", previous_prefixes=prefixes)
        yield field, "E013", "expected a list of prefixes, such as"
    for prefix, shown in (("ord", "'ord'"), (None, "''")):
        field = ULIDField(prefix=prefix, previous_prefixes=["order", prefix or ""])
        yield field, "E013", f"{shown} is the present prefix"
    for separator in ("", "-", "__", "/", "."):
        yield ULIDField(prefix="ord", separator=separator), "E013", "expected '_' or ':'"
    only = "ULID has no encoding 'base58'; its ids are written in one way: leave out encoding="
    yield ULIDField(encoding="base58"), "E013", only
    for field_class in CLASSES:
        if not issubclass(field_class, UUIDv7Field):
            yield field_class(masked=True), "E013", "only UUIDv7 can be masked, not"
    masked = UUIDv7Field(accept_other_versions=True, masked=True)
    yield masked, "E013", "a stored UUIDv4 looks like a masked UUIDv7"
    other_order = fields.CombV13UUIDField(accept_other_versions=True, encoding="sqlserver")
    yield other_order, "E013", "sqlserver"
    for field_class, storage, known in STORAGES:
        message = rf"^storage='{storage}': expected one of {known}\.$"
        yield field_class(storage=storage), "E014", message
    for options, message in COLUMNS:
        yield ULIDField(**options), "E014", f"^{message}"
    for default in DEFAULTS:
        copied = "takes no default: a migration would copy one value"
        yield ULIDField(default=default), "E015", copied
    for constant in CONSTANTS:
        for default in (constant, Value(constant)):
            field = fields.HexULIDField(db_default=default)
            yield field, "E015", "is one value for every row"
    for field_class, expression, message in OTHER_IDS:
        yield field_class(db_default=expression), "E015", message


@in_one_case(("field", "number", "message"), refused())
def test_a_wrong_option_is_refused_by_the_check_and_wherever_an_id_is_needed(
    field, number, message
):
    (error,) = field.check()
    assert error.id == f"sortable_ids.{number}"
    assert error.obj is field
    assert error.hint
    assert error.level == 40
    assert re.search(message, error.msg), error.msg
    for use in (
        lambda: field.scheme,
        lambda: field.public_text,
        lambda: field.to_python("x"),
        lambda: field.get_db_prep_save("x", connection),
        lambda: field.get_db_prep_value("x", connection),
        lambda: field.from_db_value("x", None, connection),
        lambda: field.generate_many_for([object()], "default"),
    ):
        with pytest.raises(ImproperlyConfigured) as refusal:
            use()
        assert error.msg.removesuffix(".") in str(refusal.value)
    for copied in (field.clone(), field.__copy__(), field.__deepcopy__({})):
        assert copied.deconstruct() == field.deconstruct()
        assert [each.msg for each in copied.check()] == [error.msg]
