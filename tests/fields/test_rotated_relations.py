"""Many-to-many relations and the admin take the public texts of older mask keys."""

import secrets

import pytest
from django.contrib.admin import ModelAdmin, site
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.signals import m2m_changed
from django.test import RequestFactory
from django.test.utils import isolate_apps

from django_sortable_ids.fields.values.public import Candidates
from tests.leaks import leaks
from tests.marks import own_tables
from tests.masks import misread
from tests.own_tables import tables
from tests.testapp.models import MaskedKey, MaskedPart, Named, like

OLD = "f0debc9a785634121032547698badcfe"


@pytest.fixture
def shop():
    """A tag, a thing with tags, and the model through which it has listed ones."""
    with isolate_apps("tests.testapp"):

        class Tag(Named):
            id = like(MaskedKey._meta.pk)

        class Thing(Named):
            tags = models.ManyToManyField(Tag)
            listed = models.ManyToManyField(Tag, through="Listing", related_name="listing_things")

        class Listing(Named):
            thing = models.ForeignKey(Thing, models.CASCADE)
            tag = models.ForeignKey(Tag, models.CASCADE)

            class Meta:
                app_label = "testapp"
                constraints = (models.UniqueConstraint(fields=["thing", "tag"], name="once"),)

        with tables(Tag, Thing, Listing):
            yield Tag, Thing, Listing


@pytest.fixture(params=[1, 4])
def shown(request, settings):
    """Ids, the first of which a newer key misreads, and the texts that the oldest one gave them."""
    value, _, newer = misread(OLD)
    field = MaskedKey._meta.pk
    settings.SORTABLE_IDS = {"MASK_KEYS": [OLD]}
    values = [value, *(field.generate() for _ in range(3))]
    found = {each: field.public_text.format(each) for each in values}
    between = [secrets.token_hex(16) for _ in range(request.param - 2)]
    settings.SORTABLE_IDS = {"MASK_KEYS": [newer, *between, OLD][-request.param :]}
    return found


@pytest.fixture(params=[False, True], ids=["unheard", "heard"])
def heard(request, shop):
    """What listeners get; where there are some, Django takes another way."""
    _, thing, listing = shop
    found = []

    def hear(action, pk_set, **_):
        found.append((action, pk_set))

    if request.param:
        for through in (thing.tags.through, listing):
            m2m_changed.connect(hear, sender=through, weak=False)
    return found


@own_tables
@pytest.mark.parametrize("name", ["tags", "listed"])
def test_relations_to_many_take_old_texts(shop, shown, heard, request, name):
    tag, thing, listing = shop
    kept, texts = [tag(id=value) for value in shown], list(shown.values())
    tag.objects.bulk_create(kept)
    manager = getattr(thing.objects.create(), name)
    through = manager.through.objects.order_by("pk")

    manager.add(*texts[:2])
    assert set(manager.all()) == set(kept[:2])
    listing.objects.update(name="mine")
    before = list(through.values())
    manager.add(*texts[:2], kept[0])
    manager.set(texts[:2])
    assert list(through.values()) == before
    manager.set([texts[1], kept[2]])
    assert set(manager.all()) == {kept[1], kept[2]}
    manager.remove(texts[1])
    assert list(manager.all()) == [kept[2]]
    manager.set([texts[0], texts[3]], clear=True)
    assert set(manager.all()) == {kept[0], kept[3]}
    manager.clear()
    assert not manager.exists()
    added = [each for action, several in heard if action == "pre_add" for each in several]
    assert set(added) == (set(shown) if "-heard" in request.node.name else set())


@own_tables
@pytest.mark.parametrize("shown", [4], indirect=True)
def test_what_is_no_id_is_refused_and_no_value_is_shown(shop, shown):
    manager = shop[1].objects.create().tags
    with pytest.raises(ValidationError) as refused:
        manager.add("bad")
    assert "bad" in str(refused.value)
    candidates = Candidates(tuple(shown))
    assert not leaks(f"{candidates!r} {candidates}", *shown)
    assert not leaks(str(MaskedKey._meta.pk.invalid(candidates)), *shown)


@pytest.mark.django_db
def test_a_prepared_value_is_one_value(shown):
    kept, texts = [MaskedKey(id=value) for value in shown], list(shown.values())
    MaskedKey.objects.bulk_create(kept)
    for field in (MaskedKey._meta.pk, MaskedPart._meta.get_field("whole")):
        assert [field.get_prep_value(text) for text in texts] == [row.pk for row in kept]


@pytest.mark.django_db
def test_lookups_are_built_without_a_query(shown, django_assert_num_queries):
    texts = list(shown.values())
    with django_assert_num_queries(0):
        for lookup in ("exact", "gt", "gte", "lt", "lte"):
            MaskedKey.objects.filter(**{f"pk__{lookup}": texts[0]})
            MaskedKey.objects.filter(**{f"parts__whole__{lookup}": texts[0]})
            MaskedPart.objects.filter(**{f"whole__{lookup}": MaskedKey(pk=texts[0])})
        MaskedPart.objects.filter(whole__in=[*texts, MaskedKey(pk=texts[0])])
        MaskedKey.objects.filter(pk__range=(texts[0], texts[0]))


@pytest.mark.django_db
def test_comparisons_through_relations(shown):
    kept, texts = [MaskedKey(id=value) for value in shown], list(shown.values())
    MaskedKey.objects.bulk_create(kept)
    MaskedPart.objects.bulk_create([MaskedPart(whole=row) for row in kept])
    for row, text in zip(kept, texts, strict=True):
        between = {"whole__gte": text, "whole__lte": text}
        assert MaskedPart.objects.get(**between).whole_id == row.pk
        assert not MaskedPart.objects.filter(whole__gt=text, whole__lte=text).exists()
        assert MaskedKey.objects.get(pk__range=(text, text)) == row


class RawAdmin(ModelAdmin):
    raw_id_fields = ("whole",)


@pytest.mark.django_db
def test_raw_ids_of_the_admin(shown):
    kept, texts = [MaskedKey(id=value) for value in shown], list(shown.values())
    MaskedKey.objects.bulk_create(kept)
    request = RequestFactory().get("/")
    form_class = RawAdmin(MaskedPart, site).get_form(request, fields=["whole", "name"])
    for row, text in zip(kept, texts, strict=True):
        form = form_class({"whole": text, "name": "a"})
        assert form.is_valid(), form.errors
        assert form.save().whole_id == row.pk
