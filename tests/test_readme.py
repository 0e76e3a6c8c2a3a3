"""Everything the README shows is run: its files in a project of their own, its commands there."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from django.core.management import call_command

from django_sortable_ids import fields, schemes
from django_sortable_ids.checks import messages
from tests.backfill import own_project
from tests.schemes import odds

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()
ROAD = re.findall(r"\n### Change the scheme of an id in use\n.*?(?=\n## )", TEXT, re.DOTALL)[0]
README = TEXT.replace(ROAD, "")

SETTINGS = """
INSTALLED_APPS += ["rest_framework", "shop"]
USE_TZ = True
"""

URLS = """
from rest_framework.routers import SimpleRouter
from shop.api import OrderViewSet

router = SimpleRouter()
router.register("orders", OrderViewSet)
urlpatterns = router.urls
"""

OLD_ROWS = """
from shop.models import *

Parcel.objects.bulk_create(Parcel() for _ in range(20))
Parcel.objects.update(public_id=None)
Order.objects.update(public_id=None)
"""

CONVERTED = """
from django_sortable_ids import schemes
from shop.models import Parcel

uuid1, uuid6 = schemes.get("uuid1"), schemes.get("uuid6")
for parcel in Parcel.objects.all():
    assert uuid6.convert(parcel.public_id, to=uuid1) == (parcel.id, True)
"""

REQUESTS = """
from rest_framework.test import APIClient
from django_sortable_ids.ids import public_id
from shop.models import Order

client = APIClient(SERVER_NAME="localhost")
order = Order.objects.latest("pk")
found = client.get(f"/orders/{public_id(order)}/")
assert found.status_code == 200 and found.data["public_id"] == public_id(order), found.data
assert client.get("/orders/bad/").status_code == 404
assert client.post("/orders/", {"customer": "bad"}).status_code == 400
"""

LEASE = """
from django_sortable_ids.fields import SnowflakeField
from django_sortable_ids.models import WorkerLease

number = SnowflakeField().generate() >> 12 & 1023
row = WorkerLease.objects.get()
assert row.number == number and row.token
"""

GIVEN_BACK = """
from django_sortable_ids.models import WorkerLease

assert WorkerLease.objects.get().token == ""
"""


def blocks(language: str, source: str = README) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", source, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def python_files() -> dict[str, str]:
    files: dict[str, str] = defaultdict(str)
    for block in blocks("python"):
        if match := re.match(r"# (\S+\.py)\n", block):
            files[match[1]] += block
    return files


def snippets() -> list[str]:
    return [block for block in blocks("python") if not block.startswith("# ")]


def commands() -> list[list[str]]:
    lines = "".join(blocks("sh")).splitlines()
    return [line.split()[2:] for line in lines if line.startswith("python manage.py ")]


def manage(project: Path, *arguments: str) -> str:
    """Run a command that must succeed; what it printed."""
    done = own_project.manage(project, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    call_command("startproject", "project", folder)
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").touch()
    files = python_files()
    settings = files.pop("settings.py")
    with (folder / "project" / "settings.py").open("a") as file:
        file.write(SETTINGS + settings)
    (folder / "project" / "urls.py").write_text(URLS)
    for name, text in files.items():
        if not is_later(name):
            (folder / name).write_text(text)
    return folder


def test_a_project_made_of_the_readme(project: Path) -> None:
    manage(project, "makemigrations", "shop")
    manage(project, "check")
    assert ["migrate"] in commands()
    manage(project, *commands()[0])
    for snippet in (*snippets(), OLD_ROWS):
        manage(project, "shell", "-c", snippet)
    outputs = [manage(project, *command) for command in commands()[1:]]
    assert "1 rows filled" in outputs[1]
    assert "strictly in order" in outputs[2]
    assert "20 rows filled" in outputs[-2]
    assert "each its old id, bit for bit" in outputs[-1]
    manage(project, "shell", "-c", CONVERTED)
    assert "`python manage.py backfill_ids` by itself" in README
    assert "shop.Order.public_id" in manage(project, "backfill_ids")
    manage(project, "shell", "-c", REQUESTS)
    manage(project, "shell", "-c", LEASE)
    manage(project, "shell", "-c", GIVEN_BACK)

    assert "Wrote shop/migrations/0002_constrain_order_public_id.py" in outputs[4]
    change_models(project, "null=True", "unique=True")
    manage(project, "makemigrations", "--check", "shop")
    manage(project, "migrate")
    assert "Next:" not in manage(project, *commands()[3])

    added, source = next((name, text) for name, text in python_files().items() if is_later(name))
    (project / added).write_text(source)
    field = "    reference = SnowflakeField(unique=True)"
    change_models(project, "unique=True)\n", f"unique=True)\n{field}\n")
    change_models(project, "import ULIDField", "import SnowflakeField, ULIDField")
    manage(project, "makemigrations", "--check", "shop")
    manage(project, "migrate")
    manage(project, "backfill_ids", "shop.Order.reference", "--verify")


SHOP = """
from django.db import models
from django_sortable_ids.fields import *


class Order(models.Model):
    created_at = models.DateTimeField(auto_now_add=True)
    public_id = ULIDField(prefix="ord", unique=True)
"""

NEW_IDS = """
from shop.models import Order

Order.objects.create()
for order in Order.objects.order_by("pk"):
    value = order.%s
    print("id", order.pk, type(value).__name__, value)
