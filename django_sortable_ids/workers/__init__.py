"""Worker numbers that the database leases to processes."""

from .this_process import take_lease

__all__ = ["take_lease"]
