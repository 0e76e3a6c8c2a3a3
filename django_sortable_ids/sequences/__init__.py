"""Counters in the database, from which processes take blocks."""
