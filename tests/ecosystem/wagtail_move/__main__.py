"""Creates the site in a temporary folder, and runs the steps of a project that moves its keys."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs" / "reference" / "other-packages.md"
OLD = "id = models.BigAutoField(primary_key=True)"
NEW = "id = UUIDv7AutoField(primary_key=True)"
CHOSEN = 'id = ULIDAutoField(primary_key=True, storage="char")'
"""A key that blocks choose, and that GenericRelation joins with a column of texts."""
OLD_ID = "old_id = models.BigIntegerField(null=True, unique=True, editable=False)"
FORWARDS, BACKWARDS = "{old: str(new) for", "{str(new): old for"
LEFT = (
    "wagtailadmin_formstate.parent_object_id",
    "blog_article.body",
    "wagtailcore_revision.content",
)
SQLITE = not os.environ.get("DATABASE_URL")
TRIGGERS = ["--allow=*wagtailsearch_indexentry_fts"] if SQLITE else []
MOVE = ("backfill_ids", "blog", "people", "--primary-key", *TRIGGERS)


class Site:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(HERE / "site", folder, dirs_exist_ok=True)
        models = [folder / app / "models.py" for app in ("blog", "people")]
        self.before = {path: path.read_text() for path in models}

    def run(self, code: str) -> str:
        """What code prints."""
        return self._python("-c", f"import django; django.setup(); {code}")

    def manage(self, *arguments: str) -> str:
        """What a command prints."""
        return self._python("-m", "django", *arguments)

    def _python(self, *arguments: str) -> str:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "settings",
            "KEY_MOVES_DATABASE": str(self.folder / "db") if SQLITE else "sortable_ids_wagtail",
            "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
        }
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def edit(self) -> None:
        """Write the models with their new keys."""
        for path, text in self.before.items():
            head, is_there, of_person = text.partition("class Person(")
            of_person = of_person.replace(OLD, f"{CHOSEN}\n    {OLD_ID}", 1)
            moved = f"{head}{is_there}{of_person}".replace(OLD, f"{NEW}\n    {OLD_ID}")
            path.write_text(moved)

    def translate(self, script: str) -> None:
        """Run the script of the documentation."""
        (self.folder / "translate.py").write_text(script)
        self.run("import translate")

    def undo(self) -> None:
        """Move back, and write the models with their old keys."""
        (move,) = self.folder.glob("blog/migrations/*_move_key_*.py")
        number = int(move.name[:4])
        self.manage("migrate", "blog", f"{number - 1:04}", "-v0")
        move.unlink()
        for path, text in self.before.items():
            path.write_text(text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder))
        site.run("from tests.key_moves import database; database.create_empty()")
        site.manage("makemigrations", "blog", "people", "-v0")
        site.manage("migrate", "-v0")
        site.run("import content")
        expected = site.run("import flows")
        print(f"before: {expected}")

        site.edit()
        leave = [f"--leave={each}" for each in LEFT]
        asked = site.manage(*MOVE)
        if missing := [each for each in LEFT if each not in asked]:
            raise SystemExit(f"the plan doesn't ask about {missing}:\n{asked}")
        site.manage(*MOVE, *leave, "--write-migration")
        site.manage("migrate", "-v0")
        site.manage("makemigrations", "--check")
        (script,) = re.findall(r"```python\n# translate.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
        site.translate(script)
        moved = site.run("import flows")
        print(f"moved:  {moved}")

        assert FORWARDS in script
        site.translate(script.replace(FORWARDS, BACKWARDS))
        site.undo()
        site.manage("makemigrations", "--check")
        back = site.run("import flows")
        print(f"back:   {back}")
    if not moved == back == expected:
        raise SystemExit("FAILED")


if __name__ == "__main__":
    main()
