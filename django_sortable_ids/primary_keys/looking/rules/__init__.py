"""Which expressions of Python, and which texts in it, have to do with keys that move."""
