"""What a field says of options that it can't have."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection


def assert_refused(field, kind, message):
    """One error of the system check, and the same message wherever an id would be needed."""
    (error,) = field.check()
    assert error.id == f"sortable_ids.{kind}"
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
