"""What is no id: texts for each field, and values of Python."""

import uuid
from typing import Any

from django_sortable_ids.fields import SortableIDField

WRONG_TYPES = (
    *(0, 1, -1, 2**63, 10**30, 1.5, 1e300, True, False),
    *([], [[]], [None], {}, {"id": "x"}, [1, "x"], {"": {}}),
    *({"a": "\ud800"}, ["\ud800"]),
)
"""Values of JSON other than text and null."""


def example_of(field: SortableIDField) -> str:
    """The id that messages show."""
    return field.public_text.format(field.scheme.example)


def malformed(field: SortableIDField) -> list[str]:
    """Texts that are no public text of the field; none of them is empty."""
    right = example_of(field)
    bare = str(field.scheme.example)
    lead = field.public_text.full_prefix
    texts = [
        *("x", "None", "null", "-1", "+1", "1.5", "1e5", "0x10", "1_0", "é", "१२३", "🦄"),
        *("%", "%s%d"),
        *("'; DROP TABLE store_order; --", "<script>alert(1)</script>", "../../admin", "\\", '"'),
        *("\x00", "\n", " ", "\u2028", "{}", "[]", "x" * 10_000, "1" * 5_000, "🦄" * 1_000),
        *("\ud83d", "prod_\udfff", "\ud800" * 5, "\uff10" * 26, "\u017f" * 32),
        *(f"{right}\n", f"\n{right}", f" {right}", f"{right} ", f"{right}\x00", f"{right}x"),
        *(f"{right}{right}", f"other_{right}", f"_{right}", f":{right}", f"{right},{right}"),
        *(f"0{right}", f"wrong_{bare}", f"wrong:{bare}", f"prod_{bare}x", f"ord_{bare}x"),
        f"१{right[1:]}",
    ]
    if right != bare:
        texts.append(bare)
    if lead:
        texts += [right.upper(), right.replace(lead, f"{lead}x")]
    if (field.scheme.name, field.public_text.encoding) != ("snowflake", None):
        # Decimal snowflakes have any number of digits.
        texts.append(right[:-1])
    return texts


def malformed_values(field: SortableIDField) -> list[Any]:
    """What Python code may give: texts, and what has the type of an id, or could be one."""
    texts = ["", *malformed(field)]
    bare = str(field.scheme.example)
    values: list[Any] = [text for text in texts if text != bare]  # which is an id in Python
    if field.value_type is uuid.UUID:
        values += OTHER_VERSIONS
    return values if field.value_type is str else [*values, *NO_64_BITS]


OTHER_VERSIONS = [uuid.UUID(int=0), uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")]
NO_64_BITS = [-1, 2**64, 2**127, 10**1000, 10**5000]
