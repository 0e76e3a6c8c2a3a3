"""The messages of the package, read from its source: docs/reference/errors.md lists all.

``python -m tests.documented_messages`` writes the lists of that page again.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from django_sortable_ids import checks
from django_sortable_ids.fields import options

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "django_sortable_ids"
PAGE = ROOT / "docs" / "reference" / "errors.md"

ERRORS = {
    *("BackfillError", "CommandError", "WrongArguments", "NotMigrated", "NotEdited", "Stopped"),
    *("ImproperlyConfigured", "NotSupportedError", "FieldError"),
    *("TypeError", "ValueError", "FieldDoesNotExist", "OutOfRange", "NotTimeOrdered"),
    *("LeaseUnavailable", "LeaseLost", "ClockRollback", "SequenceExhausted", "WrongOption"),
}
"""Classes whose argument a person reads in a terminal or a log."""
LISTS = (
    *("problems", "_problems", "refusals", "rehearse"),
    *("_not_stored", "_refusals"),
)
"""The first words of functions that yield such texts."""

SECTIONS = {
    "arguments": (
        *("management/arguments", "management/modes", "management/request", "management/commands"),
        *("backfill/sources/find", "backfill/sources/periods"),
    ),
    "backfill": ("backfill/", "db/", "functions/time_columns", "management/reporting", "errors"),
    "migrate": ("migrating/", "operations", "schema/"),
    "moves": ("primary_keys/",),
    "options": ("fields/", "schemes/scheme"),
    "runtime": ("",),
}
"""The lists of the page, and the modules whose messages they have; the first that fits counts."""

FOUND = {
    "E002": "A `GenericRelation` joins a key with an `object_id` of another type or size, so a "
    "join finds no rows, or wrong ones. On MySQL and MariaDB, `check --database` tells.",
    "E003": "The setting `SORTABLE_IDS` is invalid: the message names the key.",
    "E017": "The `created_at_hierarchy` or a `CreatedAtFilter` of an admin can't show creation "
    "times: it is of no id with a time; or the hierarchy leads from a row to several, has a "
    "misspelled name, or is not of a `SortableIDAdmin`.",
    "E019": "The table of a `ManyToManyField` was created with another kind of key than its app "
    "has now ([`DEFAULT_AUTO_FIELD`](fields.md#keys-like-autofields)): rows can't be inserted, or "
    "are lost.",
    "E020": "A view with `SortableIDLookupMixin` looks up rows by a key that is no sortable id.",
    "W009": "A [move of keys](../tutorials/primary-key.md) or a [swap](operations.md) was killed "
    "before it was recorded: the database differs from the recorded migrations.",
    options.SCHEME: "The options of the scheme are wrong: see [below](#options-of-fields).",
    options.PUBLIC_TEXT: "`prefix`, `separator`, `encoding`, `masked` or `accept_other_versions` "
    "is wrong.",
    options.COLUMN: "`storage`, `max_length` or `db_collation` is wrong.",
    options.DEFAULT: "The field has a `default`, or a `db_default` that generates other ids.",
    options.CREATED_FROM: "`created_from` names no time of the model, or its ids have none.",
}
"""What a check finds whose message consists of parts."""
CURES = {
    "E002": "The message names the field to change, or the storage of the key that fits.",
    "E009": "The message names the command. To read UUIDs of other versions, set "
    "`accept_other_versions=True`.",
    "E011": "Add a key to the settings, `SORTABLE_IDS = {'MASK_KEYS': [...]}`. The message has the "
    "command that generates one. Keep the keys secret: whoever has one reads the times.",
    "E017": "Name the path of a sortable id with a time; a hierarchy is in a `SortableIDAdmin`.",
    "E018": 'Add `"django_sortable_ids"` to `INSTALLED_APPS`.',
    "E020": "Set its `lookup_field`, as the message says. Until then, the URL of each object is an "
    "error.",
    "E019": "Set the `default_auto_field` of the app as it was.",
    "W001": "Set `unique=True`, or name the field in a constraint. If rows have no id yet, "
    "[backfill](../tutorials/existing-table.md) them first: until then, this is to be expected.",
    "W009": "Run `migrate` as the message says. Until then, stop the application.",
    "W011": "See the [schemes and their epochs](../tutorials/other-packages.md#adopt-a-column).",
}
"""What to do, where the hint consists of parts."""


class Message(NamedTuple):
    module: str
    text: str


_WHOSE = ast.Constant("… ")


def _then(advice: ast.expr) -> ast.expr:
    return ast.BinOp(ast.Constant(". "), ast.Add(), advice)


class _Reader(ast.NodeVisitor):
    """Finds the messages of a module."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        self.module = module
        self.found: list[Message] = []
        self.known = _assigned(tree.body)
        self.functions: list[str] = []
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self.known = self.known, self.known | _assigned(ast.walk(node))
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()
        self.known = before

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func).rpartition(".")[2]
        # An engine tells the backfill so that Python has to do it.
        is_internal = name == "NotSupportedError" and self.module.startswith("backfill/")
        if name in ERRORS and node.args and not is_internal:
            self._add(node.args[-1] if name == "WrongOption" else node.args[0])
        if name == "_refuse" and len(node.args) == 4:
            what, advice = node.args[2:]
            self._add(ast.BinOp(_WHOSE, ast.Add(), ast.BinOp(what, ast.Add(), _then(advice))))
        if name == "_altered":
            self._add(node.args[-1])
        if name == "stopped":
            self._add(ast.BinOp(ast.Constant("stopped at …: "), ast.Add(), node.args[-1]))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and self.functions[-1:] in (["_edits"], ["needed_lookup"], ["_altered"]):
            self._add(node.value)
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        lists = any(name.lstrip("_").endswith("problems") for name in self.functions)
        if node.value and (lists or self.functions[-1].startswith(LISTS)):
            self._add(node.value)
        self.generic_visit(node)

    def _add(self, node: ast.expr) -> None:
        for text in self._texts(node):
            text = re.sub(r"\{\w*\}", "…", " ".join(text.split())).strip()
            text = re.sub(r"…(?:_*…)+", "…", text)
            if len(re.findall(r"[A-Za-z]{2,}", text)) >= 4:
                self.found.append(Message(self.module, text))

    def _texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """What the expression may be, with an ellipsis for what only a run knows."""
        if depth > 4:
            return ["…"]
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                parts = [self._texts(each, depth) for each in values]
                return ["".join(each) for each in product(*parts)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                pairs = product(self._texts(left, depth), self._texts(right, depth))
                return ["".join(each) for each in pairs]
            case ast.IfExp(body=first, orelse=second):
                return [*self._texts(first, depth), *self._texts(second, depth)]
            case ast.FormattedValue(
                value=ast.Call(func=ast.Name("counted"), args=[_, ast.Constant(value=str(noun))])
            ):
                return [f"… {noun}s"]
            case ast.FormattedValue(value=ast.Name(id=name)) | ast.Name(id=name):
                texts = [
                    text
                    for value in self.known.get(name, ())
                    if isinstance(value, ast.Constant | ast.JoinedStr | ast.BinOp | ast.IfExp)
                    for text in self._texts(value, depth + 1)
                ]
                return texts if texts and len(texts) <= 4 else ["…"]
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                return self._texts(text, depth + 1)
        return ["…"]


def _assigned(nodes: object) -> dict[str, list[ast.expr]]:
    found = defaultdict(list)
    for node in nodes:  # type: ignore[attr-defined]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id].append(node.value)
    return dict(found)


def found() -> Iterator[Message]:
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        yield from _Reader(module, ast.parse(path.read_text())).found


def lists() -> dict[str, list[str]]:
    """The lines of each list of the page."""
    texts: dict[str, set[str]] = {name: set() for name in SECTIONS}
    for message in found():
        section = next(
            name for name, starts in SECTIONS.items() if message.module.startswith(starts)
        )
        texts[section].add(message.text)
    shown = {
        name: [f"- {_code(each)}" for each in sorted(of, key=_sorted_by)]
        for name, of in texts.items()
    }
    return {"checks": [*_checks()], **shown}


def _sorted_by(text: str) -> tuple[str, str]:
    return re.sub(r"[^a-z ]", "", text.lower()).strip(), text


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _checks() -> Iterator[str]:
    numbers = {*checks.TEXTS, *options._HINTS}
    for number in sorted(numbers):
        found, hint = checks.TEXTS.get(number, ("", options._HINTS.get(number, "")))
        text = f"{options._NEEDS_APP.format('…')}." if number == "E018" else found
        found = FOUND.get(number) or _plain(text)
        cure = CURES.get(number) or _plain(hint)
        yield f'| <span id="{number.lower()}"></span>`{number}` | {found} | {cure} |'


def _plain(text: str) -> str:
    """As Markdown shows it literally."""
    text = re.sub(r"\{[\w!:,]*\}", "…", text).replace("{{", "{").replace("}}", "}")
    return re.sub(r"([][<>*|])", r"\\\1", text)


def page(text: str) -> str:
    """The page with its lists as they are now."""
    for name, lines in lists().items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        head = "".join(rest.splitlines(keepends=True)[:2]) if name == "checks" else ""
        after = rest.partition(end)[2]
        text = f"{before}{start}{head}" + "".join(f"{each}\n" for each in lines) + f"{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
