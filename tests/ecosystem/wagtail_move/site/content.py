"""Rows of each kind, with drafts, workflows, logs and comments."""

import io

from blog.models import Article, Category, Form, FormField, Link, Person, Picture
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.core.files.images import ImageFile
from django.core.management import call_command
from django.db import transaction
from people.models import User
from PIL import Image as Pixels
from wagtail.contrib.forms.models import FormSubmission
from wagtail.contrib.redirects.models import Redirect
from wagtail.documents.models import Document
from wagtail.images.models import Image
from wagtail.log_actions import log
from wagtail.models import (
    Comment,
    CommentReply,
    GroupApprovalTask,
    Page,
    PageSubscription,
    Workflow,
    WorkflowContentType,
    WorkflowTask,
)


def image(n):
    file = io.BytesIO()
    Pixels.new("RGB", (40 + n, 30), (n * 40, 0, 0)).save(file, "PNG")
    file.seek(0)
    found = Image.objects.create(
        title=f"image {n}", file=ImageFile(file, name=f"{n}.png"), uploaded_by_user=users[n]
    )
    found.tags.add(f"tag {n % 2}")
    return found


def person(n):
    found = Person(name=f"person {n}", photo=images[n % 3])
    found.links = [Link(title=f"link {m}", sort_order=m) for m in range(2)]
    found.save()
    found.save_revision(user=users[0]).publish()
    found.name += " draft"
    found.save_revision(user=users[1])
    return found


def article(n):
    team = {"lead": people[(n + 1) % 4], "others": people[:2]}
    found = Article(
        title=f"article {n}",
        slug=f"article-{n}",
        author=people[n % 4],
        owner=users[n % 4],
        body=[
            ("image", images[n % 3]),
            ("person", people[n % 4]),
            ("team", team),
            ("page", home),
        ],
    )
    found.gallery = [Picture(image=images[(n + m) % 3], sort_order=m) for m in range(2)]
    found.categories = [categories[n % 4], categories[(n + 1) % 4]]
    home.add_child(instance=found)
    found.save_revision(user=users[n % 4]).publish()
    found = found.specific
    found.title += " draft"
    found.save_revision(user=users[2])
    return found


with transaction.atomic():
    users = [User.objects.create_superuser("root", password="x")]
    users += [User.objects.create_user(f"user{n}", f"{n}@x.org", "x") for n in range(4)]
    moderators = Group.objects.get(name="Moderators")
    moderators.user_set.add(*users[1:3])
    images = [image(n) for n in range(3)]
    categories = [Category.objects.create(name="root")]
    categories += [Category.objects.create(name=f"c{n}", parent=categories[0]) for n in range(4)]
    people = [person(n) for n in range(4)]
    home = Page.objects.get(depth=2)
    articles = [article(n) for n in range(6)]
    form = Form(title="form", slug="form", owner=users[1])
    form.form_fields = [FormField(label=f"field {n}", field_type="singleline") for n in range(2)]
    home.add_child(instance=form)
    form.save_revision(user=users[1]).publish()
    FormSubmission.objects.create(page=form, form_data={"field_0": "x", "field_1": "y"})
    file = ContentFile(b"x", name="x.txt")
    Document.objects.create(title="document", file=file, uploaded_by_user=users[3])
    Redirect.objects.create(old_path="/old", redirect_page=articles[0])
    Workflow.objects.first().start(Page.objects.get(pk=articles[0].pk).specific, users[1])
    workflow = Workflow.objects.create(name="snippets")
    task = GroupApprovalTask.objects.create(name="approval")
    task.groups.add(moderators)
    WorkflowTask.objects.create(workflow=workflow, task=task, sort_order=0)
    kind = ContentType.objects.get_for_model(Person)
    WorkflowContentType.objects.create(workflow=workflow, content_type=kind)
    workflow.start(people[0], users[1])
    for row in (people[1], articles[1], users[1]):
        log(row, "wagtail.edit", user=users[0])
    PageSubscription.objects.create(user=users[1], page=articles[2], comment_notifications=True)
    comment = Comment.objects.create(page=articles[2], user=users[1], text="c", contentpath="title")
    CommentReply.objects.create(comment=comment, user=users[2], text="r")
    call_command("rebuild_references_index", verbosity=0)
    call_command("update_index", verbosity=0)
