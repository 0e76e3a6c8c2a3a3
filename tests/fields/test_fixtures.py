"""dumpdata and loaddata."""

import pytest
from django.core.management import call_command

from tests.combinations import each_with
from tests.testapp.models import AUTO_KEYS, KEYS, STORED_KEYS, Line, Note, ULIDKey, around

pytestmark = pytest.mark.django_db


KEYS_AND_WAYS = each_with(
    [*KEYS, *STORED_KEYS, *AUTO_KEYS], ["json", "jsonl", "xml"], [False, True]
)


def make_rows(stored_key):
    """A row of each model around the key, with everything set that it can point to."""
    key, other = stored_key.objects.create(name="a"), stored_key.objects.create(name="b")
    child = around(stored_key, "Child")
    first = child.objects.create(name="c", parent=key, twin=other)
    first.friends.add(key, other)
    child.objects.create(name="d", itself=first)
    public = around(stored_key, "Public")
    target = public.objects.create(name="e")
    public.objects.create(name="f", to=target)
    public.objects.filter(name="f").update(optional=None)


def contents(models):
    found = []
    for model in models:
        names = [field.attname for field in model._meta.concrete_fields]
        found.append(sorted(model.objects.values_list(*names), key=str))
        for relation in model._meta.many_to_many:
            found.append(sorted(model.objects.values_list("pk", relation.name), key=str))
    return found


@pytest.mark.parametrize(("key", "format", "natural"), KEYS_AND_WAYS)
def test_dumped_and_loaded(key, tmp_path, format, natural):
    models = [key, *(around(key, name) for name in ("Child", "Public"))]
    make_rows(key)
    before = contents(models)
    file = tmp_path / f"rows.{format}"
    labels = [model._meta.label for model in models]
    call_command(
        "dumpdata",
        *labels,
        format=format,
        output=str(file),
        use_natural_primary_keys=natural,
        use_natural_foreign_keys=natural,
        verbosity=0,
    )
    for model in reversed(models):
        model.objects.all().delete()
    assert not any(any(rows) for rows in contents(models))
    call_command("loaddata", str(file), verbosity=0)
    after = contents(models)
    if natural:
        # Integer keys are new then.
        for found in (before, after):
            found[-1] = sorted((row[1:] for row in found[-1]), key=str)
    assert after == before
    call_command("loaddata", str(file), verbosity=0)
    assert len(contents(models)[0]) == 2


def test_a_subclass(key, tmp_path):
    special = around(key, "Special")
    row = special.objects.create(name="a", extra="b")
    file = tmp_path / "rows.json"
    call_command("dumpdata", key._meta.label, special._meta.label, output=str(file), verbosity=0)
    key.objects.all().delete()
    call_command("loaddata", str(file), verbosity=0)
    assert special.objects.get() == row
    assert special.objects.get().extra == "b"


def test_a_composite_key_and_a_note(tmp_path):
    line = Line.objects.create(tenant=1, name="a")
    subject = ULIDKey.objects.create()
    Note.objects.create(name="n", subject=subject)
    file = tmp_path / "rows.json"
    labels = ["testapp.Line", "testapp.ULIDKey", "testapp.Note"]
    call_command("dumpdata", *labels, output=str(file), verbosity=0)
    for model in (Line, ULIDKey, Note):
        model.objects.all().delete()
    call_command("loaddata", str(file), verbosity=0)
    assert Line.objects.get() == line
    assert Note.objects.get().subject == subject
