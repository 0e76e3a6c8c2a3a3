"""How a column stores creation times, and which times a scheme can hold."""
