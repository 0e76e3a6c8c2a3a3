"""What is moved in each project, and its sample data."""

from dataclasses import dataclass, replace

from ..catalog import PROJECTS, Edit, Project


@dataclass(frozen=True)
class Sample:
    project: Project
    """With the files that the sample data needs."""
    labels: tuple[str, ...]
    """The apps whose keys are moved."""
    commands: tuple[tuple[str, ...], ...]
    """Management commands that insert rows."""
    program: str | None = None
    """Python code that inserts rows."""
    edits: tuple[Edit, ...] = ()
    """What an empty database needs, because a migration uses the models as they are today."""


_LOADS = """    objects = deserialize_fixture()

    for obj in objects:
        obj.save()
"""
_LOADED = """    import json
    EmailTemplate = apps.get_model("helpdesk", "emailtemplate")
    with open(os.path.join(fixture_dir, fixture_filename)) as fixture:
        for each in json.load(fixture):
            EmailTemplate(pk=each["pk"], **each["fields"]).save()
"""
"""What a migration needs that loads a fixture: the model as it was."""
_OSCAR = PROJECTS["oscar"]
_HELPDESK = PROJECTS["helpdesk"]
_FIRST_USER = """
from django.contrib.auth import get_user_model
get_user_model().objects.create(username="first", email="first@example.com")
"""
_BOOKS = ("essential", "hacking", "computers-in-fiction")
SAMPLES = {
    "oscar": Sample(
        replace(_OSCAR, files=(*_OSCAR.files, "sandbox")),
        labels=(
            "address",
            "analytics",
            "basket",
            "catalogue",
            "communication",
            "customer",
            "myauth",
            "offer",
            "order",
            "partner",
            "payment",
            "reviews",
            "shipping",
            "voucher",
            "wishlists",
        ),
        commands=(
            ("loaddata", "sandbox/fixtures/child_products.json"),
            *(("oscar_import_catalogue", f"sandbox/fixtures/books.{name}.csv") for name in _BOOKS),
            ("oscar_populate_countries", "--initial-only"),
            ("loaddata", "sandbox/fixtures/pages.json", "sandbox/fixtures/ranges.json"),
            ("loaddata", "sandbox/fixtures/offers.json"),
            ("shell", "-c", _FIRST_USER),
            ("loaddata", "sandbox/fixtures/orders.json"),
        ),
        program="move_oscar.py",
    ),
    "helpdesk": Sample(
        replace(_HELPDESK, files=(*_HELPDESK.files, "demodesk")),
        labels=("helpdesk",),
        commands=(("loaddata", "demodesk/fixtures/demo.json"),),
        edits=(
            Edit(
                "helpdesk/migrations/0003_initial_data_import.py",
                _LOADS,
                _LOADED,
            ),
        ),
    ),
}
