"""What an UPDATE of the id changes besides the id, found before anything is written."""

from ...errors import BackfillError
from ..engines import Engine
from ..target import Target


def check(target: Target, engine: Engine) -> tuple[str, ...]:
    """Warnings. Raise ``BackfillError``, which names each effect, unless the target allows them."""
    effects, warnings = list(engine.side_effects(target)), engine.side_effect_warnings(target)
    if effects and not target.allow_triggers:
        raise BackfillError(
            f"filling {target.label} changes more than its ids: {'; '.join(effects)}. Switch that "
            f"off while the ids are filled, or allow it, if it is meant for each row: "
            f"--allow-triggers, or allow_triggers=True of AddSortableID; nothing was written."
        )
    return (*(f"allowed, though no id: {each}" for each in effects), *warnings)
