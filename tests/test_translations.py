"""The translations in the package, as users get them: complete, and only of its own words.

The compiled catalogs are read without GNU gettext.
"""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize

from tests.admin.support import list_url
from tests.store.models import Order
from tests.translations import LANGUAGES, LOCALE, PACKAGE, catalog_of, translated_by_django

CONTEXT = "sortable ids"
BETWEEN = "\x04"
"""What is between a context and a string in a catalog."""
FEWEST_WORDS = 4
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|\{\w*\}")
LITERAL = r"u?(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
IN_TEMPLATES = re.compile(rf"\b(n?p?gettext|_)\(({LITERAL}(?:, {LITERAL})*)")

each_language = pytest.mark.parametrize("language", LANGUAGES)


def compiled(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES/django.mo"


def catalog(language: str) -> dict[str, list[str]]:
    """The translations of a language by their key: one, or all plural forms."""
    found = defaultdict(list)
    for key, text in sorted(catalog_of(compiled(language))._catalog.items(), key=str):
        if key:
            found[key if isinstance(key, str) else key[0]].append(text)
    return found


def keys_in_python(source: str) -> Iterator[str]:
    nodes = list(ast.walk(ast.parse(source)))
    functions = {
        each.asname or each.name: each.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for each in node.names
        if "gettext" in each.name
    }
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    for call in calls:
        if function := functions.get(ast.unparse(call.func)):
            strings = call.args[: 2 if "pgettext" in function else 1]
            yield BETWEEN.join(map(ast.literal_eval, strings))


def keys_in_template(source: str) -> Iterator[str]:
    for function, arguments in IN_TEMPLATES.findall(templatize(source)):
        strings = ast.literal_eval(f"({arguments},)")
        yield BETWEEN.join(strings[: 2 if "pgettext" in function else 1])


@cache
def keys_in_package() -> set[str]:
    found: set[str] = set()
    for each in PACKAGE.rglob("*.py"):
        found.update(keys_in_python(each.read_text(encoding="utf-8")))
    for each in PACKAGE.rglob("*.html"):
        found.update(keys_in_template(each.read_text(encoding="utf-8")))
    return found


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_][\w'-]*", PLACEHOLDER.sub(" ", text))


def test_short_strings_have_a_context():
    """Otherwise their translations would replace those of the same words in a user's project."""
    keys = keys_in_package() - translated_by_django()
    assert len(keys) > 100
    assert [each for each in keys if BETWEEN not in each and len(words(each)) < FEWEST_WORDS] == []
    assert {each.partition(BETWEEN)[0] for each in keys if BETWEEN in each} == {CONTEXT}


@each_language
def test_all_strings_are_translated_and_no_others(language):
    assert set(catalog(language)) == keys_in_package() - translated_by_django()


@each_language
def test_translations_have_the_placeholders_of_their_strings(language):
    for key, forms in catalog(language).items():
        needed = set(PLACEHOLDER.findall(key))
        for text in forms:
            found = set(PLACEHOLDER.findall(text))
            # "One second ago" needs no number.
            assert found == needed or (len(forms) > 1 and text != forms[-1] and found < needed), key
            assert text.strip(), key


@each_language
def test_git_and_the_wheel_have_the_compiled_catalog(language):
    assert compiled(language).exists()
    if not (PACKAGE.parent / ".git").exists():
        pytest.skip("a wheel was installed, and has it")
    command = ["git", "check-ignore", "--no-index", compiled(language)]
    assert subprocess.run(command, cwd=PACKAGE.parent, check=False).returncode == 1


def page_in(language: str) -> str:
    client = Client()
    client.force_login(User.objects.create(username="root", is_staff=True, is_superuser=True))
    with translation.override(language):
        return client.get(list_url(Order)).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["ar", "he"])
def test_the_admin_is_from_right_to_left(language):
    page = page_in(language)
    assert 'dir="rtl"' in page
    (text,) = catalog(language)["From one day to another"]
    assert f"<legend>{text}</legend>" in page
