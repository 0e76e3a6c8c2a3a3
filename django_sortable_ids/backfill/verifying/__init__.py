"""Reads what is there, and says whether it is right."""
