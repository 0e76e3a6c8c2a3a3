"""What the mixins for views and serializers have in common."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured


class Leftmost:
    # To the left of what it extends. A docstring would describe each view of a project in OpenAPI.
    def __init_subclass__(cls, **options: Any) -> None:
        """Raises ``ImproperlyConfigured`` where a class of Django or of REST framework hides it."""
        super().__init_subclass__(**options)
        order = cls.__mro__
        for place, mixin in enumerate(order):
            if Leftmost not in mixin.__bases__:
                continue
            extended = {name for name in vars(mixin) if not name.startswith("_")}
            for base in order[:place]:
                is_hidden = not extended.isdisjoint(vars(base))
                if is_hidden and base.__module__.partition(".")[0] in ("django", "rest_framework"):
                    raise ImproperlyConfigured(
                        f"{cls.__name__}: {mixin.__name__} stands to the right of {base.__name__}, "
                        f"where it has no effect: write it first in the parentheses"
                    )
