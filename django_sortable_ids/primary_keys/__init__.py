"""Replaces primary keys, with everything that refers to them."""