"""


def test_the_road_to_another_scheme(tmp_path: Path) -> None:
    call_command("startproject", "project", tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    with (tmp_path / "project" / "settings.py").open("a") as file:
        file.write(f'{SETTINGS}INSTALLED_APPS += ["django_sortable_ids"]\n')
    (tmp_path / "shop" / "models.py").write_text(SHOP)
    manage(tmp_path, "makemigrations", "shop")
    manage(tmp_path, "migrate")
    rows = "from shop.models import Order; [Order.objects.create() for _ in range(20)]"
    manage(tmp_path, "shell", "-c", rows)

    old, new = re.findall(r"`(public_id = ULID[^`]*|new_id = UUIDv7[^`]*)`", ROAD)[::-1]
    assert old in SHOP
    change_models(tmp_path, old, f"{old}\n    {new}")
    manage(tmp_path, "makemigrations", "shop")
    manage(tmp_path, "migrate")

    convert, verify = (line.split()[2:] for line in "".join(blocks("sh", ROAD)).splitlines())
    assert "20 rows filled" in manage(tmp_path, *convert)
    assert "strictly in order, and of their old ids' times" in manage(tmp_path, *verify)
    change_models(tmp_path, new, new.replace("null", "unique"))
    manage(tmp_path, "makemigrations", "--check", "shop")
    manage(tmp_path, "migrate")
    before = manage(tmp_path, "shell", "-c", NEW_IDS % "new_id").splitlines()

    (swap,) = blocks("python", ROAD)
    (tmp_path / swap.split()[1]).write_text(swap)
    for definition in re.findall(r"`(\w+_id = [^`]*unique=True\))`", ROAD)[-2:]:
        name = definition.split()[0]
        models = (tmp_path / "shop" / "models.py").read_text()
        (line,) = re.findall(rf"{name} = .*", models)
        change_models(tmp_path, line, definition)
    manage(tmp_path, "makemigrations", "--check", "shop")
    manage(tmp_path, "migrate")
    after = manage(tmp_path, "shell", "-c", NEW_IDS % "public_id").splitlines()
    assert after[:-1] == before
    assert after[-1].startswith("id 22 UUID")
    assert "strictly in order" in manage(
        tmp_path, "backfill_ids", "shop.Order.public_id", "--verify"
    )
    assert (re.findall(r"migrate (\w+) (\d+)`", ROAD))[0] == ("shop", "0003")
    manage(tmp_path, "migrate", "shop", "0003")
    manage(tmp_path, "migrate")
    manage(tmp_path, "check", "--database", "default")


def is_later(name: str) -> bool:
    """Whether it is a migration behind those that the project begins with."""
    return "/migrations/" in name


def change_models(project: Path, old: str, new: str) -> None:
    models = project / "shop" / "models.py"
    assert old in models.read_text()
    models.write_text(models.read_text().replace(old, new, 1))


def test_the_comments_of_the_examples_are_true(project: Path) -> None:
    example = schemes.get("ulid").example
    assert f"'{example}'" in README
    assert f"'ord_{example}'" in README


def test_the_commands_of_the_first_screen_install_what_they_run() -> None:
    demo, tests = (line for line in "".join(blocks("sh")).splitlines() if ".venv" in line)
    assert "'.[example]'" in demo
    assert (ROOT / "example_project" / "manage.py").exists()
    assert demo.endswith("example_project/manage.py demo")
    assert tests.endswith("pip install -e '.[test]' && .venv/bin/pytest")


def table_rows(name: str = "schemes") -> list[list[str]]:
    table = README.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    return [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table.strip().splitlines()[2:]
    ]


def test_every_field_is_in_the_table() -> None:
    named = {name for name in fields.__all__ if name != "SortableIDField"}
    assert {row[0] for row in table_rows()} == named


def last_year(scheme: schemes.TimeScheme) -> int:
    """The last year of ids that their column holds: a bigint has 63 bits without its sign."""
    if scheme.value_type is int and scheme.holds(2**63):
        return scheme.created_at(2**63 - 1).year
    return scheme.latest.year


def test_the_odds_of_a_collision_are_those_of_the_generators() -> None:
    table = README.split("<!-- odds -->")[1].split("<!-- /odds -->")[0].strip().splitlines()[2:]
    by_values = odds.by_values().items()
    measured = [row[3] for row in table_rows("odds")]
    assert table == [
        odds.line(names, values, found)
        for (values, names), found in zip(by_values, measured, strict=True)
    ]
    for values, found in zip(odds.by_values(), measured, strict=True):
        how_often, _, pairs = found.partition(" in " if found.startswith("1") else " of ")
        if how_often == "1":
            assert int(pairs.replace(",", "")) == pytest.approx(values, rel=0.05)
        else:
            assert float(pairs) < values / 1000


def test_every_check_is_in_the_table() -> None:
    source = (Path(messages.__file__)).read_text()
    table = README.split("\n## Checks\n")[1].split("\n## ")[0]
    assert set(re.findall(r"\b[EW]\d{3}\b", table)) == set(re.findall(r"\b[EW]\d{3}\b", source))


@pytest.mark.parametrize("row", table_rows(), ids=lambda row: row[0])
def test_the_table_of_schemes_is_true(row: list[str]) -> None:
    name, _, value_type, example, tick, until = row
    scheme = getattr(fields, name)().scheme
    assert value_type.removeprefix("uuid.") == scheme.value_type.__name__
    assert scheme.parse(example) == scheme.example
    if isinstance(scheme, schemes.TimeScheme):
        amount, unit = tick.split()
        nanoseconds = {"ns": 1, "ms": 1_000_000, "s": 1_000_000_000}[unit]
        assert float(amount) * nanoseconds == scheme.resolution_ns
        assert until == str(last_year(scheme))
    else:
        assert (tick, until) == ("-", "-")
