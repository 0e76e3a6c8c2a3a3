"""The sources of creation times."""
