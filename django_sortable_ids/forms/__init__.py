"""Form fields that choose among objects, with public texts as values.

In every ``ModelForm``, a ``ForeignKey`` or ``ManyToManyField`` to a masked id uses these fields.
Elsewhere, declare them instead of Django's.
"""

from .choices import PublicModelChoiceField, PublicModelMultipleChoiceField

__all__ = ["PublicModelChoiceField", "PublicModelMultipleChoiceField"]
