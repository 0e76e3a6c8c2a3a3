"""Forms, messages, templates and texts of instances: no time of a masked id gets out."""

import uuid
from datetime import UTC, datetime

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.template import Context, Template
from django.test.utils import isolate_apps

from django_sortable_ids import forms as public_forms
from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.forms import PublicModelChoiceField, PublicModelMultipleChoiceField
from django_sortable_ids.ids import public_id
from django_sortable_ids.schemes import get
from tests.leaks import leaks
from tests.masks import KEY, misread
from tests.store.models import PRODUCTS
from tests.testapp.models import MaskedKey, MaskedPart, SequenceKey, ULIDKey, ULIDKeyChild

pytestmark = pytest.mark.django_db


@pytest.fixture
def registry():
    """Where the models are that a test defines."""
    with isolate_apps("tests.testapp") as found:
        yield found


def values_of(part):
    return part.whole.pk, part.code, part.other.code


def form_of(model, *shown, **options):
    return forms.modelform_factory(model, fields=shown, **options)


# Forms


@pytest.mark.parametrize("widget", [forms.Select, forms.RadioSelect, forms.TextInput])
def test_no_time_in_a_model_form(part, widget):
    widgets = {"whole": widget, "other": widget}
    form = form_of(MaskedPart, "whole", "other", "code", "name", widgets=widgets)(instance=part)
    page = form.as_p()
    assert not leaks(page, *values_of(part))
    for row in (part.whole, part.other, part):
        assert public_id(row) in page


def test_a_form_takes_no_bare_value(part):
    # It would say which facade a chosen time has.
    form_class = form_of(MaskedPart, "whole", "other", "code")
    data = {"whole": str(part.whole.pk), "other": str(part.other.code), "code": str(part.code)}
    form = form_class(data, instance=part)
    assert set(form.errors) == {"whole", "other", "code"}
    texts = [public_id(row) for row in (part.whole, part.other)]
    assert not any(text in str(form.errors) for text in texts)


def test_a_form_shows_no_value_of_a_text_that_no_row_has(part):
    gone = MaskedKey()
    form = form_of(MaskedPart, "whole")({"whole": public_id(gone)})
    assert not form.is_valid()
    assert not leaks(form.as_p() + str(form.errors), gone.pk, *values_of(part))


def test_choices_of_several(settings, django_assert_num_queries):
    value, text, new_key = misread()
    rows = [MaskedPart.objects.create(code=value), MaskedPart.objects.create()]
    settings.SORTABLE_IDS = {"MASK_KEYS": [new_key, KEY]}
    field = PublicModelMultipleChoiceField(MaskedPart.objects.all(), to_field_name="code")
    with django_assert_num_queries(1):
        assert set(field.clean([text, public_id(rows[1]), text])) == set(rows)
    shown = field.widget.render("rows", field.prepare_value(rows))
    assert shown.count("selected") == 2
    assert not leaks(shown, *(row.code for row in rows))
    # No other id is of that time, which would be a leak.
    gone = MaskedPart(code=get("uuid7").generate(datetime(2020, 1, 1, tzinfo=UTC)))
    for refused in (public_id(gone), str(rows[1].code), "bad", ["x"], 7):
        with pytest.raises(ValidationError) as raised:
            field.clean([public_id(rows[1]), refused])
        assert not leaks(str(raised.value), gone.code)
        assert str(refused) in str(raised.value)
    for wrong in ("x", {"a": 1}):
        with pytest.raises(ValidationError):
            field.clean(wrong)


@pytest.mark.parametrize("name", PRODUCTS)
def test_declared_choices_of_every_scheme(name):
    model = PRODUCTS[name]
    row, other = model.objects.create(), model.objects.create()
    one = PublicModelChoiceField(model.objects.all())
    several = PublicModelMultipleChoiceField(model.objects.all())
    assert one.prepare_value(row) == one.prepare_value(row.pk) == public_id(row)
    assert {str(value) for value, _ in several.choices} == {public_id(row), public_id(other)}
    assert one.clean(public_id(row)) == row
    assert set(several.clean([public_id(row), public_id(other)])) == {row, other}
    assert not one.has_changed(row.pk, public_id(row))
    assert not several.has_changed([row.pk], [public_id(row)])
    with pytest.raises(ValidationError):
        one.clean("bad")


# Messages


def test_no_time_in_the_message_of_a_foreign_key():
    gone = MaskedKey()
    part = MaskedPart(whole=gone, name="a", code=MaskedPart._meta.get_field("code").generate())
    part.other_id = lost = MaskedPart._meta.get_field("code").generate()
    with pytest.raises(ValidationError) as raised:
        part.full_clean()
    text = str(raised.value)
    assert not leaks(text, gone.pk, lost)
    assert not leaks(str(raised.value.message_dict), gone.pk, lost)
    assert repr(public_id(gone)) in raised.value.message_dict["whole"][0]


