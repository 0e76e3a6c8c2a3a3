"""What the schemes raise."""


class InvalidID(ValueError):
    """The input is not an id of the scheme: wrong text, wrong bits or wrong type."""


class OutOfRange(ValueError):
    """The time does not fit the scheme, or the id's time does not fit a ``datetime``."""


class NotTimeOrdered(TypeError):
    """The scheme's ids carry no time: they are a sequence."""


class ClockRollback(RuntimeError):
    """The clock went back further than allowed, and ids are refused until it has caught up."""


class SequenceExhausted(RuntimeError):
    """Every id of a sequence with a fixed width has been given out."""


class LeaseUnavailable(RuntimeError):
    """No worker number can be leased, or the lease be extended, for now."""


class LeaseLost(RuntimeError):
    """The process's worker number is no longer its own: it makes no more ids with it."""
