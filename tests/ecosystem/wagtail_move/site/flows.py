"""Opens what wagtail's admin shows of each row, and prints what failed and what refers to what."""

import logging

from blog.models import Article, Category, Form, Person
from django.test import Client
from django.urls import NoReverseMatch, reverse
from people.models import User
from wagtail.contrib.redirects.models import Redirect
from wagtail.documents.models import Document
from wagtail.images.models import Image
from wagtail.models import ModelLogEntry, Page, ReferenceIndex, Revision
from wagtail.search.backends import get_search_backend

logging.disable(logging.ERROR)
client = Client(raise_request_exception=False)
client.force_login(User.objects.get(username="root"))
count, failed = 0, []


def opens(name, *given):
    global count
    try:
        url = reverse(name, args=given)
    except NoReverseMatch:
        return
    count += 1
    answer = client.get(url)
    if answer.status_code >= 400:
        failed.append(f"{url}: {answer.status_code}")


def works(function):
    global count
    count += 1
    try:
        return function()
    except Exception as error:
        failed.append(f"{type(error).__name__}: {error}")


for page in Page.objects.filter(depth__gt=1).specific().order_by("path"):
    for view in ("history", "usage", "edit"):
        opens(f"wagtailadmin_pages:{view}", page.pk)
for model in (Category, Person):
    for view in ("list", "add"):
        opens(model.snippet_viewset.get_url_name(view))
    for row in model.objects.order_by("name"):
        for view in ("edit", "delete", "history", "usage"):
            opens(model.snippet_viewset.get_url_name(view), str(row.pk))
for name, model in (
    ("wagtailforms:list_submissions", Form),
    ("wagtailimages:edit", Image),
    ("wagtailimages:image_usage", Image),
    ("wagtaildocs:edit", Document),
    ("wagtaildocs:document_usage", Document),
    ("wagtailredirects:edit", Redirect),
):
    for row in model.objects.order_by("pk"):
        opens(name, row.pk)
for user in User.objects.order_by("username"):
    opens("wagtailusers_users:edit", user.pk)
for name in ("site_history", "locked_pages", "workflow"):
    opens(f"wagtailadmin_reports:{name}")
opens("wagtailadmin_home")
search = get_search_backend().search
facts = sorted(each.name for each in search("person", Person))
facts += sorted(each.title for each in search("article", Article))
for form in Form.objects.all():
    works(form.get_latest_revision_as_object)
    facts += [each.clean_name for each in form.get_form_fields()]
    facts += [each.form_data for each in form.get_submission_class().objects.filter(page=form)]
for row in (*Person.objects.order_by("name"), *Article.objects.order_by("path")):
    facts += [ReferenceIndex.get_references_to(row).count()]
    facts += [ModelLogEntry.objects.for_instance(row).count()] if type(row) is Person else []
    draft = works(row.get_latest_revision_as_object)
    works(lambda row=row: [each.as_object() for each in Revision.objects.for_instance(row)])
    if isinstance(row, Article) and draft:
        facts += [draft.author.name, *sorted(each.name for each in draft.categories.all())]
        bodies = (*row.body, *draft.body)
        facts += [str(block.value) for block in bodies if block.block_type == "person"]
    elif draft:
        facts += sorted(each.title for each in draft.links.all())
print(f"{count} flows, {len(failed)} failed", *failed, *facts, sep="\n")
