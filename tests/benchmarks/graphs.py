"""Draws the graphs of docs/reasons/benchmarks.md from the tables of that page.

``python -m tests.benchmarks.graphs`` writes them again. Their colours have contrast on light and on
dark pages, because a picture doesn't know the theme.
"""

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reasons" / "benchmarks.md"
OURS, OTHERS, TEXT = "#3a86c8", "#8a8a8a", "#777777"
LABELS, BARS, ROW, GROUP = 220, 200, 22, 34
"""The widths of labels and of the longest bar, which a telephone has room for, and the heights of a
bar and of a title."""
DJANGOS = ("BigAutoField", "UUIDField(")


class Bar(NamedTuple):
    label: str
    value: float
    unit: str
    is_ours: bool = False


def tables(section: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The first table below each heading of the section: rows by the heads of its columns."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    for part in text.split("\n### ")[1:]:
        title, *lines = part.replace("`", "").splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith("|"))
        head, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in takewhile(lambda line: line.startswith("|"), lines[start:])
        )
        yield title.rpartition(": ")[2], [dict(zip(head, row, strict=True)) for row in rows]


def measured(text: str) -> float:
    return float(text.split()[0].replace(",", ""))


def inserts() -> Iterator[tuple[str, list[Bar]]]:
    for engine, rows in tables("Inserts"):
        times = {each["Key"]: measured(each["time"]) for each in rows}
        yield engine, [Bar(key, n, "s", not key.startswith(DJANGOS)) for key, n in times.items()]


def pages() -> Iterator[tuple[str, list[Bar]]]:
    for engine, rows in tables("Pages of large tables"):
        bars = []
        for row in rows:
            what = row["50 rows per page"].partition(":")[0].partition(", ")[0]
            bars.append(Bar(what, measured(row["here"]), "ms", is_ours=True))
            bars.append(Bar("by Django", measured(row["Django"]), "ms"))
        yield engine, bars


def backfill() -> Iterator[tuple[str, list[Bar]]]:
    for row in next(tables("Backfill"))[1]:
        time = measured(row["time"])
        update = Bar("one UPDATE of all rows", time / measured(row["to one UPDATE"]), "s")
        save = Bar("save() of each row", time * measured(row["save() to it"]), "s")
        yield row[""], [Bar("backfill_ids", time, "s", is_ours=True), update, save]


def drawn(groups: Iterator[tuple[str, list[Bar]]]) -> str:
    """The picture. Each group has a scale of its own."""
    y, parts = 0, []
    for title, bars in groups:
        y += GROUP
        parts.append(f'<text x="0" y="{y - 8}" font-weight="600">{title}</text>')
        most = max(bar.value for bar in bars)
        for label, value, unit, is_ours in bars:
            width, color = max(value / most * BARS, 1.5), OURS if is_ours else OTHERS
            number = f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
            parts += [
                f'<text x="{LABELS - 8}" y="{y + 15}" text-anchor="end">{label}</text>',
                f'<rect x="{LABELS}" y="{y + 3}" width="{width:.1f}" height="16" fill="{color}"/>',
                f'<text x="{LABELS + width + 6:.1f}" y="{y + 15}">{number} {unit}</text>',
            ]
            y += ROW
    width = LABELS + BARS + 75
    size = f'width="{width}" viewBox="0 0 {width} {y + 6}"'
    font = f'font-family="system-ui, sans-serif" font-size="14" fill="{TEXT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    return "\n".join([head, *parts, "</svg>\n"])


GRAPHS = {"inserts": inserts, "pages": pages, "backfill": backfill}


if __name__ == "__main__":
    for name, groups in GRAPHS.items():
        (DOCS / f"graph-{name}.svg").write_text(drawn(groups()))
