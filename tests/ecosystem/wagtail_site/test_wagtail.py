"""wagtail whose users have a sortable key: the pages of its admin, and what refers to users."""

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse
from wagtail.models import Page, PageLogEntry, Revision

from .models import Article, User

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"


@pytest.fixture
def editor(client):
    """A superuser who has logged into wagtail's admin."""
    user = User.objects.create_superuser("root", "root@example.com", PASSWORD)
    given = {"username": user.username, "password": PASSWORD}
    answer = client.post(reverse("wagtailadmin_login"), given)
    assert (answer.status_code, client.session["_auth_user_id"]) == (302, str(user.pk))
    return user


@pytest.fixture
def home():
    """The page that wagtail's migrations create."""
    return Page.objects.get(depth=2)


def page(client, name, *args, **query):
    answer = client.get(reverse(name, args=args), query)
    assert answer.status_code == 200, (name, answer.get("Location"))
    return BeautifulSoup(answer.content, "html.parser")


def form(client, name, *args):
    """What the longest form of a page would send."""
    forms = page(client, name, *args).find_all("form", method=["post", "POST"])
    found = {}
    for each in max(forms, key=lambda one: len(one.find_all(attrs={"name": True}))).find_all(
        ["input", "select", "textarea"], attrs={"name": True}
    ):
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


def send(client, name, *args, **changed):
    """Change a form and send it."""
    answer = client.post(reverse(name, args=args), form(client, name, *args) | changed)
    assert answer.status_code == 302, BeautifulSoup(answer.content, "html.parser").get_text()
    return answer


def test_an_article_is_created_edited_and_published(client, editor, home):
    new = ("wagtailadmin_pages:add", "wagtail_site", "article", home.pk)
    send(client, *new, title="First", slug="first", author=str(editor.pk))
    article = Article.objects.get()
    assert (article.author, article.owner, article.live) == (editor, editor, False)
    edit = ("wagtailadmin_pages:edit", article.pk)
    chosen = form(client, *edit)["author"]
    assert chosen == [str(editor.pk)]
    send(client, *edit, title="Second", **{"action-publish": "1"})
    article.refresh_from_db()
    assert (article.title, article.live) == ("Second", True)
    assert [each.user for each in Revision.objects.all()] == [editor, editor]
    assert {each.user for each in PageLogEntry.objects.all()} == {editor}
    assert article.get_latest_revision_as_object().author == editor
    assert "root" in page(client, "wagtailadmin_pages:history", article.pk).get_text()
    for name in ("wagtailadmin_home", "wagtailadmin_reports:site_history"):
        query = {} if name == "wagtailadmin_home" else {"user": str(editor.pk)}
        assert "Second" in page(client, name, **query).get_text(), name


def test_users_are_listed_created_and_edited(client, editor):
    send(
        client,
        "wagtailusers_users:add",
        username="ada",
        email="ada@example.com",
        first_name="Ada",
        last_name="L",
        password1=PASSWORD,
        password2=PASSWORD,
    )
    ada = User.objects.get(username="ada")
    listed = page(client, "wagtailusers_users:index")
    assert listed.find("a", href=reverse("wagtailusers_users:edit", args=[ada.pk]))
    send(client, "wagtailusers_users:edit", ada.pk, first_name="Augusta")
    ada.refresh_from_db()
    assert ada.first_name == "Augusta"
    assert client.get(reverse("wagtailusers_users:edit", args=[editor.pk])).status_code == 200
    assert client.get("/cms/users/edit/1/").status_code == 404
    page(client, "wagtailusers_users:history", ada.pk)
    send(client, "wagtailusers_users:delete", ada.pk)
    assert User.objects.get() == editor
