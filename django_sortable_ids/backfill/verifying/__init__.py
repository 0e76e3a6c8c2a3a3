"""Checks the ids of a table without writing to it."""
