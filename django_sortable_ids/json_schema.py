"""The public texts of a field as JSON Schema, of which OpenAPI is a dialect."""

from typing import Any

from .fields import SortableIDField
from .schemes.encodings.text_forms import UUIDText

__all__ = ["schema_of"]


def schema_of(field: SortableIDField) -> dict[str, Any]:
    """Type, length, pattern, example and ``help_text`` of the ids that URLs and REST show.

    The type is always a string, also for numbers: JavaScript rounds those above 2 ** 53. The
    pattern is that of the text which is output; input also accepts other spellings.
    """
    text = field.public_text
    form, prefix = text.form, text.full_prefix
    schema: dict[str, Any] = {
        "type": "string",
        "minLength": len(prefix) + form.shortest,
        "maxLength": len(prefix) + form.length,
        "pattern": f"^{text.pattern}$",
        "example": text.example,
    }
    if form.pattern == UUIDText().pattern and not prefix:
        schema["format"] = "uuid"
    if field.help_text:
        schema["description"] = str(field.help_text)
    return schema
