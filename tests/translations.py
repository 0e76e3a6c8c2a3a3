"""Updates and compiles the translations: ``python -m tests.translations [language ...]``.

With ``--check`` it changes nothing, and fails if a string is not translated, is fuzzy or is no
longer used, or if a compiled file is not that of its source. It needs GNU gettext.

Strings without a context that Django translates itself are left out. The translations of an
application come before those of Django, in the whole project.
"""

import argparse
import ast
import filecmp
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from gettext import GNUTranslations
from pathlib import Path

import django

import django_sortable_ids

PACKAGE = Path(django_sortable_ids.__file__).parent
LOCALE = PACKAGE / "locale"
LANGUAGES = ["ar", "de", "es", "fr", "he", "ja", "pt_BR", "zh_Hans"]
DJANGOS = ["conf", "contrib/admin"]
MOST_SHOWN = 20
EMPTY_OR_DATED = ('"POT-Creation-Date', '"Report-Msgid-Bugs-To')
"""Lines of a header that say nothing, or change with each run."""


def catalog_of(compiled: Path) -> GNUTranslations:
    with compiled.open("rb") as file:
        return GNUTranslations(file)


def djangos_own(language: str) -> list[GNUTranslations]:
    root = Path(django.__file__).parent
    return [
        catalog_of(root / each / f"locale/{language}/LC_MESSAGES/django.mo") for each in DJANGOS
    ]


@cache
def translated_by_django() -> set[str]:
    """In every one of the languages."""
    found = []
    for language in LANGUAGES:
        keys: set[str] = set()
        for each in djangos_own(language):
            catalog = each._catalog  # type: ignore[attr-defined]
            keys |= {key if isinstance(key, str) else key[0] for key in catalog}
        found.append(keys)
    return set.intersection(*found) - {""}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout


def template(folder: Path) -> Path:
    """All strings of the package that Django doesn't translate, in a file of gettext."""
    package = folder / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("locale", "__pycache__"))
    (package / "locale").mkdir()
    makemessages = ["-m", "django", "makemessages", "--keep-pot", "--no-location", "-l", "xx"]
    run(sys.executable, "-I", *makemessages, cwd=package)
    pot = package / "locale/django.pot"
    entries = run("msgcat", "--no-wrap", pot).strip().split("\n\n")
    needed = [each for each in entries if not is_translated_by_django(each)]
    pot.write_text("\n\n".join(needed) + "\n", encoding="utf-8")
    return pot


def is_translated_by_django(entry: str) -> bool:
    has_context = re.search("^msgctxt ", entry, re.MULTILINE)
    return not has_context and message_of(entry) in translated_by_django()


def message_of(entry: str) -> str:
    """The string of an entry in a file of gettext, without its context."""
    _, _, after = entry.partition("msgid ")
    before, *_ = re.split("^msg", after, maxsplit=1, flags=re.MULTILINE)
    return "".join(map(ast.literal_eval, before.split("\n")[:-1]))


def updated(source: Path, pot: Path, language: str) -> str:
    """The text of a source with all strings that are needed, and no others."""
    if not source.exists():
        plurals = djangos_own(language)[0].info()["plural-forms"]
        header = {"Content-Type": "text/plain; charset=UTF-8", "Language": language}
        header["Plural-Forms"] = plurals
        text = "".join(f'"{name}: {value}\\n"\n' for name, value in header.items())
        source = pot.with_name(f"{language}.new.po")
        source.write_text(f'msgid ""\nmsgstr ""\n{text}', encoding="utf-8")
    options = ["--quiet", "--no-wrap", "--no-fuzzy-matching", "--sort-output"]
    merged = pot.with_name(f"{language}.po")
    run("msgmerge", *options, "-o", merged, source, pot)
    text = run("msgattrib", "--no-obsolete", "--no-wrap", merged)
    lines = [each for each in text.splitlines() if not each.startswith(EMPTY_OR_DATED)]
    return "\n".join(lines) + "\n"


def problems(language: str, pot: Path) -> list[str]:
    folder = LOCALE / language / "LC_MESSAGES"
    source, compiled = folder / "django.po", folder / "django.mo"
    if not source.exists() or source.read_text(encoding="utf-8") != updated(source, pot, language):
        return [f"{source} lacks strings, or has others: run python -m tests.translations"]
    found = []
    for what, option in (("untranslated", "--untranslated"), ("fuzzy", "--only-fuzzy")):
        if text := run("msgattrib", option, "--no-obsolete", source).strip():
            _header, *entries = text.split("\n\n")
            found.append(f"{source}: {len(entries)} {what}")
            found += [f"  {message_of(each)}" for each in entries[:MOST_SHOWN]]
    again = pot.with_name("again.mo")
    run("msgfmt", "--check-format", "-o", again, source)
    if not compiled.exists() or not filecmp.cmp(again, compiled, shallow=False):
        found.append(f"{compiled} is not that of its source: run python -m tests.translations")
    return found


def write(language: str, pot: Path) -> None:
    source = LOCALE / language / "LC_MESSAGES/django.po"
    text = updated(source, pot, language)
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text, encoding="utf-8")
    run("msgfmt", "--check-format", "-o", source.with_suffix(".mo"), source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("languages", nargs="*", metavar="language", help="all, unless given")
    arguments = parser.parse_args()
    languages = arguments.languages or LANGUAGES
    if unknown := set(languages) - set(LANGUAGES):
        parser.error(f"no such language: {', '.join(unknown)}; there are {', '.join(LANGUAGES)}")
    with tempfile.TemporaryDirectory() as folder:
        pot = template(Path(folder))
        if not arguments.check:
            for language in languages:
                write(language, pot)
            return
        found = [each for language in languages for each in problems(language, pot)]
        if found:
            sys.exit("\n".join(found))
        print(f"{', '.join(languages)}: all strings are translated")


if __name__ == "__main__":
    main()
