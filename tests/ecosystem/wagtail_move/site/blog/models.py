"""Snippets with revisions and workflows, pages with relations and blocks, and forms."""

from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from modelcluster.fields import ParentalKey, ParentalManyToManyField
from modelcluster.models import ClusterableModel
from wagtail import blocks
from wagtail.admin.panels import FieldPanel, InlinePanel
from wagtail.contrib.forms.models import AbstractForm, AbstractFormField
from wagtail.fields import StreamField
from wagtail.images.blocks import ImageChooserBlock
from wagtail.images.models import Image
from wagtail.models import (
    DraftStateMixin,
    LockableMixin,
    Orderable,
    Page,
    RevisionMixin,
    WorkflowMixin,
)
from wagtail.search import index
from wagtail.snippets.blocks import SnippetChooserBlock
from wagtail.snippets.models import register_snippet

from django_sortable_ids.fields import ULIDAutoField, UUIDv7AutoField  # noqa: F401


@register_snippet
class Category(models.Model):
    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=50)
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True)
    panels = [FieldPanel("name"), FieldPanel("parent")]

    def __str__(self):
        return self.name


@register_snippet
class Person(
    WorkflowMixin, DraftStateMixin, LockableMixin, RevisionMixin, index.Indexed, ClusterableModel
):
    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=50)
    photo = models.ForeignKey(Image, models.SET_NULL, null=True, blank=True, related_name="+")
    _revisions = GenericRelation("wagtailcore.Revision", related_query_name="person")
    workflow_states = GenericRelation(
        "wagtailcore.WorkflowState",
        content_type_field="base_content_type",
        object_id_field="object_id",
        related_query_name="person",
        for_concrete_model=False,
    )
    panels = [FieldPanel("name"), FieldPanel("photo"), InlinePanel("links")]
    search_fields = [index.SearchField("name")]

    def __str__(self):
        return self.name


class Link(Orderable):
    id = models.BigAutoField(primary_key=True)
    person = ParentalKey(Person, on_delete=models.CASCADE, related_name="links")
    title = models.CharField(max_length=50)


class TeamBlock(blocks.StructBlock):
    lead = SnippetChooserBlock(Person)
    others = blocks.ListBlock(SnippetChooserBlock(Person))


class Article(Page):
    author = models.ForeignKey(Person, models.SET_NULL, null=True, blank=True, related_name="+")
    categories = ParentalManyToManyField(Category, blank=True)
    body = StreamField(
        [
            ("image", ImageChooserBlock()),
            ("person", SnippetChooserBlock(Person)),
            ("team", TeamBlock()),
            ("page", blocks.PageChooserBlock()),
        ],
        blank=True,
    )
    content_panels = [
        *Page.content_panels,
        FieldPanel("author"),
        FieldPanel("categories"),
        FieldPanel("body"),
        InlinePanel("gallery"),
    ]


class Picture(Orderable):
    id = models.BigAutoField(primary_key=True)
    page = ParentalKey(Article, on_delete=models.CASCADE, related_name="gallery")
    image = models.ForeignKey(Image, models.CASCADE, related_name="+")
    panels = [FieldPanel("image")]


class Form(AbstractForm):
    content_panels = [*AbstractForm.content_panels, InlinePanel("form_fields")]


class FormField(AbstractFormField):
    id = models.BigAutoField(primary_key=True)
    page = ParentalKey(Form, on_delete=models.CASCADE, related_name="form_fields")

    def save(self, *args, **kwargs):
        if self.pk is None:
            self.old_id = None
        super().save(*args, **kwargs)
