"""Opens what wagtail's admin shows of each row, sends its forms, and prints what failed, what
refers to what, and what the forms have written.
"""

import logging

from blog.models import Article, Category, Form, Person
from bs4 import BeautifulSoup
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse
from people.models import User
from wagtail.contrib.redirects.models import Redirect
from wagtail.documents.models import Document
from wagtail.images.models import Image
from wagtail.models import ModelLogEntry, Page, PageLogEntry, ReferenceIndex, Revision
from wagtail.search.backends import get_search_backend

logging.disable(logging.ERROR)
client = Client(raise_request_exception=False)
client.post(reverse("wagtailadmin_login"), {"username": "root", "password": "x"})
count, failed = 0, []
EMPTY = {"body-count": "0"}
"""A body without blocks: their forms are written by scripts."""


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


def fields_of(name, *given):
    """What the longest form of a page would send."""
    page = BeautifulSoup(client.get(reverse(name, args=given)).content, "html.parser")
    forms = page.find_all("form", method=["post", "POST"])
    longest = max(forms, key=lambda one: len(one.find_all(attrs={"name": True})))
    found = {}
    for each in longest.find_all(["input", "select", "textarea"], attrs={"name": True}):
        match each.name, each.get("type"):
            case "select", _:
                found[each["name"]] = [one["value"] for one in each.select("option[selected]")]
            case "textarea", _:
                found[each["name"]] = each.get_text().strip()
            case _, "checkbox" | "radio":
                if each.has_attr("checked"):
                    found.setdefault(each["name"], []).append(each.get("value", "on"))
            case _, kind if kind not in ("submit", "file"):
                found[each["name"]] = each.get("value", "")
    return found


def send(name, *given, **changed):
    """Change a form and send it."""
    global count
    count += 1
    url = reverse(name, args=given)
    answer = client.post(url, fields_of(name, *given) | changed)
    if answer.status_code != 302:
        page = BeautifulSoup(answer.content, "html.parser")
        raise AssertionError(f"{url}: {answer.status_code} {page.get_text(' ', strip=True)}")


def copied_and_published():
    """The child rows of a copied page; and whether a published snippet keeps its old key."""
    copy = Form.objects.get().copy(update_attrs={"title": "Copied", "slug": "copied"})
    yield sorted(each.clean_name for each in copy.get_form_fields())
    for person in Person.objects.exclude(latest_revision=None).order_by("name"):
        old = getattr(person, "old_id", None)
        person.latest_revision.publish()
        person.refresh_from_db()
        yield getattr(person, "old_id", None) == old


def written():
    """What the forms of a page and of a user write."""
    home, author = Page.objects.get(depth=2), Person.objects.order_by("name").first()
    new = {"title": "New", "slug": "new", "author": str(author.pk), **EMPTY}
    send("wagtailadmin_pages:add", "blog", "article", home.pk, **new)
    article = Article.objects.get(slug="new")
    edit = ("wagtailadmin_pages:edit", article.pk)
    yield fields_of(*edit)["author"] == str(author.pk)
    send(*edit, title="Edited", **EMPTY, **{"action-publish": "1"})
    article.refresh_from_db()
    yield article.title, article.live, article.owner.username, article.author.name
    yield article.get_latest_revision_as_object().author.name
    opens("wagtailadmin_pages:history", article.pk)
    yield [each.user.username for each in Revision.objects.for_instance(article)]
    yield sorted({each.user.username for each in PageLogEntry.objects.filter(page=article)})
    names = {"username": "ada", "email": "a@x.org", "first_name": "Ada", "last_name": "L"}
    password = dict.fromkeys(["password1", "password2"], "correct horse")
    send("wagtailusers_users:add", **names, **password)
    ada = User.objects.get(username="ada")
    opens("wagtailusers_users:index")
    send("wagtailusers_users:edit", ada.pk, first_name="Augusta")
    yield User.objects.get(pk=ada.pk).first_name
    opens("wagtailusers_users:history", ada.pk)
    send("wagtailusers_users:delete", ada.pk)
    yield User.objects.filter(username="ada").exists()


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
        teams = [block.value for block in bodies if block.block_type == "team"]
        facts += [str(each) for team in teams for each in (team["lead"], *team["others"])]
    elif draft:
        facts += sorted(each.title for each in draft.links.all())
with transaction.atomic():
    facts += [*copied_and_published(), *written()]
    transaction.set_rollback(True)
print(f"{count} flows, {len(failed)} failed", *failed, *facts, sep="\n")