def test_choices_of_relations_to_many_and_messages_of_other_relations(monkeypatch, registry):
    key = define("Key", models.Model, id=MaskedKey._meta.pk.clone())
    group = define("Group", models.Model, keys=models.ManyToManyField(key))
    monkeypatch.setattr(public_forms, "apps", registry)
    public_forms.register()
    assert type(group._meta.get_field("keys").formfield()) is PublicModelMultipleChoiceField
    field, gone = PublicModelMultipleChoiceField(MaskedKey.objects.all()), MaskedKey()
    form = type("Groups", (forms.Form,), {"keys": field})({"keys": [public_id(gone)]})
    assert not leaks(form["keys"].as_widget(), gone.pk)
    child = ULIDKeyChild(parent_id=ULIDKey().pk, name="a")
    with pytest.raises(ValidationError) as raised:
        child.clean_fields(exclude=["twin", "itself"])
    assert child.parent_id in str(raised.value)


# Texts of instances, and templates


def define(name, *bases, **attributes):
    meta = type("Meta", (), {"app_label": "testapp"})
    return type(name, bases, {"__module__": __name__, "Meta": meta, **attributes})


def test_the_text_of_an_instance(part, settings, monkeypatch, registry):
    key = define("Key", models.Model, id=MaskedKey._meta.pk.clone())
    child = define("Child", key)
    pointer = models.OneToOneField(key, models.CASCADE, primary_key=True)
    profile = define("Profile", models.Model, key=pointer)
    monkeypatch.setattr(public_forms, "apps", registry)
    public_forms.register()
    value = get("uuid7").generate()
    text = MaskedKey._meta.pk.public_text.format(value)
    for instance in (key(id=value), child(key_ptr_id=value), profile(key_id=value)):
        assert str(instance) == f"{type(instance).__name__} object ({text})"
        assert not leaks(f"{instance!r} {instance}", value)
    assert str(key(id=None)) == "Key object (None)"
    assert str(part) == "part"
    settings.SORTABLE_IDS = {}
    assert str(key(id=value)) == "Key object (masked)"


def test_the_text_of_an_instance_with_a_composite_key(monkeypatch, registry):
    key = define("Key", models.Model, id=MaskedKey._meta.pk.clone())
    halves = {
        "pk": models.CompositePrimaryKey("tenant", "key", "id"),
        "tenant": models.IntegerField(),
        "key": models.ForeignKey(key, models.CASCADE),
        "id": UUIDv7Field(masked=True),
    }
    pair = define("Pair", models.Model, **halves)
    own = define("Own", models.Model, **{**halves, "__str__": lambda self: "own"})
    monkeypatch.setattr(public_forms, "apps", registry)
    public_forms.register()
    values = [get("uuid7").generate() for _ in range(2)]
    row = pair(tenant=1, key_id=values[0], id=values[1])
    texts = [MaskedKey._meta.pk.public_text.format(values[0]), public_id(row)]
    assert str(row) == f"Pair object (1, {texts[0]}, {texts[1]})"
    choice = forms.ModelChoiceField(pair.objects.none()).label_from_instance(row)
    assert not leaks(
        f"{row!r} {choice} {Template('{{ it }}').render(Context({'it': row}))}", *values
    )
    assert str(pair(tenant=1)) == "Pair object (1, None, None)"
    assert str(own(tenant=1)) == "own"


def test_template_filters(part):
    def rendered(text, **context):
        return Template("{% load sortable_ids %}" + text).render(Context(context))

    assert rendered("{{ it|public_id }}", it=part.whole) == public_id(part.whole)
    assert rendered('{{ it|public_id:"code" }}', it=part) == public_id(part)
    assert rendered("{{ it|public_id }}{{ none|public_id }}", it="x") == ""
    row = MaskedKey(id=get("uuid7").lower_bound(datetime(2026, 1, 31, 12, tzinfo=UTC)))
    assert rendered('{{ it|created_at|date:"Y-m-d H:i" }}', it=row) == "2026-01-31 07:00"
    late = MaskedKey(id=uuid.UUID("ffffffff-ffff-7cc3-98c4-dc0c0c07398f"))
    for nothing in (None, "x", late, MaskedKey(id=None), SequenceKey(id="0")):
        assert rendered("{{ it|created_at }}", it=nothing) == ""


class OwnChoices(forms.ModelChoiceField):
    pass


class OwnKey(models.ForeignKey):
    def formfield(self, **kwargs):
        return super().formfield(**{"form_class": OwnChoices, **kwargs})


def test_a_relation_with_a_form_field_of_its_own_keeps_it(monkeypatch, registry):
    key = define("Key", models.Model, id=MaskedKey._meta.pk.clone())
    part = define("Part", models.Model, key=OwnKey(key, models.CASCADE))
    monkeypatch.setattr(public_forms, "apps", registry)
    public_forms.register()
    assert type(part._meta.get_field("key").formfield()) is OwnChoices
