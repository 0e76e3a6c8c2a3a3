"""An id outside of Python's values: as public text, in a column, and in a lookup."""
