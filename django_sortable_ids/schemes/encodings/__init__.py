"""The text encodings of ids."""
