"""All that ``backfill_ids`` prints in each mode, and its exit codes.

In ``transcripts``, a line that begins with ``$`` is a command, the lines after it are what it
prints, and ``...`` stands for what varies. The plan of ``--primary-key`` is
in ``tests/primary_keys/test_command.py``.
"""

import importlib
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

from .own_project import ROWS, SETTINGS, Project

SILENT = 'SILENCED_SYSTEM_CHECKS = ["sortable_ids.W001"]\n'

PUBLIC_NAMES = {
    "fields": """UUIDv6Field UUIDv7Field CombV13UUIDField ULIDField HexULIDField KSUIDField
        KUUIDField XidField ObjectIDField PushIDField TimeflakeField SCRU128Field SnowflakeField
        SonyflakeField TSIDField Time64Field LexicalSequenceField SortableIDField UUIDv7AutoField
        ULIDAutoField SnowflakeAutoField Time64AutoField""",
    "ids": "public_id created_at resolve register_converters id_converter",
    "functions": "CreatedAt GenerateID histogram shortlex",
    "schemes": """get all_schemes register InvalidID NotTimeOrdered OutOfRange Layout TimeScheme
        UUIDTemplate UUIDText Numeration Integer""",
    "operations": """AddSortableID ConstrainSortableID SwapSortableID MigratePrimaryKey MovedKey
        KeyCopy""",
    "admin": "SortableIDAdmin CreatedAtFilter register_own_models inspect_id_view inspect_id_urls",
    "rest_framework": """PublicIDField SortableIDLookupMixin AcceptOldIDs
        SortableIDCursorPagination""",
    "filters": "CreatedAtRangeFilter",
    "forms": "PublicModelChoiceField PublicModelMultipleChoiceField",
    "pagination": "SortableIDPaginator keyset_page",
    "old_ids": "resolve_id resolve_ids RedirectOldIDs",
    "testing": "deterministic_ids IDClock integer_fixtures id_for_number",
    "workers": "take_lease",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("template"))
    made.create(settings=SETTINGS + SILENT, rows=ROWS)
    return made


def assert_printed(command, expected, printed, code):
    printed += f"exit code {code}\n" if code else ""
    is_expected = OutputChecker().check_output(expected.rstrip(), printed.rstrip(), ELLIPSIS)
    assert is_expected, f"$ {command}\n{printed}"


def steps(name):
    """The commands of a transcript, and what they print."""
    transcript = Path(__file__).with_name("transcripts") / f"{name}.txt"
    first, *found = f"\n{transcript.read_text()}".split("\n$ ")
    assert first == ""
    return [step.partition("\n")[::2] for step in found]


IN_ONE_PROCESS = """
import importlib
import io
import os
import shlex
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
for command in sys.argv[1:]:
    code, sys.stderr = 0, io.StringIO()
    importlib.invalidate_caches()
    try:
        execute_from_command_line(["manage.py", *shlex.split(command)])
    except SystemExit as end:
        code = end.code
    print(sys.stderr.getvalue(), end=f"\\0{code}\\0")
"""
"""Tells a process, which starts once, all commands; what is refused changes nothing."""


@pytest.mark.parametrize("name", ["text", "json", "refused"])
def test_the_command_prints(name, template, tmp_path):
    project = template.copy(tmp_path / "project")
    (project.folder / "manage.py").write_text(IN_ONE_PROCESS)
    commands = steps(name)
    printed = project.manage(*(command for command, _ in commands)).split("\0")
    for (command, expected), text, code in zip(commands, printed[::2], printed[1::2], strict=False):
        assert_printed(command, expected, text, int(code))
    assert len(printed) == 2 * len(commands) + 1


@pytest.mark.parametrize("module", PUBLIC_NAMES)
@pytest.mark.django_db
def test_public_names_can_be_imported(module):
    found = importlib.import_module(f"django_sortable_ids.{module}")
    assert [name for name in PUBLIC_NAMES[module].split() if not hasattr(found, name)] == []
